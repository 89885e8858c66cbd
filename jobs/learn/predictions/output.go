package predictions

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// distanceCells is how many distances a part has, at which the next one begins. A worker keeps them as columns and
// encoded.
const distanceCells = 1 << 19

// output writes the rows of a leaf: as one part, or of distances to many clusters as several.
type output struct {
	*rows
	begin   func() *rows
	leaf    jobs.Leaf
	most    int // records of a part; 0 for no bound
	records int // in the rows
	written parts.List
	number  int // of the next part
}

func (p Phase) newOutput(answers jobs.Answers, leaf jobs.Leaf) *output {
	begin := func() *rows { return newRows(answers, p.Params, p.Named) }
	o := &output{rows: begin(), begin: begin, leaf: leaf}
	if p.Distances {
		o.most = max(1, distanceCells/max(1, len(answers.Scores)))
	}
	return o
}

// add takes in the outcomes of a block.
func (o *output) add(ctx context.Context, block *dataset.Block, outcomes []jobs.Outcome) error {
	o.rows.add(block, outcomes)
	if o.records += len(outcomes); o.most == 0 || o.records < o.most {
		return nil
	}
	return o.flush(ctx)
}

// flush writes the rows as a part.
func (o *output) flush(ctx context.Context) error {
	list, err := parts.WriteNext(ctx, o.leaf.Emit, Folder, o.leaf.Index, o.number, o.params.Format, o.table())
	o.written = append(o.written, list...)
	o.rows, o.records = o.begin(), 0
	o.number++
	return err
}

// end writes what is left; a leaf without records has a part without rows.
func (o *output) end(ctx context.Context) (parts.List, error) {
	if o.records > 0 || o.number == 0 {
		if err := o.flush(ctx); err != nil {
			return nil, err
		}
	}
	return o.written, nil
}
