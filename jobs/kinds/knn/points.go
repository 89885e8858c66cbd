package knn

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// points are rows in memory, in the order of their records.
type points struct {
	rows.Rows
	ids    []int64   // numbers of the records in their data set
	target []float64 // class or value; nil in a plain search
}

// Fields lists the rows; see form.
func (p *points) Fields(f *jobs.Fields) {
	jobs.List(f, "base.ids", &p.ids)
	f.Check(p.checkIDs)
	jobs.Optional(f, "base.target", &p.target, len(p.ids)) // of modes classify and regress
	if len(p.ids) == 0 {
		return
	}
	if f.Reading() {
		p.N = len(p.ids)
	}
	f.Dim(rows.ArrayDense, 1, &p.Width)
	p.Rows.Fields(f)
}

func (p *points) checkIDs() error {
	for i, id := range p.ids {
		if id < 0 || i > 0 && id <= p.ids[i-1] {
			return jobs.Malformed("the ids of the base do not ascend at row %d", i)
		}
	}
	return nil
}

// form is how rows are kept: an empty leaf has none of its arrays yet.
type form struct {
	rows    rows.Form
	width   int
	targets bool
}

// alike reports whether rows that are there are of one form.
func (p *points) alike(q *points) bool {
	return p.Form == q.Form && p.Width == q.Width && p.Words == q.Words && (p.target != nil) == (q.target != nil)
}

// hold compares the rows with their form.
func (p *points) hold(to form) error {
	if p.N > 0 && to.targets != (p.target != nil) {
		return jobs.Malformed("a stored base is of another form than its space")
	}
	return p.Check(to.rows, to.width)
}

// append puts the rows of q, of the same form, below those of p.
func (p *points) append(q *points) {
	if q.N > 0 {
		p.Append(&q.Rows)
		p.ids, p.target = append(p.ids, q.ids...), append(p.target, q.target...)
	}
}

// reset forgets the rows and keeps their memory.
func (p *points) reset() {
	p.Reset()
	p.ids, p.target = p.ids[:0], p.target[:0]
}

// targetOf is the target of row i, 0 where there are none.
func (p *points) targetOf(i int) float64 {
	if p.target == nil {
		return 0
	}
	return p.target[i]
}

// pick copies some rows, without their targets.
func (p *points) pick(order []int) *points {
	some := &points{Rows: p.Pick(order)}
	for _, i := range order {
		some.ids = append(some.ids, p.ids[i])
	}
	return some
}

// baseName names the phase that gathers the base into the model, projected where it is searched so.
const baseName = "base"

func (p *plan) basePhase() jobs.Phase {
	return jobs.MapReduce[*index, *points]{
		Name: baseName, State: p.readIndex, Partial: func() *points { return new(points) },
		Map: p.gather,
		Merge: func(left, right *points) (*points, error) {
			if err := p.bound.Check(left.stored() + right.stored()); err != nil {
				return nil, err // before there is memory for both
			}
			if left.N > 0 && right.N > 0 && !left.alike(right) {
				return nil, jobs.Malformed("rows of two forms, or of width %d and %d", left.Width, right.Width)
			}
			left.append(right)
			return left, nil
		},
		Step: func(_ context.Context, in *index, root *points, _ jobs.Round) (jobs.Next, error) {
			m := in.model(root)
			if err := root.hold(m.storedForm()); err != nil {
				return jobs.Next{}, err
			}
			return jobs.Next{Done: true, State: jobs.ArraysOf(m)}, p.bound.Check(root.stored())
		},
		Gathers: func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
			n := grown * records(jobs.Input, leaf.Index)
			return n + min(chunkBytes, n)
		},
	}.Phase()
}

// stored is the size of the rows in a model.
func (p *points) stored() int64 { return jobs.ArraysOf(p).EncodedSize() }

// gather reads one leaf.
func (p *plan) gather(ctx context.Context, in *index, leaf jobs.Leaf, ops *kernelops.Set) (*points, error) {
	all := &points{}
	return all, in.readBase(ctx, leaf, p.Base(), nil, func(chunk *points) error {
		if in.dims > 0 {
			chunk = in.project(ops, chunk)
		}
		all.append(chunk)
		return p.bound.Check(all.Bytes())
	})
}
