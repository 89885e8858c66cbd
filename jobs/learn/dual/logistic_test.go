package dual

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const bits = 256

func wide(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

func wideNew() *big.Float { return new(big.Float).SetPrec(bits) }

// wideExp returns exp(x) for |x| < 2^11: the Taylor series at x/2^20, squared 20 times.
func wideExp(x *big.Float) *big.Float {
	const halvings = 20
	r := wideNew().SetMantExp(wideNew().Set(x), -halvings)
	sum, term := wide(1), wide(1)
	for i := 1; i < 24; i++ {
		term.Quo(term.Mul(term, r), wide(float64(i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// wideLog returns log(x) for x in the range of wideExp's results, by Halley's iteration.
func wideLog(x *big.Float) *big.Float {
	mantissa := wideNew()
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := wide(math.Log(m) + float64(exponent)*math.Ln2)
	if m == 0.5 && exponent == 1 { // near 1, log is the distance
		d, _ := wideNew().Sub(x, wide(1)).Float64()
		y = wide(math.Log1p(d))
	}
	for range 4 {
		e := wideExp(y)
		step := wideNew().Quo(wideNew().Sub(x, e), wideNew().Add(x, e))
		y.Add(y, step.Add(step, step))
	}
	return y
}

// wideSoftplus returns log(1 + exp(s)); of exp(s) below 2^-100 it is exp(s) (1 - exp(s)/2).
func wideSoftplus(s *big.Float) *big.Float {
	if s.Sign() > 0 {
		rest := wideSoftplus(wideNew().Neg(s))
		return rest.Add(rest, s)
	}
	if s.Cmp(wide(-2000)) < 0 {
		return wideNew()
	}
	e := wideExp(s)
	if e.MantExp(nil) < -100 {
		half := wideNew().SetMantExp(e, -1)
		return wideNew().Mul(e, half.Sub(wide(1), half))
	}
	return wideLog(wideNew().Add(wide(1), e))
}

// ulps is how far a number is from a wide one, in units of its last place.
func ulps(got float64, want *big.Float) float64 {
	unit := max(-1074, want.MantExp(nil)-53)
	off := wideNew().Sub(wide(got), want)
	far, _ := off.SetMantExp(off, -unit).Float64()
	return math.Abs(far)
}

// The functions of the logistic loss are within what the certificate assumes of them.
func TestLogisticFunctions(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 3000
	}
	r := rand.New(rand.NewPCG(8, 1))
	worst := map[string]float64{}
	look := func(name string, got float64, want *big.Float) { worst[name] = max(worst[name], ulps(got, want)) }
	for i := range n {
		s := 40 * r.NormFloat64()
		switch i % 4 {
		case 1:
			s = 3 * r.NormFloat64()
		case 2:
			s = math.Ldexp(r.NormFloat64(), -r.IntN(60))
		case 3:
			s = 1400*r.Float64() - 700
		}
		look("softplus", softplus(s), wideSoftplus(wide(s)))
		of, rest := sigmoid(s)
		e := wideExp(wide(s))
		sum := wideNew().Add(wide(1), e)
		look("sigmoid", of, wideNew().Quo(e, sum))
		look("rest", rest, wideNew().Quo(wide(1), sum))
	}
	for name, far := range worst {
		t.Logf("%s: at most %.3f ulp", name, far)
		if far > 4 || far == 0 {
			t.Errorf("%s is off by %v ulp", name, far)
		}
	}
}

// wideEntropy is -a log(a/c) - (c-a) log((c-a)/c).
func wideEntropy(alpha, cost float64) *big.Float {
	sum := wideNew()
	for _, a := range []*big.Float{wide(alpha), wideNew().Sub(wide(cost), wide(alpha))} {
		if a.Sign() > 0 {
			sum.Sub(sum, wideNew().Mul(a, wideLog(wideNew().Quo(a, wide(cost)))))
		}
	}
	return sum
}

// wideObjectives are P(w) and D(alpha) of the logistic loss.
func (m *machine) wideObjectives() (primal, dual *big.Float) {
	last := len(m.w) - 1
	primal, dual = wideNew(), wideNew()
	w, sums := make([]*big.Rat, len(m.w)), make([]*big.Rat, len(m.w))
	for j := range w {
		w[j], sums[j] = exact(m.w[j]), new(big.Rat)
	}
	half := func(list []*big.Rat) *big.Float {
		return wideNew().SetRat(times(big.NewRat(1, 2), sumSquares(list)))
	}
	for i, x := range m.rows {
		short := new(big.Rat)
		x.columns(last, func(j int, v *big.Rat) {
			short.Sub(short, times(times(w[j], v), exact(m.y[i])))
			sums[j].Add(sums[j], times(times(exact(m.alpha[i]), v), exact(m.y[i])))
		})
		loss := wideSoftplus(wideNew().SetRat(short))
		primal.Add(primal, loss.Mul(loss, wide(m.costs[i])))
		dual.Add(dual, wideEntropy(m.alpha[i], m.costs[i]))
	}
	return primal.Add(primal, half(w)), dual.Sub(dual, half(sums))
}

// Worked by hand: x = 1 with a cost of 3 log 2. The slope w - c/(1 + exp(w)) is 0 at w = log 2, where P is
// (log 2)^2/2 + 3 log(2) log(3/2).
func TestLogisticByHand(t *testing.T) {
	p := problem{loss: Loss{Form: Logistic}, rows: []Row{dense(1)}, y: []float64{1}, costs: []float64{3 * math.Ln2},
		each: 1}
	m := p.begin(1)
	best, _ := m.descend(1e-14, 100, func(Certificate) {})
	want := math.Ln2*math.Ln2/2 + 3*math.Ln2*math.Log(1.5)
	if math.Abs(m.w[0]-math.Ln2) > 1e-7 || math.Abs(best.Primal-want) > 1e-14 || math.Abs(best.Dual-want) > 1e-13 {
		t.Errorf("w %v, %+v, not %v", m.w, best, want)
	}
	if v := m.standing().Violation; v > 1e-7 {
		t.Error("violation", v)
	}
}

// In 1,000 random problems of the logistic loss, the objectives are within their errors and the gap within its bound.
func TestLogisticCertificatesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 5))
	for n := range 1000 {
		p, width := random(r)
		p.loss = Loss{Form: Logistic}
		m, left := p.begin(width), 1+r.IntN(12)
		check := func(c Certificate) {
			if left--; left > 0 {
				return
			}
			primal, dual := m.wideObjectives()
			gap := wideNew().Sub(primal, dual)
			if !near(c.Primal, primal, c.PrimalError) || !near(c.Dual, dual, c.DualError) ||
				gap.Cmp(wide(c.GapUpper)) > 0 {
				t.Fatalf("problem %d: %+v of %v and %v\n%+v", n, c, primal, dual, p)
			}
		}
		if n%2 == 0 {
			m.descend(0, left, check)
			continue
		}
		for left > 0 {
			check(m.certify())
			m.round()
		}
	}
}

// near reports whether a float64 is no further from a wide number than a bound.
func near(v float64, want *big.Float, bound float64) bool {
	off := wideNew().Sub(wide(v), want)
	return bound-bound == 0 && off.Abs(off).Cmp(wide(bound)) <= 0
}

// A gap of 1e-9 is proved in few rounds on data of one scale.
func TestDescentOfLogistic(t *testing.T) {
	most := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		p, width := random(r)
		p.loss = Loss{Form: Logistic}
		for i := range p.rows {
			for j := range p.rows[i].Values {
				p.rows[i].Values[j] = float32(r.NormFloat64())
			}
			p.rows[i].Bias = min(1, p.rows[i].Bias)
		}
		best, rounds := p.begin(width).descend(1e-9, 400, func(Certificate) {})
		if best.Relative() > 1e-9 {
			t.Errorf("seed %d, costs %g: after %d rounds a gap of %g", seed, p.costs[0], rounds, best.Relative())
		}
		most = max(most, rounds)
	}
	t.Log("rounds at most", most)
}

// Ascend finds where the slope of the dual along one coefficient is 0, whatever the scales and wherever it begins.
func TestAscendLogistic(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	l := Loss{Form: Logistic}
	for range 5000 {
		cost, square := math.Ldexp(1, r.IntN(30)-15), math.Ldexp(r.Float64(), r.IntN(30)-15)
		alpha, short := cost*(2*r.Float64()-0.5), math.Ldexp(r.NormFloat64(), r.IntN(8))
		best := l.Ascend(alpha, short, square, cost)
		if !(best >= 0 && best <= cost) {
			t.Fatalf("%v is not allowed", best)
		}
		moved := short - square*(best-alpha)
		if v := l.Violation(best, moved, cost); v > 1e-9+1e-13*square*cost {
			t.Fatalf("from %v, short %v, square %v, cost %v: %v is off by %v", alpha, short, square, cost, best,
				v)
		}
	}
}

// The dual of the logistic loss never falls, but for rounding, whatever the blocks, and the gap closes.
func TestLogisticAscends(t *testing.T) {
	for seed := range uint64(40) {
		p, width := plain(seed)
		p.loss, p.goals = Loss{Form: Logistic}, nil
		for i := range p.costs {
			p.costs[i] = 1
			p.y[i] = float64(2*(i%2) - 1)
		}
		for _, each := range []int{len(p.rows), 5, 1} {
			p.each = each
			m := p.begin(width)
			c, rounds := m.certify(), 0
			for ; rounds < 5000 && c.Relative() > 1e-6; rounds++ {
				m.round()
				after := m.certify()
				if after.Dual+after.DualError < c.Dual-c.DualError {
					t.Fatalf("seed %d: the dual fell from %v to %v", seed, c.Dual, after.Dual)
				}
				c = after
			}
			if c.Relative() > 1e-6 {
				t.Errorf("seed %d, blocks of %d: after %d rounds a gap of %g", seed, each, rounds, c.Relative())
			}
		}
	}
}
