package perceptron

import (
	"context"
	"fmt"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/kernelops/philox"
)

// batchRecords is how many records are handed on at once. Results do not depend on it.
const batchRecords = 256

// way goes through training records and hands them to a visitor. It keeps memory from one block to the next.
type way struct {
	reader *features.Reader
	train  jobs.Choice
	to     visitor
}

// newWay visits the records of blocks, or of a shard, in the order of an epoch; below 0, as they are read. The first
// epoch looks at all values: later ones, and those below 0 come later, read the same.
func (j job) newWay(space *features.Space, epoch int64, visit func([]Record) error) *way {
	w := &way{space.NewReader(), j.Train(), &inOrder{visit: visit}}
	if epoch != 0 {
		w.reader.Trust()
	}
	if epoch >= 0 && j.Params.Shuffle {
		w.to = newDrawn(philox.New(j.Seed, fmt.Sprintf("perceptron/records/%d", epoch)), visit)
	}
	return w
}

// over goes through one block, or shard.
func (w *way) over(ctx context.Context, parts iter.Seq2[jobs.Part, error]) error {
	for part, err := range parts {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		v, err := w.reader.Read(part.Block, w.train)
		if err == nil {
			err = checkClasses(v, part.Block)
		}
		if err == nil {
			err = w.to.add(v, part.First)
		}
		if err != nil {
			return err
		}
	}
	return w.to.end()
}

// visitor takes the vectors of a part, whose first record has an ordinal.
type visitor interface {
	add(v features.Vectors, first int64) error
	end() error
}

// inOrder passes records on as they come.
type inOrder struct {
	visit func([]Record) error
	batch [batchRecords]Record
}

func (o *inOrder) add(v features.Vectors, first int64) error {
	for begin := 0; begin < v.Rows; begin += batchRecords {
		n := min(batchRecords, v.Rows-begin)
		for i := range n {
			o.batch[i] = recordOf(v, begin+i, first)
		}
		if err := o.visit(o.batch[:n]); err != nil {
			return err
		}
	}
	return nil
}

func (o *inOrder) end() error { return nil }

// drawn passes records on in the order of their draws. Vectors that do not last are copied.
type drawn struct {
	window *shuffle.Window[Record]
	values shuffle.Store[float32]
	index  shuffle.Store[int32]
}

func newDrawn(key philox.Key, visit func([]Record) error) *drawn {
	return &drawn{window: shuffle.New(key, batchRecords, visit)}
}

func (d *drawn) add(v features.Vectors, first int64) error {
	for i := range v.Rows {
		r := recordOf(v, i, first)
		if !v.Lasting {
			r.Values = d.values.Copy(r.Values)
			if r.Index != nil {
				r.Index = d.index.Copy(r.Index)
			}
		}
		full, err := d.window.Add(v.IDs[i], r.ordinal, len(r.Values), r)
		if err != nil {
			return err
		}
		if full {
			d.empty()
		}
	}
	return nil
}

func (d *drawn) end() error {
	defer d.empty()
	return d.window.Flush()
}

func (d *drawn) empty() {
	d.values.Empty()
	d.index.Empty()
}

// recordOf is vector i of a part whose first record has an ordinal.
func recordOf(v features.Vectors, i int, first int64) Record {
	r := Record{Class: v.Class[i], Weight: 1, ordinal: first + int64(v.Records[i])}
	if v.Weights != nil {
		r.Weight = v.Weights[i]
	}
	if v.Sparse.Width > 0 {
		r.Index, r.Values = v.Sparse.Row(i)
	} else {
		r.Values = v.Dense.Row(i)
	}
	return r
}

// checkClasses refuses a label that the model does not know, which only a job that goes on with one meets.
func checkClasses(v features.Vectors, block *dataset.Block) error {
	for i, class := range v.Class {
		if class >= 0 {
			continue
		}
		what := "the record has no label to learn from"
		if block.Labels != nil {
			what = fmt.Sprintf("the label %.100q is not one of the model's", block.Labels[v.Records[i]])
		}
		return v.IDs[i].Fault("%s", what).
			WithHint("A model goes on learning the classes that it has; train a new one for others.")
	}
	return nil
}
