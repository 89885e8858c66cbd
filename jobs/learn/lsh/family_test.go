package lsh

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, most float64) {
	t.Helper()
	if !(math.Abs(got-want) <= most) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Values of the integrals of the paper, by scipy.integrate.quad; angles of 60 and 180 degrees; a bit of eight.
func TestAgreeByHand(t *testing.T) {
	for _, c := range []struct {
		family Family
		d      float64
		want   float64
	}{
		{Normal, 2, 0.19541710799949344}, {Normal, 1, 0.3687463803725073}, {Normal, 0.25, 0.8005324324285},
		{Cauchy, 2, 0.1531096384579206}, {Cauchy, 1, 0.5 - math.Ln2/math.Pi}, {Cauchy, 0.25, 0.6185817849750286},
		{Hyperplanes, 1, 0.5}, {Hyperplanes, 0.5, 2. / 3}, {Hyperplanes, 2, 0},
		{Bits, 1, 7. / 8}, {Bits, 8, 0},
	} {
		near(t, "a value", c.family.Agree(c.d, 1, 8), c.want, 1e-13)
	}
	for f := Bits; f <= Hyperplanes; f++ {
		near(t, "at 0", f.Agree(0, 1, 8), 1, 0)
	}
}

func TestErf(t *testing.T) {
	for x := 0.0; x < 7; x += 1. / 128 {
		near(t, "erf", erf(x), math.Erf(x), 3e-15)
	}
}

// The formulas are the integral of 2 f(u) (1 - u/s) from 0 to s, f the density.
func TestAgreeIsTheIntegral(t *testing.T) {
	normal := func(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
	cauchy := func(u float64) float64 { return 1 / (math.Pi * (1 + u*u)) }
	for _, s := range []float64{1e-12, 1e-9, 1e-7, 1e-5, 0.9e-3, 1.1e-3, 0.1, 0.99, 1.01, 3, 8, 20} {
		const steps = 20000
		var byNormal, byCauchy float64
		for i := range steps {
			u := s * (float64(i) + 0.5) / steps
			byNormal += 2 * normal(u) * (1 - u/s) * s / steps
			byCauchy += 2 * cauchy(u) * (1 - u/s) * s / steps
		}
		near(t, "normal", agreeNormal(s), byNormal, 1e-6*byNormal)
		near(t, "cauchy", agreeCauchy(s), byCauchy, 1e-6*byCauchy)
	}
}

func TestAgreeFalls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := Family(rapid.IntRange(int(Bits), int(Hyperplanes)).Draw(rt, "family"))
		width := math.Ldexp(1, rapid.IntRange(-90, 90).Draw(rt, "width"))
		d := rapid.Float64Range(0, 1e30).Draw(rt, "d")
		e := rapid.Float64Range(d, 1e30).Draw(rt, "e")
		p, q := f.Agree(d, width, 100), f.Agree(e, width, 100)
		if !(p >= 0 && p <= 1 && q >= 0 && q <= p+1e-12) {
			rt.Fatalf("family %d, width %v: %v at %v, %v at %v", f, width, p, d, q, e)
		}
	})
}

// With p = 1/2, two tables of one hash miss both with probability 1/4; two of two with (3/4)^2.
func TestCurveByHand(t *testing.T) {
	c := Curve{Family: Hyperplanes, Tables: 2, Hashes: 1}
	near(t, "one hash", c.At(1), 0.75, 1e-15)
	c.Hashes = 2
	near(t, "two hashes", c.At(1), 1-9./16, 1e-15)
	near(t, "mean", c.Mean([]float64{1, 0, 2}), (1-9./16+1+0)/3, 1e-15)
}

func TestPower(t *testing.T) {
	for n := range 70 {
		near(t, "a power", power(0.9, n), math.Pow(0.9, float64(n)), 1e-15)
	}
}
