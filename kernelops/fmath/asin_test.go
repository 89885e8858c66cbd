package fmath

import (
	"math"
	"math/big"
	"testing"
)

// bigAsin returns asin(x) for |x| <= 1 by Newton's iteration on the sine, beyond 1/2 by pi/2 - 2 asin(sqrt((1-x)/2)).
func bigAsin(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		y := bigAsin(bfNew().Neg(x))
		return y.Neg(y)
	}
	if x.Cmp(bf(0.5)) > 0 {
		half := bfNew().Sub(bf(1), x)
		half.Quo(half, bf(2))
		y := bfNew().Quo(bigPi, bf(2))
		part := bigAsin(bfNew().Sqrt(half))
		return y.Sub(y, part.Add(part, part))
	}
	start, _ := x.Float64()
	y := bf(math.Asin(start))
	for range 3 {
		sin, cos := bigTaylorSinCos(y)
		y.Sub(y, sin.Quo(sin.Sub(sin, x), cos))
	}
	return y
}

func TestAsinUlps(t *testing.T) {
	t.Parallel()
	var w worst
	see := func(x float64) { w.see(x, Asin(x), bigAsin(bf(x))) }
	g := gen(9)
	for range *samples / 16 {
		see(g.uniform(-0.5, 0.5))
		see(g.uniform(-1, 1))
		see(1 - math.Abs(g.log2uniform(-53, -1)))
		see(g.log2uniform(-80, -1))
	}
	for _, x := range neighbors(0.5, -0.5, 0.25, 0x1p-1022, math.Sqrt2/2) {
		see(x)
	}
	for _, x := range []float64{1, -1, math.Nextafter(1, 0), 0x1p-1074} {
		see(x)
	}
	w.check(t, "Asin", 0.8)
}

func TestAsinSpecialValues(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 1: math.Pi / 2, -1: -math.Pi / 2, inf: nan, -inf: nan,
		math.Nextafter(1, 2): nan, -1.5: nan} {
		same(t, "Asin", x, Asin(x), want)
	}
	same(t, "Asin", odd, Asin(odd), nan)
	same(t, "Asin", math.Copysign(0, -1), Asin(math.Copysign(0, -1)), math.Copysign(0, -1))
}

// The sum of the bits over a walk through the domain: the same on every machine.
func TestAsinDigest(t *testing.T) {
	const want = 0x832c1be65882a1d8
	g, sum := gen(2027), uint64(0)
	for range 100_000 {
		sum = sum*0x9e3779b97f4a7c15 + math.Float64bits(Asin(g.uniform(-1, 1)))
	}
	if sum != want {
		t.Errorf("%#x, want %#x", sum, uint64(want))
	}
}
