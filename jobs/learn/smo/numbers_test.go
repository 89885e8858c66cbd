package smo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// regressor is a linear machine of numbers over some columns whose rational objectives are known.
type regressor struct {
	x       [][]float64
	numbers []Number
	bias    float64
}

// decisions are f, without rounding, of betas.
func (g regressor) decisions(beta []*big.Rat) []*big.Rat {
	f := make([]*big.Rat, len(g.x))
	for i := range f {
		f[i] = new(big.Rat)
	}
	for j := range g.x[0] {
		w := new(big.Rat)
		for i := range beta {
			w.Add(w, times(beta[i], rational(g.x[i][j])))
		}
		for i := range f {
			f[i].Add(f[i], times(w, rational(g.x[i][j])))
		}
	}
	return f
}

func abs(v *big.Rat) *big.Rat { return new(big.Rat).Abs(v) }

// objectives are P(w, b), and D of the betas whose larger side is scaled down.
func (g regressor) objectives() (primal, dual *big.Rat) {
	beta, sums := make([]*big.Rat, len(g.x)), map[bool]*big.Rat{true: new(big.Rat), false: new(big.Rat)}
	for i, r := range g.numbers {
		beta[i] = rational(r.Beta)
		sums[r.Beta > 0].Add(sums[r.Beta > 0], abs(beta[i]))
	}
	half := func(beta, f []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range beta {
			sum.Add(sum, times(beta[i], f[i]))
		}
		return sum.Quo(sum, big.NewRat(2, 1))
	}
	f := g.decisions(beta)
	primal, dual = half(beta, f), new(big.Rat)
	larger := sums[true].Cmp(sums[false]) > 0
	for i, r := range g.numbers {
		off := new(big.Rat).Sub(rational(r.Target), plus(f[i], rational(g.bias)))
		if beyond := off.Sub(abs(off), rational(r.Epsilon)); beyond.Sign() > 0 {
			primal.Add(primal, times(rational(r.Cost), beyond))
		}
		if (r.Beta > 0) == larger && sums[larger].Sign() > 0 {
			beta[i] = times(beta[i], new(big.Rat).Quo(sums[!larger], sums[larger]))
		}
		dual.Add(dual, new(big.Rat).Sub(times(rational(r.Target), beta[i]), times(rational(r.Epsilon), abs(beta[i]))))
	}
	return primal, dual.Sub(dual, half(beta, g.decisions(beta)))
}

// standing adds the numbers up without rounding, but the last one.
func (g regressor) standing() (s Standing) {
	var sums [7]*big.Rat
	for i, r := range g.numbers {
		square := new(big.Rat)
		for _, v := range g.x[i] {
			square.Add(square, times(rational(v), rational(v)))
		}
		if up, _ := square.Float64(); r.Beta != 0 {
			s.Diagonal = max(s.Diagonal, math.Nextafter(up, math.Inf(1)))
			s.Rate = max(s.Rate, math.Abs(r.Target)+r.Epsilon)
		}
		for k, v := range r.Terms(g.bias).List() {
			if i == 0 {
				sums[k] = new(big.Rat)
			}
			sums[k].Add(sums[k], rational(v))
		}
	}
	var rounded [7]float64
	for k := range sums {
		rounded[k], _ = sums[k].Float64()
	}
	s.Terms = TermsOf(rounded)
	return s
}

// drawNumbers makes a regressor: betas that balance or not, targets far from zero, records on the edge of the tube.
func drawNumbers(r *rand.Rand) (g regressor) {
	n, width, scale := 2+r.IntN(20), 1+r.IntN(3), math.Ldexp(1, r.IntN(24)-12)
	epsilon, offset := []float64{0, r.Float64(), 0x1p-20}[r.IntN(3)], []float64{0, 1e6, -1e9}[r.IntN(3)]
	g.bias = offset + r.NormFloat64()
	beta := make([]*big.Rat, n)
	for i := range n {
		x := make([]float64, width)
		for j := range x {
			x[j] = float64(float32(scale * r.NormFloat64()))
		}
		v := Number{Cost: 1 + r.Float64(), Epsilon: epsilon, Target: offset + r.NormFloat64()}
		v.Beta = v.Cost * []float64{0, 1, -1, r.Float64(), -r.Float64()}[r.IntN(5)]
		if i%2 == 1 && r.IntN(2) == 0 {
			v.Beta = -g.numbers[i-1].Beta
			v.Cost = g.numbers[i-1].Cost
		}
		g.x, g.numbers, beta[i] = append(g.x, x), append(g.numbers, v), rational(v.Beta)
	}
	for i, f := range g.decisions(beta) {
		v := &g.numbers[i]
		near, _ := f.Float64()
		v.Value = near + float64([]float64{0, 1e-3, -1e-9}[r.IntN(3)]*near)
		off, exact := abs(new(big.Rat).Sub(f, rational(v.Value))).Float64()
		if v.Error = off; !exact {
			v.Error = math.Nextafter(off, math.Inf(1))
		}
		if r.IntN(4) == 0 { // on the edge, as computed
			v.Target = v.Value + g.bias + math.Copysign(epsilon, v.Beta)
		}
	}
	return g
}

// In 1,200 problems the objectives of numbers are within their errors, and the gap is within its bound. Without the
// errors of values, of the balance or of losses, some are not.
func TestCertificatesOfNumbersHold(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	needed := map[int]int{offQuadratic: 0, offLoss: 0, unbalanced: 0, unbalancedCross: 0}
	for n := range 1200 {
		g := drawNumbers(r)
		primal, dual := g.objectives()
		s := g.standing()
		if got := Certify(s); !got.holds(primal, dual) || primal.Cmp(dual) < 0 {
			t.Fatalf("problem %d: %+v of %s and %s\n%+v", n, got, primal.FloatString(20), dual.FloatString(20), g)
		}
		for part := range needed {
			e := s.errors()
			if e[part] = 0; !s.certify(e).holds(primal, dual) {
				needed[part]++
			}
		}
	}
	for part, n := range needed {
		if n == 0 {
			t.Errorf("no problem needs part %d of the error", part)
		}
	}
	t.Log(needed)
}

// Worked by hand: x = 1 and -1, targets 1 and -1, epsilon 1/2, betas 1/4 and -1/4, bias 0: |w|^2 = 1/4 and no loss, so
// 1/8 on both sides.
func TestCertificateOfNumbersByHand(t *testing.T) {
	g := regressor{x: [][]float64{{1}, {-1}}, numbers: []Number{
		{Beta: 0.25, Cost: 1, Target: 1, Epsilon: 0.5, Value: 0.5},
		{Beta: -0.25, Cost: 1, Target: -1, Epsilon: 0.5, Value: -0.5}}}
	if c := Certify(g.standing()); c.Primal != 0.125 || c.Dual != 0.125 || !(c.Relative() < 1e-14) {
		t.Errorf("%+v", c)
	}
}
