package kernelmean

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// anyGap reports whether a row from up to, not including, to misses a number.
func (b *base) anyGap(from, to int) bool {
	return b.Gaps && slices.ContainsFunc(b.Dense[from*b.Width:to*b.Width], rows.IsGap)
}

// withoutWhole is the first class without a record that has all numbers and weighs something; -1 if every class
// has one. Such a class would have no density for a query that has all numbers.
func (b *base) withoutWhole(classes int) int {
	whole := make([]bool, classes)
	for i, y := range b.class {
		whole[y] = whole[y] || b.weight(i) > 0 && !b.anyGap(i, i+1)
	}
	return slices.Index(whole, false)
}

// needWhole refuses a class that withoutWhole finds.
func (b *base) needWhole(space *features.Space) error {
	if y := b.withoutWhole(space.Labels.Len()); b.Gaps && y >= 0 {
		return protocol.EmptyFault("no training record of class %q with a weight above 0 has all of its %d numbers",
			space.Labels.At(y), b.Width).
			WithHint("A density is of the records that have all numbers of a query. Leave columns that miss many out with " +
				"spec.input.features, or set features.missing to mean or constant.")
	}
	return nil
}

// presentDeviation is deviation where numbers are missing: the variance of each column is over those that it has.
func (b *base) presentDeviation(from, to int) float64 {
	sum := 0.0
	for j := range b.Width {
		weight, total, squares := 0.0, 0.0, 0.0
		for i := from; i < to; i++ {
			if v := b.Dense[i*b.Width+j]; !rows.IsGap(v) {
				w := b.weight(i)
				weight += w
				total += float64(w * float64(v))
			}
		}
		mean := total / weight
		for i := from; i < to; i++ {
			if v := b.Dense[i*b.Width+j]; !rows.IsGap(v) {
				d := float64(v) - mean
				squares += float64(b.weight(i) * float64(d*d))
			}
		}
		sum += squares / weight
	}
	return math.Sqrt(sum / float64(b.Width))
}

// gaps are what densities over missing numbers take. One goroutine.
type gaps struct {
	class   []bool    // whose records miss some
	prior   []float64 // log p(y)
	columns []int     // that a query has
}

func newGaps(m *densityModel) *gaps {
	g := &gaps{prior: m.LogPrior(m.space.Labels, m.weights)}
	for y := range m.weights {
		g.class = append(g.class, m.base.anyGap(m.first[y], m.first[y+1]))
	}
	return g
}

// apart reports whether a number is missing in a query or in the records of a class.
func (g *gaps) apart(x []float32, class int) bool {
	return g.class[class] || slices.ContainsFunc(x, rows.IsGap)
}

// jointPresent is joint for one class and the queries that are apart. It reports whether all are.
func (p *parzen) jointPresent(ctx context.Context, dst []float64, x kernelops.Matrix, class int) (all bool, err error) {
	if p.gaps == nil {
		return false, nil
	}
	all = true
	for i := range x.Rows {
		if !p.gaps.apart(x.Row(i), class) {
			all = false
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		dst[i*len(p.weights)+class] = p.present(x.Row(i), class)
	}
	return all, nil
}

// present is log p(x, y) over the columns that x has, in a class's records that have them all, of which there is one.
// The normal density is a product over the columns, so that a density over some of them is that without the factors of
// the others. Without any it is log p(y). It takes time in proportion to the records times the columns.
func (p *parzen) present(x []float32, class int) float64 {
	p.gaps.columns = p.gaps.columns[:0]
	for j, v := range x {
		if !rows.IsGap(v) {
			p.gaps.columns = append(p.gaps.columns, j)
		}
	}
	d, h := float64(len(p.gaps.columns)), p.bandwidth[class]
	if d == 0 {
		return p.gaps.prior[class]
	}
	scale, weight, greatest := 1/float64(2*float64(h*h)), 0.0, math.Inf(-1)
	p.terms = p.terms[:0]
	for i := p.first[class]; i < p.first[class+1]; i++ {
		_, row := p.base.Row(i)
		squared, ok := rows.SquaredPresent(p.gaps.columns, x, row)
		if !ok {
			continue
		}
		weight += p.base.weight(i)
		e := p.term(i, scale, squared)
		p.terms, greatest = append(p.terms, e), max(greatest, e)
	}
	norm := fmath.Log(weight) + float64(d*fmath.Log(h)) + float64(float64(d/2)*fmath.Log(2*math.Pi))
	return p.gaps.prior[class] - norm + (greatest + fmath.Log(sumOf(p.terms, greatest)))
}
