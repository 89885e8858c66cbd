package smo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// classifier is a linear machine over one or more columns whose rational objectives are known, with computed values
// that are off by up to their errors.
type classifier struct {
	x       [][]float64
	records []Record
	bias    float64
	exact   bool // sums without rounding, but the last one
}

func rational(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func plus(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

// decisions are f, without rounding, of coefficients.
func (c classifier) decisions(alpha []*big.Rat) []*big.Rat {
	f := make([]*big.Rat, len(c.x))
	for i := range f {
		f[i] = new(big.Rat)
	}
	for j := range c.x[0] {
		w := new(big.Rat)
		for i, r := range c.records {
			w.Add(w, times(times(alpha[i], rational(r.Y)), rational(c.x[i][j])))
		}
		for i := range f {
			f[i].Add(f[i], times(w, rational(c.x[i][j])))
		}
	}
	return f
}

func (c classifier) alphas() (alpha []*big.Rat) {
	for _, r := range c.records {
		alpha = append(alpha, rational(r.Alpha))
	}
	return alpha
}

// half is |w|^2/2.
func (c classifier) half(alpha, f []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i, r := range c.records {
		sum.Add(sum, times(times(alpha[i], rational(r.Y)), f[i]))
	}
	return sum.Quo(sum, big.NewRat(2, 1))
}

// objectives are P(w, b), and D of the coefficients whose larger class is scaled down.
func (c classifier) objectives() (primal, dual *big.Rat) {
	alpha := c.alphas()
	f := c.decisions(alpha)
	primal = c.half(alpha, f)
	sums := map[float64]*big.Rat{1: new(big.Rat), -1: new(big.Rat)}
	for i, r := range c.records {
		short := new(big.Rat).Sub(big.NewRat(1, 1), times(rational(r.Y), plus(f[i], rational(c.bias))))
		if short.Sign() > 0 {
			primal.Add(primal, times(rational(r.Cost), short))
		}
		sums[r.Y].Add(sums[r.Y], alpha[i])
	}
	larger := 1.0
	if sums[-1].Cmp(sums[1]) > 0 {
		larger = -1
	}
	dual = new(big.Rat)
	for i, r := range c.records {
		if r.Y == larger && sums[larger].Sign() > 0 {
			alpha[i] = times(alpha[i], new(big.Rat).Quo(sums[-larger], sums[larger]))
		}
		dual.Add(dual, alpha[i])
	}
	return primal, dual.Sub(dual, c.half(alpha, c.decisions(alpha)))
}

// standing adds up the records.
func (c classifier) standing() (s Standing) {
	var sums [7]*big.Rat
	for i, r := range c.records {
		square := new(big.Rat)
		for _, v := range c.x[i] {
			square.Add(square, times(rational(v), rational(v)))
		}
		up, _ := square.Float64()
		s.Add(r, c.bias, math.Nextafter(up, math.Inf(1)))
		for k, v := range r.Terms(c.bias).List() {
			if i == 0 {
				sums[k] = new(big.Rat)
			}
			sums[k].Add(sums[k], rational(v))
		}
	}
	if c.exact {
		var rounded [7]float64
		for k := range sums {
			rounded[k], _ = sums[k].Float64()
		}
		s.Terms, s.Depth = TermsOf(rounded), 0
	}
	return s
}

// families draw records that strain one part of the error each, beside those at random.
const families = 6

// draw makes a classifier of a family.
func draw(r *rand.Rand, family int) (c classifier) {
	n, width := 2+r.IntN(20), 1+r.IntN(3)
	scale := math.Ldexp(1, r.IntN(24)-12)
	c = classifier{exact: r.IntN(2) == 0, bias: r.NormFloat64()}
	for i := range n {
		v := Record{Y: float64(2*r.IntN(2) - 1), Cost: 1 + r.Float64()}
		x := make([]float64, width)
		for j := range x {
			x[j] = float64(float32(scale * r.NormFloat64()))
		}
		v.Alpha = v.Cost * []float64{0, 1, r.Float64()}[r.IntN(3)]
		switch family {
		case 1: // no direction, but for what balances the classes
			x[0], v.Alpha = scale*float64(1+i%2), float64(2-i%2)
			v.Y, v.Cost = float64(1-2*(i%2)), 2
		case 2: // sums that lose all terms but the first two
			c.exact, v.Alpha, v.Y = false, 0x0.fp-52, float64(1-2*(i%2))
			if i < 2 {
				v.Alpha = 1
			}
		case 3: // the same of losses
			c.exact, c.bias, v.Alpha, v.Cost = false, 0, 0, 0x0.fp-53
			if i == 0 {
				v.Cost = 1
			}
		case 4: // the same of squares, of points far away
			c.exact, v.Alpha, x = false, 0x0.fp-53, []float64{0x1p20}
			if v.Y = 1; i == 0 {
				v.Alpha = 1
			}
		case 5: // the larger class is on the wrong side of the other, which is a little smaller
			x, v.Alpha, v.Y = []float64{-64}, 1+0x1p-12, 1
			if v.Cost = 2; i%2 == 1 {
				x, v.Alpha, v.Y = []float64{-96}, 1, -1
			}
		}
		c.x, c.records = append(c.x, x), append(c.records, v)
	}
	if family == 5 && n%2 == 1 {
		c.x, c.records = c.x[:n-1], c.records[:n-1]
	}
	c.perturb(r, family)
	return c
}

// perturb sets the computed values: exact ones that are rounded, or off by the whole error.
func (c classifier) perturb(r *rand.Rand, family int) {
	relative := []float64{0, 1e-3, 1e-9}[r.IntN(3)]
	for i, f := range c.decisions(c.alphas()) {
		v := &c.records[i]
		near, _ := f.Float64()
		v.Value = near
		if family == 0 {
			v.Value += relative * math.Abs(near) * v.Y * []float64{1, 1, -1}[r.IntN(3)]
		}
		off := new(big.Rat).Sub(f, rational(v.Value))
		up, exact := off.Abs(off).Float64()
		if v.Error = up; !exact {
			v.Error = math.Nextafter(up, math.Inf(1))
		}
	}
}

// holds reports whether a certificate is true.
func (c Certificate) holds(primal, dual *big.Rat) bool {
	within := func(v float64, want *big.Rat, bound float64) bool {
		off := new(big.Rat).Sub(rational(v), want)
		return off.Abs(off).Cmp(rational(bound)) <= 0
	}
	gap := new(big.Rat).Sub(primal, dual)
	return within(c.Primal, primal, c.PrimalError) && within(c.Dual, dual, c.DualError) &&
		gap.Cmp(rational(c.GapUpper)) <= 0
}

// In 1,200 problems the objectives are within their errors and the gap is within its bound, as rational numbers have
// them. Without any one part of the errors, some are not.
func TestCertificatesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	var broken [parts]int
	for n := range 1200 {
		c := draw(r, n%families)
		primal, dual := c.objectives()
		s := c.standing()
		if got := Certify(s); !got.holds(primal, dual) || primal.Cmp(dual) < 0 {
			t.Fatalf("problem %d: %+v of %s and %s\n%+v", n, got, primal.FloatString(20), dual.FloatString(20), c)
		}
		for part := range parts {
			e := s.errors()
			if e[part] = 0; !s.certify(e).holds(primal, dual) {
				broken[part]++
			}
		}
	}
	if slices.Contains(broken[:], 0) {
		t.Errorf("problems that need each part of the error: %v", broken)
	}
	t.Log(broken)
}

// Worked by hand: x = 1 and -1, alpha 1/2 each, bias 0. |w|^2 = 1, no loss: 1/2 on both sides. One coefficient more by
// 1/4 is scaled down again; it costs 1/4 of the sum, and moves w = 5/4 by at most 1/4.
func TestCertificateByHand(t *testing.T) {
	var s Standing
	s.Add(Record{Alpha: 0.5, Y: 1, Cost: 1, Value: 1}, 0, 1)
	s.Add(Record{Alpha: 0.5, Y: -1, Cost: 1, Value: -1}, 0, 1)
	c := Certify(s)
	if c.Primal != 0.5 || c.Dual != 0.5 || c.Gap != 0 || !(c.GapUpper < 1e-14) || c.Relative() != c.GapUpper/0.5 {
		t.Errorf("%+v", c)
	}
	s = Standing{}
	s.Add(Record{Alpha: 0.75, Y: 1, Cost: 1, Value: 1.25}, 0, 1)
	s.Add(Record{Alpha: 0.5, Y: -1, Cost: 1, Value: -1.25}, 0, 1)
	want := 0.25 + 1.25*0.25 + 0.25*0.25/2
	if c = Certify(s); c.Dual != 1.25-1.5625/2 || math.Abs(c.DualError-want) > 1e-5 {
		t.Errorf("%+v", c)
	}
	s.Diagonal = math.Inf(1)
	if c = Certify(s); !math.IsInf(c.GapUpper, 1) {
		t.Errorf("%+v", c)
	}
	s.Quadratic = math.NaN()
	if c = Certify(s); !math.IsInf(c.GapUpper, 1) || !math.IsInf(c.Relative(), 1) {
		t.Errorf("%+v", c)
	}
}
