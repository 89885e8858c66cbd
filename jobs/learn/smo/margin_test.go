package smo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/dual"
)

func (c classifier) bounds() dual.Margin {
	n := NewNearest()
	for _, r := range c.records {
		n.Add(r)
	}
	return Bounds(c.standing(), n)
}

// Worked by hand: 1 and 3 of +1, -1 and -2 of -1, on a line: the hulls are 2 apart, so the largest margin is 1, of a
// bias of 0. Coefficients of 1/2 at 1 and -1 make w = 1. With 5 added to each, only the bias is another.
func TestMarginByHand(t *testing.T) {
	for _, offset := range []float64{0, 5} {
		c := classifier{exact: true}
		for i, x := range []float64{1, 3, -1, -2} {
			x += offset
			r := Record{Y: 1 - 2*float64(i/2), Cost: 1, Alpha: 0.5 * float64(1-i%2), Value: x}
			c.x, c.records = append(c.x, []float64{x}), append(c.records, r)
		}
		if m := c.bounds(); m.Lo > 1 || m.Lo < 1-1e-12 || m.Hi < 1 || m.Hi > 1+1e-12 || !m.Separates() {
			t.Errorf("%+v", m)
		}
		c.records[1].Value = offset - 1 // beyond the other class
		c.x[1][0] = offset - 1
		c.records[0].Alpha, c.records[1].Alpha = 0, 0.5
		c.records[0].Value, c.records[2].Value, c.records[3].Value = 0, 0, 0
		if m := c.bounds(); m.Lo != 0 {
			t.Errorf("%+v", m)
		}
	}
	if m := Bounds(Standing{}, NewNearest()); m.Lo != 0 || !m.Valid() {
		t.Errorf("of no records: %+v", m)
	}
}

// exactBounds are the squares of both bounds without rounding: of half the distance between the nearest decisions of
// both classes over |w|, and of |w(a')| over the sum of a', with the larger class scaled down; nil of nothing.
func (c classifier) exactBounds() (lo, hi *big.Rat) {
	alpha := c.alphas()
	f := c.decisions(alpha)
	var above, below *big.Rat
	sums := map[float64]*big.Rat{1: new(big.Rat), -1: new(big.Rat)}
	for i, r := range c.records {
		sums[r.Y].Add(sums[r.Y], alpha[i])
		if r.Y > 0 && (above == nil || f[i].Cmp(above) < 0) {
			above = f[i]
		}
		if r.Y < 0 && (below == nil || f[i].Cmp(below) > 0) {
			below = f[i]
		}
	}
	square := times(c.half(alpha, f), big.NewRat(2, 1))
	if above != nil && below != nil && above.Cmp(below) > 0 {
		gap := times(plus(above, new(big.Rat).Neg(below)), big.NewRat(1, 2))
		lo = times(gap, gap)
		lo.Quo(lo, square)
	}
	if sums[1].Sign() == 0 || sums[-1].Sign() == 0 {
		return lo, nil
	}
	least := sums[1]
	if sums[-1].Cmp(least) < 0 {
		least = sums[-1]
	}
	total := new(big.Rat)
	for i, r := range c.records {
		alpha[i] = times(alpha[i], new(big.Rat).Quo(least, sums[r.Y]))
		total.Add(total, alpha[i])
	}
	square = times(c.half(alpha, c.decisions(alpha)), big.NewRat(2, 1))
	return lo, square.Quo(square, times(total, total))
}

// In 1,200 random problems that strain one part of the errors each, the bounds are no tighter than the rational
// ones, and as a rule not far from them.
func TestMarginsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 6))
	near := 0
	for n := range 1200 {
		c := draw(r, n%families)
		m := c.bounds()
		lo, hi := c.exactBounds()
		if m.Lo > 0 && (lo == nil || times(rational(m.Lo), rational(m.Lo)).Cmp(lo) > 0) {
			t.Fatalf("problem %d: at least %v, but %v", n, m.Lo, lo)
		}
		square := times(rational(m.Hi), rational(m.Hi))
		if hi != nil && square.Cmp(hi) < 0 {
			t.Fatalf("problem %d: at most %v, but the square is %s", n, m.Hi, hi.FloatString(60))
		}
		if hi != nil && hi.Sign() > 0 {
			if q, _ := new(big.Rat).Quo(square, hi).Float64(); q < 1+1e-6 {
				near++
			}
		}
	}
	if near < 50 {
		t.Errorf("%d upper bounds are near", near)
	}
}

// Every upper bound is above every lower one, whatever the coefficients they come from.
func TestMarginsOfOneProblem(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 29))
	separable := 0
	for n := range 300 {
		c := classifier{exact: true}
		for i := range 2 + r.IntN(10) {
			y := float64(1 - 2*(i%2))
			c.x = append(c.x, []float64{math.Ldexp(float64(r.IntN(17))+7*y, r.IntN(2)), float64(r.IntN(9))})
			c.records = append(c.records, Record{Y: y, Cost: 100})
		}
		all := dual.Unbounded()
		for range 20 {
			for i := range c.records {
				c.records[i].Alpha = float64(r.IntN(3)) * r.Float64()
			}
			c.computed()
			all = all.Join(c.bounds())
		}
		if !all.Valid() {
			t.Fatalf("problem %d: %+v", n, all)
		}
		if all.Separates() {
			separable++
		}
	}
	if separable < 30 {
		t.Errorf("%d problems are known to be separable", separable)
	}
}

// computed sets the values to the rounded decisions, with an error that covers the rounding.
func (c classifier) computed() {
	for i, f := range c.decisions(c.alphas()) {
		c.records[i].Value, _ = f.Float64()
		c.records[i].Error = math.Abs(c.records[i].Value) * 0x1p-52
	}
}
