package kernelmean

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/protocol"
)

// base holds training records, dense or as compressed rows.
type base struct {
	rows.Rows
	class   []int32   // of each row
	weights []float32 // nil where every row weighs 1
}

func newBase(space *features.Space) *base {
	b := &base{Rows: rows.New(rows.FormOf(space), space.Width)}
	b.Gaps = space.Omits()
	return b
}

// Fields lists the rows, in time linear in their bytes.
func (b *base) Fields(f *jobs.Fields) {
	f.Int("base.width", &b.Width, 0, math.MaxInt32)
	jobs.List(f, "base.class", &b.class)
	if f.Reading() {
		b.N = len(b.class)
	}
	jobs.Optional(f, "base.weights", &b.weights, b.N) // where rows have weights
	b.Rows.Fields(f)
	f.Check(b.check)
}

func (b *base) check() error {
	for i, w := range b.weights {
		if !(w >= 0 && w-w == 0) {
			return jobs.Malformed("row %d of the base weighs %v", i, w)
		}
	}
	return b.Check(b.Form, b.Width)
}

// checkIn refuses rows that do not fit their space.
func (b *base) checkIn(space *features.Space) error {
	if b.Width != space.Width {
		return jobs.Malformed("a base of width %d in a space of width %d", b.Width, space.Width)
	}
	for i, y := range b.class {
		if y < 0 || int(y) >= space.Labels.Len() {
			return jobs.Malformed("row %d of the base is of class %d of %d", i, y, space.Labels.Len())
		}
	}
	return b.Check(rows.FormOf(space), space.Width)
}

// bytes is the size of the rows in a model.
func (b *base) bytes() int64 {
	return b.Bytes() + 4*int64(len(b.class)+len(b.weights)) + 8*int64(len(b.Sparse.Indptr))
}

// weight is what a row counts.
func (b *base) weight(row int) float64 {
	if b.weights == nil {
		return 1
	}
	return float64(b.weights[row])
}

// add appends the rows of v.
func (b *base) add(v features.Vectors) {
	b.addWeights(v.Rows, v.Weights)
	b.class = append(b.class, v.Class...)
	b.Add(v, 0, v.Rows)
}

// addWeights appends the weights of some rows, nil for 1 each.
func (b *base) addWeights(rows int, weights []float32) {
	switch {
	case rows == 0 || b.weights == nil && weights == nil:
		return
	case b.weights == nil:
		b.weights = slices.Repeat([]float32{1}, b.N)
	case weights == nil:
		weights = slices.Repeat([]float32{1}, rows)
	}
	b.weights = append(b.weights, weights...)
}

// join puts the rows of o below those of b.
func (b *base) join(o *base) error {
	if b.Width != o.Width || b.Form != o.Form {
		return jobs.Malformed("rows of width %d and %d, of form %d and %d", b.Width, o.Width, b.Form, o.Form)
	}
	b.addWeights(o.N, o.weights)
	b.class = append(b.class, o.class...)
	b.Append(&o.Rows)
	return nil
}

// byClass returns the rows class after class, in each class in their order.
func (b *base) byClass() *base {
	order := rank.Least(b.N, func(i int) int32 { return b.class[i] })
	sorted := &base{Rows: b.Pick(order), class: make([]int32, len(order))}
	if b.weights != nil {
		sorted.weights = make([]float32, len(order))
	}
	for to, from := range order {
		sorted.class[to] = b.class[from]
		if b.weights != nil {
			sorted.weights[to] = b.weights[from]
		}
	}
	return sorted
}

// bounds are the rows of each class, which lie side by side: class y has those from bounds[y] up to,
// not including, bounds[y+1].
func (b *base) bounds(classes int) []int {
	at := make([]int, classes+1)
	for _, y := range b.class {
		at[y+1]++
	}
	for y := range classes {
		at[y+1] += at[y]
	}
	return at
}

// classWeights are the sums of the weights of each class, in the order of the rows.
func (b *base) classWeights(classes int) []float64 {
	sums := make([]float64, classes)
	for i, y := range b.class {
		sums[y] += b.weight(i)
	}
	return sums
}

// classWeights is the array of the weights of the classes in a model that does not hold its base.
const classWeights = "classes.weights" // F64 [classes]

// groups are the classes of a base, whether the model holds it or not.
type groups struct {
	base    *base     // class after class; nil where it is not stored
	first   []int     // rows of each class: class y has those from first[y] up to, not including, first[y+1]
	weights []float64 // of each class
}

// groupsOf are the classes of a stored base.
func groupsOf(space *features.Space, b *base) groups {
	classes := space.Labels.Len()
	return groups{b, b.bounds(classes), b.classWeights(classes)}
}

// unstored are the classes of a base that is not held.
func unstored(space *features.Space, weights []float64) groups {
	g := groups{first: make([]int, len(weights)+1), weights: weights}
	for y, n := range space.ClassRecords {
		g.first[y+1] = g.first[y] + int(n)
	}
	return g
}

// Fields lists the classes of a space, and refuses what training would not have written: two or more, each of some
// weight, and rows class after class.
func (g *groups) Fields(f *jobs.Fields, space *features.Space) {
	if f.Has(classWeights, g.base == nil) {
		jobs.List(f, classWeights, &g.weights, space.Labels.Len())
		if f.Reading() {
			*g = unstored(space, g.weights)
		}
	} else {
		b := jobs.Make(f, &g.base)
		b.Gaps = space.Omits()
		b.Fields(f)
		f.Check(func() error { return b.checkIn(space) })
		f.Require(slices.IsSorted(b.class), "the rows of a base are out of the order of their classes")
		if f.Reading() {
			*g = groupsOf(space, b)
		}
	}
	f.Require(len(g.weights) >= 2, "a base of %d classes", len(g.weights))
	for y, w := range g.weights {
		f.Require(w > 0 && w-w == 0, "class %d of the base weighs %v", y, w)
	}
}

// needBase refuses to predict without the base.
func (g *groups) needBase() error {
	if g.base != nil {
		return nil
	}
	return protocol.SpecFault("the model does not hold its base: a mean kernel value takes every training record").
		WithHint("Train with params.store_base, or name the records to decide in spec.queries of the job that trains.")
}

// size tells people how large the base is, and where.
func (g *groups) size(space *features.Space) string {
	where := ""
	if g.base == nil {
		where = ", not stored: set store_base for a model that predicts"
	}
	classes := len(g.weights)
	return fmt.Sprintf("%d classes, %s of width %d%s", classes, protocol.Counted(g.first[classes], "record"),
		space.Width, where)
}

// list lists classes with a value of each.
func (g *groups) list(p *describe.Page, space *features.Space, what string, values []float64) {
	p.Text("%-24s %10s  %s\n", "class", "records", what)
	p.Table(space.Labels.List(), func(y int) string {
		return fmt.Sprintf("%10d  %.6g", g.first[y+1]-g.first[y], values[y])
	})
}
