package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// decision is one of a known side.
type decision struct{ f, y, weight float64 }

func fit(list []decision) (f Fit, rounds int) {
	for !f.Done() {
		var sums [Sums]float64
		for _, d := range list {
			for i, v := range f.Terms(d.f, d.y, d.weight) {
				sums[i] += v
			}
		}
		f = FitOf(f.Next(sums).List())
		rounds++
	}
	return f, rounds
}

// loss is the negative log likelihood.
func loss(s Sigmoid, list []decision) (sum float64) {
	var plus, minus float64
	for _, d := range list {
		if d.y > 0 {
			plus += d.weight
		} else {
			minus += d.weight
		}
	}
	for _, d := range list {
		target := 1 / (minus + 2)
		if d.y > 0 {
			target = (plus + 1) / (plus + 2)
		}
		t := s.A*d.f + s.B
		sum += d.weight * (target*t + math.Log1p(math.Exp(-t)))
	}
	return sum
}

// Worked by hand: decisions of 1 and -1 of their sides, as many of each: B is 0, and the probability of +1 at 1 is the
// target (n+1)/(n+2): 3/4 of two. Decisions that are all 0 leave B at log((minus+1)/(plus+1)).
func TestSigmoidByHand(t *testing.T) {
	f, _ := fit([]decision{{1, 1, 1}, {-1, -1, 1}, {1, 1, 1}, {-1, -1, 1}})
	if minus, plus := f.Probabilities(1); math.Abs(f.B) > 1e-12 || math.Abs(plus-0.75) > 1e-5 || minus+plus != 1 {
		t.Errorf("%+v: %v", f.Sigmoid, plus)
	}
	f, _ = fit([]decision{{0, 1, 1}, {0, 1, 1}, {0, -1, 1}})
	if f.A != 0 || math.Abs(f.B-math.Log(2.0/3)) > 0.2 {
		t.Errorf("%+v", f.Sigmoid)
	}
	if f, _ := fit(nil); f.A != 0 || f.B != 0 {
		t.Errorf("of no decisions: %+v", f.Sigmoid)
	}
}

// A fit is a minimum: no neighbor is lower. A weight of 2 is as two decisions. Of very large and of separable decisions
// it ends, too.
func TestSigmoidIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 99))
	for n := range 200 {
		scale, shift := math.Ldexp(1, r.IntN(30)-10), r.NormFloat64()
		var list, twice []decision
		for range 2 + r.IntN(60) {
			y := float64(1 - 2*r.IntN(2))
			d := decision{scale * (y*float64(n%3) + shift + r.NormFloat64()), y, float64(1 + r.IntN(2))}
			list = append(list, d)
			twice = append(twice, slices.Repeat([]decision{{d.f, d.y, 1}}, int(d.weight))...)
		}
		f, rounds := fit(list)
		best := loss(f.Sigmoid, list)
		for range 20 {
			s := Sigmoid{f.A + 1e-3/scale*r.NormFloat64(), f.B + 1e-3*r.NormFloat64()}
			if got := loss(s, list); got < best-1e-6*math.Abs(best) {
				t.Fatalf("problem %d, %d rounds: %+v has %v, %+v has %v", n, rounds, f.Sigmoid, best, s, got)
			}
		}
		if g, _ := fit(twice); math.Abs(loss(g.Sigmoid, list)-best) > 1e-6*best {
			t.Errorf("problem %d: %+v, twice %+v", n, f.Sigmoid, g.Sigmoid)
		}
		if rounds > 90 {
			t.Errorf("problem %d: %d rounds", n, rounds)
		}
	}
}

func TestProbabilitiesAreMonotone(t *testing.T) {
	s, last := Sigmoid{-2, 0.5}, 0.0
	for f := -500.0; f < 500; f += 0.37 {
		minus, plus := s.Probabilities(f)
		if plus < last || math.Abs(minus+plus-1) > 1e-15 || !(minus >= 0) {
			t.Fatalf("at %v: %v and %v after %v", f, minus, plus, last)
		}
		last = plus
	}
}

// Worked by hand: pairs that come of probabilities, P_ij = p_i/(p_i + p_j), have these back.
func TestCouplingByHand(t *testing.T) {
	want := []float64{0.5, 0.3, 0.15, 0.05}
	p, got := NewPairs(4), make([]float64, 4)
	for i := range 4 {
		for j := i + 1; j < 4; j++ {
			p.Set(i, j, want[i]/(want[i]+want[j]), want[j]/(want[i]+want[j]))
		}
	}
	p.Couple(got)
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-7 {
			t.Errorf("class %d: %v, not %v", i, v, want[i])
		}
	}
}

// In random problems the probabilities are above 0, add up to 1, and are where the gradient of the objective is the
// same for all classes (the conditions of the paper, (21)).
func TestCoupling(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 99))
	for range 300 {
		n := 2 + r.IntN(12)
		p, got := NewPairs(n), make([]float64, n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				v := math.Pow(r.Float64(), float64(1+r.IntN(20)))
				p.Set(i, j, v, 1-v)
			}
		}
		p.Couple(got)
		sum, gradients := 0.0, make([]float64, n)
		for i, v := range got {
			sum += v
			for j, other := range got {
				if j != i {
					gradients[i] += p.P[j*n+i] * (p.P[j*n+i]*v - p.P[i*n+j]*other)
				}
			}
			if !(v >= 0) {
				t.Fatalf("%v", got)
			}
		}
		if math.Abs(sum-1) > 1e-12 || slices.Max(gradients)-slices.Min(gradients) > 1e-6 {
			t.Fatalf("%v add up to %v, gradients %v", got, sum, gradients)
		}
	}
}
