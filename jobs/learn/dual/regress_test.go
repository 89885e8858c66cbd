package dual

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lossOf draws any loss but the logistic.
func lossOf(r *rand.Rand) Loss {
	l := Loss{Form: Form(r.IntN(int(Logistic)))}
	if l.Tube() && r.IntN(4) > 0 {
		l.Epsilon = r.Float64()
	}
	return l
}

// alphaOf draws a coefficient.
func alphaOf(r *rand.Rand, l Loss, cost float64) float64 {
	alpha := float64(cost * r.Float64())
	switch {
	case r.IntN(6) == 0:
		return 0
	case l.Regresses() && r.IntN(2) == 0:
		return -alpha
	}
	return alpha
}

// numbered turns a random problem into one of numbers: far from zero, tiny, all alike or about linear; hard ones so
// near a tube or 0 that rounding hides what is lost.
func numbered(r *rand.Rand, p *problem, hard bool) {
	p.loss = Loss{Form: []Form{Squared, EpsilonInsensitive, SquaredEpsilonInsensitive}[r.IntN(3)]}
	scale := []float64{1, 1e6, 1e-6, 1e12}[r.IntN(4)]
	hardly, offset := hard && r.IntN(8) == 0, []float64{0, 0, 1e6, -1}[r.IntN(4)]
	if hard && r.IntN(3) == 0 {
		scale = []float64{1e-163, 1e-300}[r.IntN(2)]
	}
	p.goals = make([]float64, len(p.y))
	for i := range p.y {
		p.goals[i] = float64(scale*(r.NormFloat64()+3*p.y[i])) + offset
		if i > 0 && r.IntN(4) == 0 {
			p.goals[i] = p.goals[i-1]
		}
	}
	for i := range p.y {
		p.y[i] = 1
	}
	if p.loss.Tube() && r.IntN(4) > 0 {
		p.loss.Epsilon = float64([]float64{1, scale}[r.IntN(2)] * r.Float64())
	}
	for i := range p.goals {
		if hardly { // beyond the tube
			p.goals[i] = float64(p.loss.Epsilon*(1+math.Abs(float64(1e-9*r.NormFloat64())))) * float64(2*r.IntN(2)-1)
		}
	}
}

// Worked by hand: x = 1, y = 3, epsilon = 1, C = 1. P(w) = w^2/2 + max(0, |3-w| - 1) falls with slope w - 1 up to
// w = 1, where it is 3/2, and so is D(1) = 3 - 1 - 1/2. With C = 3 the best is at the tube: w = 2, P = 2. With
// y = -3 all of it has the other sign. Squared, P = w^2/2 + (3-w-1)^2 is least at w = 4/3, where it is 4/3; without a
// tube at w = 2.
func TestNumbersByHand(t *testing.T) {
	for _, c := range []struct {
		form                Form
		epsilon, goal, cost float64
		weight, primal      float64
	}{
		{EpsilonInsensitive, 1, 3, 1, 1, 1.5},
		{EpsilonInsensitive, 1, -3, 1, -1, 1.5},
		{EpsilonInsensitive, 1, 3, 3, 2, 2},
		{EpsilonInsensitive, 1, -3, 3, -2, 2},
		{EpsilonInsensitive, 3, -3, 3, 0, 0},
		{EpsilonInsensitive, 0, 3, 1, 1, 2.5},
		{SquaredEpsilonInsensitive, 1, 3, 1, 4.0 / 3, 4.0 / 3},
		{SquaredEpsilonInsensitive, 1, -3, 1, -4.0 / 3, 4.0 / 3},
		{Squared, 0, 3, 1, 2, 3},
	} {
		p := problem{loss: Loss{c.form, c.epsilon}, rows: []Row{dense(1)}, y: []float64{1},
			goals: []float64{c.goal}, costs: []float64{c.cost}, each: 1}
		up, down := p.begin(1), p.begin(1)
		for range 3 {
			up.round()
		}
		best, _ := down.descend(1e-13, 100, func(Certificate) {})
		risen := up.certify()
		for _, got := range []Certificate{best, risen} {
			if math.Abs(got.Primal-c.primal) > 1e-12 || math.Abs(got.Dual-c.primal) > 1e-12 || got.GapUpper > 1e-12 {
				t.Errorf("%+v: %+v", c, got)
			}
		}
		if math.Abs(up.w[0]-c.weight) > 1e-12 || up.standing().Violation > 1e-12 {
			t.Errorf("%+v: weights %v, violation %v", c, up.w, up.standing().Violation)
		}
	}
}

