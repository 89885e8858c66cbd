package estimate

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
)

// Width is what the columns spec.input.categorical add to the width of vectors.
type Width struct {
	Categorical int   `json:"categorical"`   // columns of the records
	Columns     int64 `json:"columns"`       // that they add; 0 is not known until the records are read
	AtLeast     int64 `json:"columns_least"` // one for each
	AtMost      int64 `json:"columns_most"`  // by categories.bits or max, and the bound of dense vectors
	Dense       bool  `json:"dense"`         // else vectors are sparse
	BlockBytes  int64 `json:"block_bytes"`   // of these columns in a block of dense vectors, at most; 0 is not known
}

// blockRecords is how many dense vectors a block has at most.
const blockRecords = 4096

// widthOf is nil for a job without categories. Kinds have the section categories in their section features, or beside
// it.
func widthOf(spec protocol.Spec) *Width {
	n := len(spec.Input.Categorical)
	if n == 0 {
		return nil
	}
	c := features.DefaultCategories()
	var given struct {
		Categories *features.Categories
		Features   struct{ Categories *features.Categories }
	}
	if json.Unmarshal(spec.Params, &given) != nil {
		return nil // the kind has read them: it has no such sections
	}
	for _, section := range []*features.Categories{given.Categories, given.Features.Categories} {
		if section != nil {
			c = *section
		}
	}
	w := &Width{Categorical: n, AtLeast: int64(n), AtMost: int64(n) * int64(c.Max), Dense: !c.Sparse}
	if c.Bits > 0 {
		w.Columns = int64(n) << c.Bits
		w.AtLeast, w.AtMost = w.Columns, w.Columns
	}
	if w.Dense {
		w.AtMost = min(w.AtMost, features.MaxDenseColumns)
		w.BlockBytes = 4 * blockRecords * w.Columns
	}
	return w
}

// text tells of the width.
func (w *Width) text(size func(int64) string) string {
	of := protocol.Counted(int64(w.Categorical), "categorical column")
	if w.Columns == 0 {
		return fmt.Sprintf("unknown until read: %s, of %d to %d columns in all, one for each category", of, w.AtLeast,
			w.AtMost)
	}
	text := fmt.Sprintf("%s: %s, by hash", of, protocol.Counted(w.Columns, "column"))
	if w.Dense {
		return text + fmt.Sprintf("; they take up to %s of a block of %d records", size(w.BlockBytes), blockRecords)
	}
	return text + "; sparse vectors have one entry of each categorical column"
}
