package dual

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func dense(values ...float32) Row { return Row{Values: values} }

// Worked by hand: x = 1 and x = -1 with C = 1. P(w) = w^2/2 + 2 max(0, 1-w) is least at w = 1, where it is 1/2, and so
// is D at any two coefficients from 0 to 1 whose sum is 1.
func TestTwoRecordsByHand(t *testing.T) {
	p := problem{rows: []Row{dense(1), dense(-1)}, y: []float64{1, -1}, costs: []float64{1, 1}, each: 2}
	serial := p.begin(1) // the first record alone reaches the margin
	if step := serial.round(); step != 1-0x1p-50 || serial.alpha[1] != 0 || math.Abs(serial.w[0]-1) > 1e-15 {
		t.Errorf("step %v, alpha %v, w %v", step, serial.alpha, serial.w)
	}
	p.each = 1
	blocks := p.begin(1) // both blocks go to w = 1 by themselves, so half of what they propose is right
	if step := blocks.round(); step != 0.5 || blocks.alpha[0] != 0.5 || blocks.alpha[1] != 0.5 || blocks.w[0] != 1 {
		t.Errorf("step %v, alpha %v, w %v", step, blocks.alpha, blocks.w)
	}
	c := blocks.certify()
	if c.Primal != 0.5 || c.Dual != 0.5 || c.GapUpper > 1e-14 || c.Relative() > 2e-14 ||
		blocks.standing().Violation != 0 {
		t.Errorf("%+v", c)
	}
	// Squared, P(w) = w^2/2 + 2 (1-w)^2 is least at w = 4/5, where it is 2/5; the coefficients are alike.
	p.loss.Form = SquaredHinge
	squared := p.begin(1)
	squared.round()
	if c := squared.certify(); math.Abs(squared.w[0]-0.8) > 1e-15 || math.Abs(squared.alpha[0]-0.4) > 1e-15 ||
		math.Abs(c.Primal-0.4) > 1e-15 || c.GapUpper > 1e-14 {
		t.Errorf("w %v, alpha %v, %+v", squared.w, squared.alpha, c)
	}
}

// scales are those of columns and of offsets: alike, far from zero, and far from each other.
var scales = [][2]float64{{1, 0}, {1, 1e6}, {1e-3, 1}, {1e4, 1e4}, {1e-42, 0}, {1e15, 0}}

// random draws a problem; a few records are copies of others under the other label, a few are zeros.
func random(r *rand.Rand) (p problem, width int) {
	width = 1 + r.IntN(6)
	n := 2 + r.IntN(24)
	p = problem{loss: Loss{Form: Form(r.IntN(3))}, each: 1 + r.IntN(n)}
	bias, sparse := []float64{0, 1, 100}[r.IntN(3)], r.IntN(3) == 0
	shared := scales[r.IntN(len(scales))]
	cost := math.Ldexp(1+r.Float64(), r.IntN(24)-12)
	for i := range n {
		x, y := Row{Bias: bias}, float64(2*r.IntN(2)-1)
		for j := range width {
			scale := shared
			if r.IntN(4) == 0 {
				scale = scales[j%len(scales)]
			}
			if sparse && r.IntN(2) == 0 {
				continue
			}
			x.Values = append(x.Values, float32(scale[0]*(r.NormFloat64()+y)+scale[1]))
			if sparse {
				x.Index = append(x.Index, int32(j))
			}
		}
		switch {
		case sparse && x.Index == nil:
			x.Index = []int32{}
		case i > 0 && r.IntN(8) == 0:
			x, y = p.rows[i-1], -p.y[i-1]
		}
		p.rows, p.y, p.costs = append(p.rows, x), append(p.y, y), append(p.costs, cost*float64(1+r.IntN(3)))
	}
	return p, width
}

// In 2,000 random problems, half of them of numbers, after some rounds, the objectives are within their errors and the
// gap within its bound, as rational numbers have them.
func TestCertificatesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	for n := range 2000 {
		p, width := random(r)
		if n%2 == 1 {
			numbered(r, &p, true)
		}
		m := p.begin(width)
		for range r.IntN(40) {
			m.round()
		}
		primal, dual := m.objectives()
		c := m.certify()
		gap := new(big.Rat).Sub(primal, dual)
		if !within(c.Primal, primal, c.PrimalError) || !within(c.Dual, dual, c.DualError) ||
			gap.Cmp(exact(c.GapUpper)) > 0 || gap.Sign() < 0 {
			t.Fatalf("problem %d: %+v of %s and %s\n%+v", n, c, primal.FloatString(20), dual.FloatString(20), p)
		}
	}
}

// The dual never falls, but for rounding, whatever the blocks; and the gap is proved to close, on data of one scale.
func TestRoundsAscend(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, width := random(r)
		for i := range p.rows {
			p.costs[i] = 1
			for j := range p.rows[i].Values {
				p.rows[i].Values[j] = float32(r.NormFloat64())
			}
			p.rows[i].Bias = min(1, p.rows[i].Bias)
		}
		for _, each := range []int{len(p.rows), 5, 1} {
			p.each = each
			m := p.begin(width)
			before, rounds := m.certify(), 0
			for ; rounds < 20_000 && m.certify().Relative() > 1e-6; rounds++ {
				m.round()
				after := m.certify()
				if after.Dual+after.DualError < before.Dual-before.DualError {
					t.Fatalf("seed %d: the dual fell from %v to %v", seed, before.Dual, after.Dual)
				}
				before = after
			}
			if c := m.certify(); c.Relative() > 1e-6 {
				t.Errorf("seed %d, %s, blocks of %d: after %d rounds a gap of %g is proved", seed, p.loss, each, rounds,
					c.Relative())
			}
		}
	}
}

