package fmath

import (
	"math"
	"testing"
)

var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	zero = 0.0
	odd  = math.Float64frombits(0xfff8dead0000beef) // a NaN with a sign and a payload
)

// same compares bits, so that -0 is not +0 and a NaN is the one of math.NaN.
func same(t *testing.T, name string, x, got, want float64) {
	t.Helper()
	if math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%s(%v) = %v (%x), want %v", name, x, got, math.Float64bits(got), want)
	}
}

func TestSpecialValues(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
		in   []float64
		want []float64
	}{
		{"Exp", Exp,
			[]float64{nan, odd, inf, -inf, 0, -zero, 709.782712893384, 709.7827128933841, 1e300, -745.1332191019411,
				-745.1332191019412, -1e300, 0x1p-1074},
			[]float64{nan, nan, inf, 0, 1, 1, 1.7976931348622732e308, inf, inf, 0x1p-1074, 0, 0, 1}},
		{"Log", Log,
			[]float64{nan, odd, inf, -inf, 0, -zero, 1, -1, -0x1p-1074, 2, 0x1p1023, 0x1p-1074},
			[]float64{nan, nan, inf, nan, -inf, -inf, 0, nan, nan, math.Ln2, 709.0895657128241, -744.4400719213812}},
		{"Tanh", Tanh,
			[]float64{nan, odd, inf, -inf, 0, math.Copysign(0, -1), 20, -20, 1e300, 0x1p-1074, -0x1p-1022},
			[]float64{nan, nan, 1, -1, 0, math.Copysign(0, -1), 1, -1, 1, 0x1p-1074, -0x1p-1022}},
	} {
		for i, x := range c.in {
			same(t, c.name, x, c.f(x), c.want[i])
		}
	}
}

func TestSincospiSpecialValues(t *testing.T) {
	minus := math.Copysign(0, -1)
	for _, c := range []struct{ x, sin, cos float64 }{
		{nan, nan, nan}, {odd, nan, nan}, {inf, nan, nan}, {-inf, nan, nan},
		{0, 0, 1}, {minus, minus, 1},
		{0.5, 1, 0}, {1, 0, -1}, {1.5, -1, 0}, {2, 0, 1}, {2.5, 1, 0}, {3, 0, -1},
		{-0.5, -1, 0}, {-1, minus, -1}, {-1.5, 1, 0}, {-2, minus, 1},
		{0x1p52, 0, 1}, {0x1p52 + 1, 0, -1}, {0x1p51 + 0.5, 1, 0}, {-0x1p53, minus, 1},
		{math.MaxFloat64, 0, 1}, {-math.MaxFloat64, minus, 1},
		{0x1p-1074, 3 * 0x1p-1074, 1}, // pi times the smallest rounds to 3 of them
	} {
		s, k := Sincospi(c.x)
		same(t, "sinpi", c.x, s, c.sin)
		same(t, "cospi", c.x, k, c.cos)
	}
}

// TestSymmetry holds the identities that are exact by construction.
func TestSymmetry(t *testing.T) {
	g := gen(5)
	for range 20000 {
		x := g.log2uniform(-60, 60)
		same(t, "-Tanh", -x, -Tanh(x), Tanh(-x))
		s, c := Sincospi(x)
		ms, mc := Sincospi(-x)
		same(t, "-sinpi", -x, -s, ms)
		same(t, "cospi", -x, c, mc)
		if y := x + 2; y-2 == x {
			s2, c2 := Sincospi(y)
			if s != 0 { // sin(pi n) takes the sign of n
				same(t, "sinpi, one period on", y, s2, s)
			}
			same(t, "cospi, one period on", y, c2, c)
		}
	}
}

func TestLogSumExp(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, -inf},
		{[]float64{-inf}, -inf},
		{[]float64{-inf, -inf}, -inf},
		{[]float64{inf, 1, -inf}, inf},
		{[]float64{inf, nan}, nan},
		{[]float64{odd}, nan},
		{[]float64{-1000}, -1000},
		{[]float64{-inf, 3}, 3},
		{[]float64{0, 0}, math.Ln2},
		{[]float64{1e308, -1e308}, 1e308},
		{[]float64{-2000, -2000, -2000, -2000}, -2000 + 2*math.Ln2},
	} {
		got := LogSumExp(c.in)
		if math.Float64bits(got) != math.Float64bits(c.want) {
			t.Errorf("LogSumExp(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

// TestLogSumExpOracle compares with the sum in big.Float, within the bound of the doc comment.
func TestLogSumExpOracle(t *testing.T) {
	g := gen(6)
	for range 200 {
		v := make([]float64, 1+g.next()%40)
		sum := bfNew()
		for i := range v {
			v[i] = g.uniform(-700, 700)
			sum.Add(sum, bigExp(bf(v[i])))
		}
		s, _ := sum.Float64() // rounding it moves the log by 2^-53 at most
		want, _ := bigLog(s).Float64()
		bound := (float64(len(v))+2)*0x1p-52 + math.Abs(want)*0x1p-52
		if got := LogSumExp(v); math.Abs(got-want) > bound {
			t.Errorf("LogSumExp of %d: %v, want %v within %v", len(v), got, want, bound)
		}
	}
}

var sink float64

func BenchmarkFunctions(b *testing.B) {
	g := gen(7)
	xs := make([]float64, 1024)
	for i := range xs {
		xs[i] = g.uniform(0.01, 19)
	}
	for _, f := range []struct {
		name string
		f    func(float64) float64
	}{
		{"Exp", Exp}, {"Log", Log}, {"Tanh", Tanh},
		{"Sincospi", func(x float64) float64 { s, c := Sincospi(x); return s + c }},
	} {
		b.Run(f.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				sink = f.f(xs[i%1024])
			}
		})
	}
}
