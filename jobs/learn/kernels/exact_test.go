package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/kernelops"
)

func float(v float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(v) }

func mul(a, b *big.Float) *big.Float { return float(0).Mul(a, b) }

// expOf is exp(t) by its series, after the argument is halved until it is below 2^-20.
func expOf(t *big.Float) *big.Float {
	halvings := max(0, t.MantExp(nil)+20)
	small := float(0).SetMantExp(t, -halvings)
	sum, term := float(1), float(1)
	for n := range 20 {
		term = float(0).Quo(mul(term, small), float(float64(n+1)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	return sum
}

// exactValue is the kernel with hundreds of digits.
func exactValue(k kernelops.Kernel, x, y []float32) *big.Float {
	product, square := float(0), float(0)
	for j := range x {
		a, b := float(float64(x[j])), float(float64(y[j]))
		product.Add(product, mul(a, b))
		d := float(0).Sub(a, b)
		square.Add(square, mul(d, d))
	}
	t := float(0).Add(mul(float(float64(k.Scale)), product), float(float64(k.Offset)))
	switch k.Kind {
	case kernelops.Linear:
		return product
	case kernelops.RBF:
		return expOf(mul(float(-float64(k.Scale)), square))
	case kernelops.Sigmoid:
		e := expOf(mul(float(2), t))
		return float(0).Quo(float(0).Sub(e, float(1)), float(0).Add(e, float(1)))
	}
	value := float(1)
	for range k.Degree {
		value = mul(value, t)
	}
	return value
}

func TestExactByHand(t *testing.T) {
	x, y := []float32{1, 2}, []float32{3, -1}
	for k, want := range map[kernelops.Kernel]float64{
		{}: 1, {Kind: kernelops.Polynomial, Scale: 2, Offset: 1, Degree: 3}: 27,
		{Kind: kernelops.RBF, Scale: 0.25}:               math.Exp(-3.25),
		{Kind: kernelops.Sigmoid, Scale: 0.5, Offset: 1}: math.Tanh(1.5),
	} {
		var values [1]float64
		e := ExactRows{Exact: Exact{k}, Ops: kernelops.Best()}
		e.Values(values[:], x, kernelops.Matrix{Data: y, Rows: 1, Cols: 2, Stride: 2})
		if got := e.Value(x, y); math.Abs(got-want) > 1e-15*want || values[0] != got || e.Value(y, x) != got {
			t.Errorf("%s: %v, not %v", Text(k), got, want)
		}
	}
}

// Values are within their errors of exact ones, and exact ones within their magnitude, for rows near each other, far
// from zero and of very different scale. Errors met are not far below their bounds.
func TestExactErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var closest [4]float64
	for n := range 2000 {
		width, offset, scale := 1+r.IntN(50), []float64{0, 1e4, 1e7}[r.IntN(3)], math.Ldexp(1, r.IntN(20)-10)
		x, y := make([]float32, width), make([]float32, width)
		for j := range x {
			s := math.Ldexp(scale, r.IntN(8))
			x[j] = float32(s * (r.NormFloat64() + offset))
			y[j] = float32(s * (r.NormFloat64() + offset))
			if n%3 == 0 {
				y[j] = x[j] * float32(1-2*(j%2)) * float32(1+r.IntN(2)) // of a product near 0
			}
		}
		square := squareOfDifference(x, y)
		norms := productOf(x, x) + productOf(y, y)
		for kind := range kernelops.KernelKind(4) {
			k := kernelops.Kernel{Kind: kind, Degree: 1 + r.IntN(5), Offset: float32(r.NormFloat64())}
			if k.Scale = float32(r.ExpFloat64() / norms); kind == kernelops.RBF {
				k.Scale = float32(r.ExpFloat64() / max(square, 1e-30))
			}
			e := Exact{k}
			want := exactValue(k, x, y)
			off := float(0).Sub(float(e.Value(x, y)), want)
			bound := e.Error(width, e.Norm(x), e.Norm(y))
			if off.Abs(off).Cmp(float(bound)) > 0 ||
				want.Abs(want).Cmp(float(e.Magnitude(e.Norm(x), e.Norm(y)))) > 0 {
				t.Fatalf("%s of %v and %v: off by %v, more than %v", Text(k), x, y, off, bound)
			}
			part, _ := float(0).Quo(off, float(bound)).Float64()
			closest[kind] = max(closest[kind], part)
		}
	}
	for kind, part := range closest {
		if part < 0.01 {
			t.Errorf("kernel %d: errors are up to %v of their bounds", kind, part)
		}
	}
	t.Log(closest)
}

func TestExactBeyondFloat64(t *testing.T) {
	e := Exact{kernelops.Kernel{Kind: kernelops.Polynomial, Scale: 1e30, Degree: 64}}
	if !math.IsInf(e.Error(1, 1e30, 1e30), 1) || !math.IsInf(e.Magnitude(1e30, 1e30), 1) {
		t.Error(e.Error(1, 1e30, 1e30))
	}
}

// Values of many rows are those of each, to the bit, by every kernel set.
func TestExactRows(t *testing.T) {
	x := kernelops.NewMatrix(9, 37)
	for i := range x.Data {
		x.Data[i] = float32(math.Sin(float64(i*i))) * 100
	}
	dst := make([]float64, x.Rows)
	for _, set := range kernelops.All() {
		for _, k := range []kernelops.Kernel{{}, {Kind: kernelops.RBF, Scale: 1e-5},
			{Kind: kernelops.Polynomial, Scale: 0.5, Offset: 1, Degree: 3}} {
			e := ExactRows{Exact: Exact{k}, Ops: set}
			e.Values(dst, x.Row(3), x)
			for i, got := range dst {
				if want := e.Value(x.Row(3), x.Row(i)); got != want {
					t.Errorf("%s, %s, row %d: %v, not %v", set.Name, Text(k), i, got, want)
				}
			}
		}
	}
}

func BenchmarkExact(b *testing.B) {
	x := kernelops.NewMatrix(256, 784)
	for i := range x.Data {
		x.Data[i] = float32(i % 17)
	}
	dst := make([]float64, 256)
	for _, k := range []kernelops.Kernel{{}, {Kind: kernelops.RBF, Scale: 1e-5}} {
		b.Run(Text(k), func(b *testing.B) {
			e := ExactRows{Exact: Exact{k}, Ops: kernelops.Best()}
			for b.Loop() {
				e.Values(dst, x.Row(0), x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x.Data)), "ns/value")
		})
	}
}