// Ascend finds the greatest of the dual along one coefficient: no other that is allowed is above it.
func TestAscend(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		l, cost := lossOf(r), math.Ldexp(1, r.IntN(8)-4)
		alpha, short, square := alphaOf(r, l, cost), 3*r.NormFloat64(), r.Float64()
		if r.IntN(5) == 0 {
			square = 0
		}
		value := func(to float64) float64 { // of the dual, less what it was
			d := to - alpha
			q := 0.0
			if l.Smooth() {
				q = 1 / (2 * cost)
			}
			return d*short - l.Epsilon*(math.Abs(to)-math.Abs(alpha)) - square*d*d/2 - q*(to*to-alpha*alpha)/2
		}
		best := l.Ascend(alpha, short, square, cost)
		if best < l.lower(cost) || best > l.Upper(cost) {
			t.Fatalf("%v is not allowed", best)
		}
		for _, to := range []float64{0, cost, -cost, best / 2, best * 0.99, best*1.01 + 1e-9, best - 1e-9, alpha} {
			if to >= l.lower(cost) && to <= l.Upper(cost) && value(to) > value(best)+1e-9*(1+math.Abs(value(best))) {
				t.Fatalf("%s: alpha %v short %v square %v cost %v: %v is below %v", l, alpha, short, square, cost,
					best, to)
			}
		}
		if square > 0 || l.Smooth() {
			moved := short - square*(best-alpha)
			if v := l.Violation(best, moved, cost); v > 1e-9*(1+math.Abs(short)+square*math.Abs(best)) {
				t.Fatalf("%s: the slope at the best is %v", l, v)
			}
		}
	}
}

// A course of no records has no end, and there is no step along it.
func TestCourseOfNothing(t *testing.T) {
	c := NewCourse()
	c.Add(Loss{Form: Hinge}, 1, 0.5, 0, 1, 1)
	if !math.IsInf(c.Room, 1) || c.Step(Loss{}, []float64{1, 0}, []float64{0, 0}) != 0 {
		t.Errorf("%+v", c)
	}
	c.Add(Loss{Form: Hinge}, 1, 0, 0.5, 0, 1) // a row of zeros goes on to its bound
	if step := c.Step(Loss{}, []float64{1, 0}, []float64{0, 0}); math.Abs(step-2) > 1e-14 {
		t.Error("step", step)
	}
	if got := fmt.Sprint(Hinge, Loss{Form: SquaredHinge}, Squared); got != "hinge squared_hinge squared" {
		t.Error(got)
	}
}

// A coefficient rests at a bound that its score keeps it at by slack or more, and is where the ascent leaves it for any
// change of the score by less; elsewhere, and of losses without such bounds, it does not rest.
func TestRests(t *testing.T) {
	for _, c := range []struct {
		form         Form
		alpha, short float64
		want         bool
	}{
		{Hinge, 0, -0.5, true}, {Hinge, 0, -0.4, false}, {Hinge, 0, 1, false}, {Hinge, 2, 0.5, true},
		{Hinge, 2, 0.4, false}, {Hinge, 2, -1, false}, {Hinge, 1, -3, false}, {Hinge, 1, 3, false},
		{SquaredHinge, 0, -0.5, true}, {SquaredHinge, 2, 3, false}, {Squared, 0, -3, false}, {Logistic, 0, -3, false},
		{EpsilonInsensitive, 0, -3, false}, {EpsilonInsensitive, 2, 3, false},
	} {
		if got := (Loss{Form: c.form}).Rests(c.alpha, c.short, 2, 0.5); got != c.want {
			t.Errorf("%s, a coefficient of %v, short by %v: %t", c.form, c.alpha, c.short, got)
		}
	}
	r := rand.New(rand.NewPCG(2, 8))
	rested := 0
	for range 20_000 {
		l, cost := Loss{Form: Form(r.IntN(len(Names)))}, math.Ldexp(1, r.IntN(9)-4)
		alpha, short, slack := cost*float64(r.IntN(3))/2, r.NormFloat64(), r.Float64()/4
		if !l.Rests(alpha, short, cost, slack) {
			continue
		}
		rested++
		near := short + float64(slack*(2*r.Float64()-1))
		if best := l.Ascend(alpha, near, r.Float64(), cost); best != alpha || l.Violation(alpha, near, cost) != 0 {
			t.Fatalf("%+v: %v of %v goes to %v, short by %v and then %v", l, alpha, cost, best, short, near)
		}
	}
	if rested < 1000 {
		t.Errorf("%d rested", rested)
	}
}

// Both are what AddTo makes of each, to the bit.
func TestAddToBoth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for _, x := range []Row{
		{Values: []float32{1.5, -2, 3e-3, 0}, Bias: 2}, {Index: []int32{0, 3}, Values: []float32{0.1, 7}},
	} {
		var got, want [2][]float64
		for at := range got {
			for range 5 {
				got[at] = append(got[at], r.NormFloat64())
			}
			want[at] = slices.Clone(got[at])
		}
		a, b := r.NormFloat64(), r.NormFloat64()
		x.AddToBoth(got[0], got[1], a, b)
		x.AddTo(want[0], a)
		x.AddTo(want[1], b)
		if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
