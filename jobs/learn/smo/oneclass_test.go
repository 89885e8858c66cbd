package smo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// outlook is a linear one-class machine over some columns whose rational objectives are known.
type outlook struct {
	x        [][]float64
	records  []OneClass
	nu, bias float64
}

// sums are what the coefficients are to add up to, and what the costs and the coefficients do.
func (o outlook) sums() (total, costs, alphas *big.Rat) {
	costs, alphas = new(big.Rat), new(big.Rat)
	for _, r := range o.records {
		costs.Add(costs, rational(r.Cost))
		alphas.Add(alphas, rational(r.Alpha))
	}
	return times(rational(o.nu), costs), costs, alphas
}

func (o outlook) alphas() (list []*big.Rat) {
	for _, r := range o.records {
		list = append(list, rational(r.Alpha))
	}
	return list
}

// feasible are the coefficients with the sum that they are to have, as the certificate makes them.
func (o outlook) feasible() (list []*big.Rat) {
	total, costs, sum := o.sums()
	for _, r := range o.records {
		a := rational(r.Alpha)
		switch sum.Cmp(total) {
		case 1:
			a.Mul(a, new(big.Rat).Quo(total, sum))
		case -1:
			part := new(big.Rat).Quo(new(big.Rat).Sub(total, sum), new(big.Rat).Sub(costs, sum))
			a.Add(a, part.Mul(part, new(big.Rat).Sub(rational(r.Cost), a)))
		}
		list = append(list, a)
	}
	return list
}

// objectives are P(w, rho), and D of the coefficients with their right sum.
func (o outlook) objectives() (primal, dual *big.Rat) {
	g := regressor{x: o.x}
	half := func(alpha, f []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range alpha {
			sum.Add(sum, times(alpha[i], f[i]))
		}
		return sum.Quo(sum, big.NewRat(2, 1))
	}
	f := g.decisions(o.alphas())
	total, _, _ := o.sums()
	primal = plus(half(o.alphas(), f), times(total, rational(o.bias)))
	for i, r := range o.records {
		if short := new(big.Rat).Neg(plus(f[i], rational(o.bias))); short.Sign() > 0 {
			primal.Add(primal, times(rational(r.Cost), short))
		}
	}
	right := o.feasible()
	dual = half(right, g.decisions(right))
	return primal, dual.Neg(dual)
}

// standing adds the records up without rounding, but for the end.
func (o outlook) standing() (s Standing) {
	var sums [7]*big.Rat
	for i, r := range o.records {
		square := new(big.Rat)
		for _, v := range o.x[i] {
			square.Add(square, times(rational(v), rational(v)))
		}
		up, _ := square.Float64()
		s.Diagonal = max(s.Diagonal, math.Nextafter(up, math.Inf(1)))
		for k, v := range r.Terms(o.bias).List() {
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

// drawOutlook makes a machine: coefficients whose sum is right but for rounding, or off by more; records far from zero,
// at the boundary, with weights of very different size.
func drawOutlook(r *rand.Rand) (o outlook) {
	n, width, scale := 2+r.IntN(10), 1+r.IntN(3), math.Ldexp(1, r.IntN(24)-12)
	offset := []float64{0, 100, 1e6}[r.IntN(3)] * scale
	whole := r.IntN(4) == 0 // small integers, whose products and sums are exact
	costs, sum := 0.0, 0.0
	for range n {
		x := make([]float64, width)
		for j := range x {
			if x[j] = float64(float32(offset + scale*r.NormFloat64())); whole {
				x[j] = float64(r.IntN(9))
			}
		}
		v := OneClass{Cost: []float64{1, 1, r.Float64(), 1e-9, 1e6}[r.IntN(5)]}
		v.Alpha = v.Cost * []float64{0, 1, r.Float64()}[r.IntN(3)]
		if whole {
			v = OneClass{Cost: 1, Alpha: float64(r.IntN(9)) / 8}
		}
		o.x, o.records = append(o.x, x), append(o.records, v)
		costs, sum = costs+v.Cost, sum+v.Alpha
	}
	o.nu = min(1, max(1e-3, sum/costs)*(1+[]float64{0, 0x1p-52, 1e-9, -1e-9, 1e-3}[r.IntN(5)]))
	for i, f := range (regressor{x: o.x}).decisions(o.alphas()) {
		v := &o.records[i]
		near, _ := f.Float64()
		v.Value = near + float64([]float64{0, 1e-3, -1e-9}[r.IntN(3)]*near)
		if whole {
			v.Value = near
		}
		off, exact := abs(new(big.Rat).Sub(f, rational(v.Value))).Float64()
		if v.Error = off; !exact {
			v.Error = math.Nextafter(off, math.Inf(1))
		}
		if i == 0 || r.IntN(n) == 0 { // the boundary goes through it, as computed
			o.bias = -v.Value
		}
	}
	return o
}

// In 1,200 problems the objectives of one class are within their errors, and the gap is within its bound. Without the
// errors of values, of the sum of the coefficients, of rho or of losses, some are not.
func TestCertificatesOfOneClassHold(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	needed := map[int]int{offQuadratic: 0, offLoss: 0, roundedLift: 0, unbalancedCross: 0}
	for n := range 1200 {
		o := drawOutlook(r)
		primal, dual := o.objectives()
		s := o.standing()
		if got := CertifyOneClass(s, o.nu, o.bias); !got.holds(primal, dual) || primal.Cmp(dual) < 0 {
			t.Fatalf("problem %d: %+v of %s and %s\n%+v", n, got, primal.FloatString(20), dual.FloatString(20), o)
		}
		for part := range needed {
			e := s.errorsOneClass(o.nu, o.bias)
			if e[part] = 0; !s.certifyOneClass(o.nu, o.bias, e).holds(primal, dual) {
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

// Worked by hand: x = 1, 2 and 4 with nu = 1/2: coefficients 1, 1/2 and 0, so w = 2, rho = 4 and both objectives are
// -2. The gap is a part of their magnitude.
func TestCertificateOfOneClassByHand(t *testing.T) {
	o := outlook{x: [][]float64{{1}, {2}, {4}}, nu: 0.5, bias: -4, records: []OneClass{{Alpha: 1, Cost: 1, Value: 2},
		{Alpha: 0.5, Cost: 1, Value: 4}, {Cost: 1, Value: 8}}}
	c := CertifyOneClass(o.standing(), o.nu, o.bias)
	if c.Primal != -2 || c.Dual != -2 || !(c.Relative() < 1e-13) {
		t.Errorf("%+v, %v", c, c.Relative())
	}
	if r := (Certificate{Primal: -2, PrimalError: 1, GapUpper: 0.25}).Relative(); r != 0.25 {
		t.Errorf("relative %v, not 0.25", r)
	}
	if r := (Certificate{Primal: -2, PrimalError: 2, GapUpper: 0.3}).Relative(); !math.IsInf(r, 1) {
		t.Errorf("relative %v of what may be 0", r)
	}
}
