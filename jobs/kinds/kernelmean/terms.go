package kernelmean

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// leastTerm is the logarithm of the least term that counts, relative to the greatest of its class: below it
// a term is less than the last bit of the sum.
const leastTerm = -37

const (
	// wideShare makes a query wide for a class of whose rows more than this share count: then it takes less time
	// to multiply it with all of them than to measure those by themselves.
	wideShare = 8
	// expansionError is by how much a distance found by way of a product may move the logarithm of its term.
	expansionError = 1e-10
)

// sums calls visit with the sum of each row of x over a class, given their float32 distances from it.
func (p *parzen) sums(
	ctx context.Context, x, d kernelops.Matrix, class int, visit func(i int, greatest, sum float64),
) error {
	p.wide = p.wide[:0]
	for i := range x.Rows {
		if p.gaps != nil && p.gaps.apart(x.Row(i), class) {
			continue
		}
		t := p.candidatesOf(x.Row(i), d.Row(i), class)
		if p.many(t) {
			p.wide = append(p.wide, i)
			continue
		}
		greatest, sum := p.sum(t, nil)
		visit(i, greatest, sum)
	}
	for some := range slices.Chunk(p.wide, p.expanded.queries(d.Cols)) {
		if err := p.expanded.multiply(ctx, x, some, p.base, p.first[class], d.Cols); err != nil {
			return err
		}
		for k, i := range some {
			greatest, sum := p.sum(p.candidatesOf(x.Row(i), d.Row(i), class),
				p.expanded.products[k*d.Cols:(k+1)*d.Cols])
			visit(i, greatest, sum)
		}
	}
	return nil
}

// candidates are the rows of a class, to count for a query or not.
type candidates struct {
	x           []float32
	norm        float64   // |x|^2
	approximate []float32 // distances in float32
	first       int       // row of the base
	scale       float64   // 1 / (2 h^2)
	least       float64   // no term that counts is below it
}

func (p *parzen) candidatesOf(x, approximate []float32, class int) *candidates {
	h := p.bandwidth[class]
	t := &candidates{x: x, norm: norm(x), approximate: approximate, first: p.first[class],
		scale: 1 / float64(2*float64(h*h)), least: math.Inf(-1)}
	for j, q := range approximate {
		t.least = max(t.least, p.term(t.first+j, t.scale, float64(q)+p.slack(q, t.norm, t.first+j)))
	}
	t.least += leastTerm - 1
	return t
}

// counts says whether the term of a row could count, as far as float32 can tell.
func (p *parzen) counts(t *candidates, j int) bool {
	q := t.approximate[j]
	return !(p.term(t.first+j, t.scale, float64(q)-p.slack(q, t.norm, t.first+j)) < t.least)
}

// many says whether more terms could count than one in wideShare.
func (p *parzen) many(t *candidates) bool {
	left := len(t.approximate) / wideShare
	for j := range t.approximate {
		if p.counts(t, j) {
			left--
		}
		if left < 0 {
			return true
		}
	}
	return false
}

// sum is the sum over the rows of a class of w_i exp(-|x - x_i|^2 / (2 h^2)), relative to its greatest term, and the
// logarithm of that. Terms below e^-37 times the greatest are left out; products, where given, are those of the rows
// with x.
func (p *parzen) sum(t *candidates, products []float64) (greatest, sum float64) {
	p.terms, greatest = p.terms[:0], math.Inf(-1)
	for j := range t.approximate {
		if !p.counts(t, j) {
			continue
		}
		e := p.term(t.first+j, t.scale, p.squared(t, j, products))
		p.terms = append(p.terms, e)
		greatest = max(greatest, e)
	}
	return greatest, sumOf(p.terms, greatest)
}

// sumOf is the sum of the exponentials of terms, relative to the greatest, but for the least.
func sumOf(terms []float64, greatest float64) (sum float64) {
	for _, e := range terms {
		if e-greatest >= leastTerm {
			sum += fmath.Exp(e - greatest)
		}
	}
	return sum
}

// squared is |x-y|^2 of a query and a row: |x|^2 + |y|^2 - 2 <x, y> where the product is known and the error of that,
// at most 2 (width + 4) 2^-53 (|x|^2 + |y|^2), moves a term by no more than expansionError; else by differences.
func (p *parzen) squared(t *candidates, j int, products []float64) float64 {
	row := t.first + j
	if products != nil {
		norms := t.norm + p.norms[row]
		if float64(t.scale*float64(float64(p.space.Width+8)*0x1p-52*norms)) <= expansionError {
			return norms - float64(2*products[j])
		}
	}
	return rows.SquaredDistance(t.x, p.base.Tile(row, row+1, &p.single).Row(0))
}

// term is log w_i - d/(2h^2).
func (p *parzen) term(row int, scale, squared float64) float64 {
	e := -float64(scale * max(0, squared))
	if p.logWeight != nil {
		e += p.logWeight[row]
	}
	return e
}

// slack bounds by how much the float32 distance q from a row may err: twice the bound of docs/numerics.md, for
// sums of up to 2^20 terms; without a bound it is infinite.
func (p *parzen) slack(q float32, xNorm float64, row int) float64 {
	norms := xNorm + p.norms[row]
	if q-q != 0 || norms > 1e37 || p.space.Width > 1<<20 {
		return math.Inf(1)
	}
	return float64(float64(float64(p.space.Width+8)*0x1p-22)*norms) + 1e-30
}
