package features

import (
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// form is the kind of records that a data set has.
type form int32

const (
	unknown form = iota // there are no records
	dense
	sparse
	texts
)

func (f form) String() string {
	return [...]string{"of no form", "dense vectors", "sparse vectors", "texts"}[f]
}

// shape is what all records of a data set share.
type shape struct {
	form  form
	width int // of vectors; 0 for texts
}

func (s shape) String() string {
	if s.width > 0 {
		return fmt.Sprintf("%s of width %d", s.form, s.width)
	}
	return s.form.String()
}

func shapeOf(block *dataset.Block) shape {
	switch {
	case len(block.IDs) == 0:
		return shape{}
	case block.Dense.Width > 0:
		return shape{dense, block.Dense.Width}
	case block.Sparse.Width > 0:
		return shape{sparse, block.Sparse.Width}
	case block.Texts != nil:
		return shape{form: texts}
	}
	return shape{}
}

// shapeFault reports that the record id has another shape than the records before it or
// than the model.
func shapeFault(id dataset.Identity, got, want shape) error {
	return id.Fault("the records are %v, not %v", got, want).
		WithHint("All records of a job, and those that its model predicts, have one width.")
}

// valueFault reports a value that is not a finite number.
func valueFault(id dataset.Identity, column int, what string) error {
	return id.Fault("value %d of the vector %s", column+1, what)
}

// Unseen returns the fault of a training record whose label is not in the space.
func Unseen(id dataset.Identity) error {
	return protocol.TaskFault(protocol.CodeCorrupt, "a training record has a label that phase %q did not see", Name).
		In(id.Object).WithOffset(id.Offset)
}
