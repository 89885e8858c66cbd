package fmath

import (
	"flag"
	"math"
	"math/big"
	"testing"
)

// The figures in the doc comments come from -fmath.samples=2000000.
var samples = flag.Int("fmath.samples", defaultSamples, "random arguments per function compared with math/big")

// TestOracle checks the oracle against facts found another way.
func TestOracle(t *testing.T) {
	near := func(name string, got, want *big.Float) {
		t.Helper()
		d := bfNew().Sub(got, want)
		if d.Sign() != 0 && d.MantExp(nil) > want.MantExp(nil)-240 {
			t.Errorf("%s: %v and %v differ by 2^%d", name, got, want, d.MantExp(nil))
		}
	}
	near("ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749)", bigLn2,
		machin([]machinTerm{{18, 26}, {-2, 4801}, {8, 8749}}, +1))
	near("pi = 16 atan(1/5) - 4 atan(1/239)", bigPi,
		machin([]machinTerm{{16, 5}, {-4, 239}}, -1))
	near("exp(log 3)", bigExp(bigLog(3)), bf(3))
	near("log 2", bigLog(2), bigLn2)
	near("log(1+2^-52) e", bigExp(bigLog(1+0x1p-52)), bf(1+0x1p-52))
	s, c := bigSincospi(1.0 / 4)
	near("sin = cos at 1/4", s, c)
	s, c = bigSincospi(0.3125)
	near("sin^2 + cos^2", bfNew().Add(bfNew().Mul(s, s), bfNew().Mul(c, c)), bf(1))
	e := bigExp(bf(1.5))
	inv := bfNew().Quo(bf(1), e)
	near("tanh 1.5", bigTanh(1.5), bfNew().Quo(bfNew().Sub(e, inv), bfNew().Add(e, inv)))
}

type machinTerm struct{ factor, over float64 }

// machin sums factor*atan(1/over) (sign -1) or factor*atanh(1/over) (sign +1).
func machin(terms []machinTerm, sign int) *big.Float {
	total := bfNew()
	for _, m := range terms {
		power := bfNew().Quo(bf(m.factor), bf(m.over))
		sq := bf(m.over * m.over)
		for k := 0; k < 160; k++ {
			term := bfNew().Quo(power, bf(float64(2*k+1)))
			if sign < 0 && k&1 == 1 {
				term.Neg(term)
			}
			total.Add(total, term)
			power.Quo(power, sq)
		}
	}
	return total
}

// worst follows the largest error met.
type worst struct{ ulps, at float64 }

func (w *worst) see(x, got float64, want *big.Float) {
	if u := ulps(got, want); u > w.ulps {
		*w = worst{u, x}
	}
}

// check demands a bound just above the figure in the function's doc comment.
func (w *worst) check(t *testing.T, name string, bound float64) {
	t.Helper()
	t.Logf("%s: at most %.4f ulp, at %v (%x)", name, w.ulps, w.at, w.at)
	if !(w.ulps <= bound) {
		t.Errorf("%s: %.4f ulp at %v (%x), want at most %v", name, w.ulps, w.at, w.at, bound)
	}
}

func TestExpUlps(t *testing.T) {
	t.Parallel()
	var w worst
	see := func(x float64) {
		if x > -1000 && x < 1000 {
			w.see(x, Exp(x), bigExp(bf(x)))
		}
	}
	g := gen(1)
	for range *samples / 4 {
		see(g.uniform(-746, 710))
		see(g.uniform(-1, 1))
		see(g.uniform(-746, -707)) // subnormal results
		see(g.log2uniform(-80, 10))
	}
	for n := -1076; n <= 1025; n++ { // either side of every switch of n
		x := (float64(n) + 0.5) * math.Ln2
		see(math.Nextafter(x, 1000))
		see(x)
		see(math.Nextafter(x, -1000))
		see(float64(n) * math.Ln2)
	}
	for _, x := range neighbors(709.782712893384, -745.1332191019411, -744.4400719213812, -708.3964185322641, 0, 1,
		-1) {
		see(x)
	}
	w.check(t, "Exp", 0.77)
}

func TestLogUlps(t *testing.T) {
	t.Parallel()
	var w worst
	see := func(x float64) {
		if x > 0 && x <= math.MaxFloat64 {
			w.see(x, Log(x), bigLog(x))
		}
	}
	g := gen(2)
	for range *samples / 4 {
		see(math.Abs(math.Float64frombits(g.next())))
		see(g.uniform(0.5, 2))
		see(1 + g.log2uniform(-53, -1)) // near 1, from both sides
		see(float64(g.next() >> (g.next() % 64)))
	}
	for e := -1074; e <= 1023; e += 9 {
		for _, x := range neighbors(math.Ldexp(1, e), math.Ldexp(math.Sqrt2, e)) {
			see(x)
		}
	}
	for _, x := range neighbors(1, math.MaxFloat64, math.E, 0.7071067811865476, 0x1p-1074, 0x1p-1022, 10) {
		see(x)
	}
	w.check(t, "Log", 0.55)
}

func TestSincospiUlps(t *testing.T) {
	t.Parallel()
	var ws, wc worst
	see := func(x float64) {
		s, c := Sincospi(x)
		bs, bc := bigSincospi(x)
		ws.see(x, s, bs)
		wc.see(x, c, bc)
	}
	g := gen(3)
	for range *samples / 4 {
		see(g.uniform(-2, 2))
		see(g.uniform(-0.25, 0.25))
		see(g.log2uniform(-1074, 1023))
		see(g.log2uniform(-10, 53))
	}
	for k := -64; k <= 64; k++ { // quadrant and octant borders, zeros
		for _, x := range neighbors(float64(k)/8, float64(k)*0x1p46+0.25, float64(k)*0x1p52) {
			see(x)
		}
	}
	for _, x := range neighbors(0x1p-1074, 0x1p-1022, 0x1p-500, math.MaxFloat64, 0x1p52, 0x1p53, 1e300) {
		if !math.IsInf(x, 0) {
			see(x)
		}
	}
	ws.check(t, "Sincospi, sine", 0.77)
	wc.check(t, "Sincospi, cosine", 0.77)
}

func TestTanhUlps(t *testing.T) {
	t.Parallel()
	var w worst
	see := func(x float64) {
		if math.Abs(x) < 1000 {
			w.see(x, Tanh(x), bigTanh(x))
		}
	}
	g := gen(4)
	for range *samples / 4 {
		see(g.uniform(-1, 1))
		see(g.uniform(-21, 21))
		see(g.log2uniform(-40, 5))
		see(g.log2uniform(-1074, 5))
	}
	for n := 0; n < 60; n++ { // either side of every switch of n
		for _, x := range neighbors((float64(n)+0.5)*math.Ln2/2, float64(n)*math.Ln2/2) {
			see(x)
		}
	}
	for _, x := range neighbors(0, 0x1p-28, 20, 19.061547465398498, 0x1p-1022) {
		see(x)
	}
	w.check(t, "Tanh", 0.82)
}

// neighbors returns each x with two values on either side, and all their negatives.
func neighbors(xs ...float64) []float64 {
	var out []float64
	for _, x := range xs {
		up, down := math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1))
		for _, y := range []float64{x, up, math.Nextafter(up, math.Inf(1)), down, math.Nextafter(down, math.Inf(-1))} {
			out = append(out, y, -y)
		}
	}
	return out
}