// A course past 0 promises no more of the dual than there is, and no less than it was.
func TestCoursesPastZero(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 3000 {
		l := Loss{[]Form{EpsilonInsensitive, SquaredEpsilonInsensitive}[r.IntN(2)], r.Float64()}
		target, cost, x := 3*r.NormFloat64(), 0.1+r.Float64(), r.NormFloat64()
		alpha, to := alphaOf(r, l, cost), alphaOf(r, l, cost)
		dual := func(a float64) float64 {
			return target*a - l.Epsilon*math.Abs(a) - l.curvature(cost)*a*a/2 - a*a*x*x/2
		}
		c := NewCourse()
		c.Add(l, target, alpha, to-alpha, x*x, cost)
		step := c.Step(l, []float64{alpha * x}, []float64{(to - alpha) * x})
		if alpha != to && c.Room < 1-0x1p-49 {
			t.Fatalf("no room for a step to %v from %v: %v", to, alpha, c.Room)
		}
		moved := l.Moved(alpha, to-alpha, step, cost)
		slope, curve := c.Gain-c.Cross-alpha*x*x*(to-alpha), c.Bend+(to-alpha)*(to-alpha)*x*x
		promised := step*slope - step*step*curve/2
		if rises := dual(moved) - dual(alpha); rises < promised-1e-12 || promised < 0 {
			t.Fatalf("%s, target %v, cost %v: from %v by %v to %v rises by %v, not %v", l, target, cost, alpha, step,
				to, rises, promised)
		}
	}
}

// plain draws a problem of numbers with records of one scale.
func plain(seed uint64) (p problem, width int) {
	r := rand.New(rand.NewPCG(seed, 7))
	p, width = random(r)
	numbered(r, &p, false)
	for i := range p.rows {
		p.rows[i].Bias = min(1, p.rows[i].Bias)
		for j := range p.rows[i].Values {
			p.rows[i].Values[j] = float32(r.NormFloat64())
		}
	}
	return p, width
}

// Of numbers of any scale, a gap of 1e-9 is proved in few rounds.
func TestDescentOfNumbers(t *testing.T) {
	most := 0
	for seed := range uint64(200) {
		p, width := plain(seed)
		best, rounds := p.begin(width).descend(1e-9, 400, func(Certificate) {})
		if best.Relative() > 1e-9 {
			t.Errorf("seed %d, %s, epsilon %g, costs %g: after %d rounds a gap of %g is proved", seed, p.loss,
				p.loss.Epsilon, p.costs[0], rounds, best.Relative())
		}
		most = max(most, rounds)
	}
	t.Log("rounds at most", most)
}

// The dual of numbers never falls, but for rounding, and the gap closes.
func TestNumbersAscend(t *testing.T) {
	for seed := range uint64(40) {
		p, width := plain(seed)
		scale := 1.0 // of costs: labels that are l times as large are as hard with costs that are so, too
		if p.loss.Form == EpsilonInsensitive {
			scale = p.begin(width).standing().Scale()
		}
		for i := range p.costs {
			p.costs[i] = scale
		}
		for _, each := range []int{len(p.rows), 5, 1} {
			p.each = each
			m := p.begin(width)
			c := m.certify()
			for rounds := 0; rounds < 20_000 && c.Relative() > 1e-3; rounds++ {
				m.round()
				after := m.certify()
				if after.Dual+after.DualError < c.Dual-c.DualError {
					t.Fatalf("seed %d: the dual fell from %v to %v", seed, c.Dual, after.Dual)
				}
				c = after
			}
			if c.Relative() > 1e-3 {
				t.Errorf("seed %d, %s, blocks of %d: a gap of %g is proved", seed, p.loss, each, c.Relative())
			}
		}
	}
}
