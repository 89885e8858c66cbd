package perceptron

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// windowNumbers bounds what is kept to be shuffled: 16 MiB of dense values, 32 MiB of sparse ones and their
// columns. A record counts as eight numbers more than it has.
const windowNumbers = 4 << 20

// record is a training record to learn from.
type record struct {
	x      Row
	class  int
	weight float32
	number int64 // in its shard, test records left out
}

// records hands the training records of a shard to visit, in the order of an epoch; below 0, as
// they are read.
func (j job) records(ctx context.Context, space *features.Space, blocks iter.Seq2[*dataset.Block, error], epoch int64, visit func(record) error) error {
	reader, train, number := space.NewReader(), j.train(), int64(0)
	w := newWindow(j.seed, epoch, space.Sparse)
	for block, err := range blocks {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		v, err := reader.Read(block, train)
		if err != nil {
			return err
		}
		if err := checkClasses(v, block); err != nil {
			return err
		}
		for i := range v.Rows {
			r := recordOf(v, i, number)
			number++
			if epoch >= 0 && j.params.Shuffle {
				err = w.add(r, v.IDs[i], visit)
			} else {
				err = visit(r)
			}
			if err != nil {
				return err
			}
		}
	}
	return w.flush(visit)
}

func recordOf(v features.Vectors, i int, number int64) record {
	r := record{class: int(v.Class[i]), weight: 1, number: number}
	if v.Weights != nil {
		r.weight = v.Weights[i]
	}
	if v.Sparse.Width > 0 {
		r.x.Index, r.x.Values = v.Sparse.Row(i)
	} else {
		r.x.Values = v.Dense.Row(i)
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
			what = fmt.Sprintf("the label %.100q is none of the model's", block.Labels[v.Records[i]])
		}
		return &protocol.Fault{Code: protocol.CodeBadRecord, Class: protocol.ClassInput, Object: v.IDs[i].Object, Offset: v.IDs[i].Offset,
			What: what, Hint: "A model goes on learning the classes that it has; train a new one for others."}
	}
	return nil
}

// window keeps records until they are shuffled.
type window struct {
	key     philox.Key
	object  philox.Object
	name    string
	sparse  bool
	values  []float32
	indices []int32
	kept    []kept
	draws   []draw
}

// kept is a record whose values end where those of the next begin.
type kept struct {
	end, class int
	weight     float32
	number     int64
}

// draw is the place in the order of the record at an index of those kept.
type draw struct {
	draw  uint64
	index int
}

func newWindow(seed uint64, epoch int64, sparse bool) *window {
	key := philox.New(seed, fmt.Sprintf("perceptron/records/%d", epoch))
	return &window{key: key, object: key.Object(""), sparse: sparse}
}

func (w *window) add(r record, id dataset.Identity, visit func(record) error) error {
	if id.Object != w.name {
		w.name, w.object = id.Object, w.key.Object(id.Object)
	}
	w.draws = append(w.draws, draw{w.object.Uint64(id.Offset), len(w.kept)})
	w.values = append(w.values, r.x.Values...)
	w.indices = append(w.indices, r.x.Index...)
	w.kept = append(w.kept, kept{len(w.values), r.class, r.weight, r.number})
	if len(w.values)+8*len(w.kept) >= windowNumbers {
		return w.flush(visit)
	}
	return nil
}

// flush visits the kept records in the order of their draws.
func (w *window) flush(visit func(record) error) error {
	// total order: indices differ
	slices.SortFunc(w.draws, func(a, b draw) int { return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.index, b.index)) })
	for _, d := range w.draws {
		if err := visit(w.record(d.index)); err != nil {
			return err
		}
	}
	w.values, w.indices, w.kept, w.draws = w.values[:0], w.indices[:0], w.kept[:0], w.draws[:0]
	return nil
}

func (w *window) record(i int) record {
	k, begin := w.kept[i], 0
	if i > 0 {
		begin = w.kept[i-1].end
	}
	r := record{x: Row{Values: w.values[begin:k.end]}, class: k.class, weight: k.weight, number: k.number}
	if w.sparse {
		r.x.Index = w.indices[begin:k.end]
	}
	return r
}
