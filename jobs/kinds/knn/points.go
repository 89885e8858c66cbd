package knn

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// points are rows in memory, in the order of their records.
type points struct {
	rows.Rows
	ids    []int64      // numbers of the records in their data set; of a stored base with ids, in the order of these
	target []float64    // class or value; nil in a plain search
	names  jobs.Strings // the records' ids, where ties go by them
	place  []int64      // of each row, its place among names; nil where ties go by numbers
	order  []int        // the rows in the order of their ids; nil where they are in that of ties
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
		for i := range q.names.Len() {
			p.names.Append(q.names.At(i))
		}
	}
}

// reset forgets the rows and keeps their memory.
func (p *points) reset() {
	p.Reset()
	p.ids, p.target = p.ids[:0], p.target[:0]
	p.names.Bytes, p.names.Offsets = p.names.Bytes[:0], p.names.Offsets[:0]
	p.place, p.order = nil, nil
}

// eachName is what an id takes beside its bytes: where it ends, its place, and those in the order of ids.
const eachName = 32

// nameBytes is about how much memory the names take.
func (p *points) nameBytes() int64 { return int64(len(p.names.Bytes)) + eachName*int64(p.names.Len()) }

// idOf is the id of row i as a neighbor.
func (p *points) idOf(i int) int64 {
	if p.place == nil {
		return p.ids[i]
	}
	return p.place[i]
}

// targetOf is the target of row i, 0 where there are none.
func (p *points) targetOf(i int) float64 {
	if p.target == nil {
		return 0
	}
	return p.target[i]
}

// pick copies some rows.
func (p *points) pick(order []int) *points {
	some := &points{Rows: p.Pick(order), ids: picked(p.ids, order)}
	if p.target != nil {
		some.target = picked(p.target, order)
	}
	if p.place != nil {
		some.place = picked(p.place, order)
	}
	return some
}

// ordered are the rows in the order in which ties go, a copy where they are in another.
func (p *points) ordered() *points {
	if p.order == nil {
		return p
	}
	return p.pick(p.order)
}

// baseName names the phase that gathers the base into the model, projected where it is searched so.
const baseName = "base"

func (p *plan) basePhase() jobs.Phase {
	return jobs.MapReduce[*index, *gathered]{
		Name: baseName, State: p.readIndex, Partial: func() *gathered { return p.newGathered() },
		Map: p.gather,
		Merge: func(left, right *gathered) (*gathered, error) {
			if err := p.bound.Check(left.stored() + right.stored()); err != nil {
				return nil, err // before there is memory for both
			}
			if left.N > 0 && right.N > 0 && !left.alike(right.points) {
				return nil, jobs.Malformed("rows of two forms, or of width %d and %d", left.Width, right.Width)
			}
			left.append(right.points)
			return left, nil
		},
		Step: func(_ context.Context, in *index, root *gathered, _ jobs.Round) (jobs.Next, error) {
			m := in.model(root.points)
			if err := root.hold(m.storedForm()); err != nil {
				return jobs.Next{}, err
			}
			m.base = root.numbered()
			next := jobs.Next{Done: true, State: jobs.ArraysOf(m)}
			return next, p.bound.Check(jobs.ArraysOf(m.base).EncodedSize())
		},
		Gathers: func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
			n := grown * records(jobs.Input, leaf.Index)
			return n + min(chunkBytes, n)
		},
	}.Phase()
}

// gathered are rows on their way into the model, in the order of the data set.
type gathered struct {
	*points
	named bool // they have ids, by which the model orders them
}

func (p *plan) newGathered() *gathered { return &gathered{new(points), p.named} }

// Fields lists the rows and their ids.
func (g *gathered) Fields(f *jobs.Fields) {
	g.points.Fields(f)
	if g.named {
		f.Strings("base.names", &g.names)
		f.Require(g.names.Len() == len(g.ids), "%d ids of %d records of the base", g.names.Len(), len(g.ids))
	}
}

// stored is the size of the rows, and of their ids as long as there are any.
func (g *gathered) stored() int64 { return jobs.ArraysOf(g).EncodedSize() }

// numbered are the rows of the model: where they have ids in the order of these, and numbered in it.
func (g *gathered) numbered() *points {
	if !g.named {
		return g.points
	}
	g.order = orderOf(g.names)
	p := *g.ordered()
	p.ids = make([]int64, p.N)
	for i := range p.ids {
		p.ids[i] = int64(i)
	}
	return &p
}

// gather reads one leaf.
func (p *plan) gather(ctx context.Context, in *index, leaf jobs.Leaf, ops *kernelops.Set) (*gathered, error) {
	all := p.newGathered()
	own := pairwise.Run{First: leaf.Index, End: leaf.Index + 1}
	keep := p.Base()
	return all, in.readBase(ctx, leaf, own, baseReader{keep: keep, named: p.named, chunk: func(chunk *points) error {
		if in.dims > 0 {
			chunk = in.project(ops, chunk)
		}
		all.append(chunk)
		return p.bound.Check(all.Bytes() + int64(len(all.names.Bytes)))
	}})
}
