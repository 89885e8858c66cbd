package semidefinite

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/kernelops"
)

// prove is Prove, with the order of the square.
func prove(t *testing.T, values []float32) Least {
	t.Helper()
	l, err := Prove(t.Context(), values, int(math.Sqrt(float64(len(values)))), kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	if !(l.Low <= l.High) || !(l.Rounding > 0) {
		t.Fatalf("%+v", l)
	}
	return l
}

// Worked by hand: 2 1 1 2 has the eigenvalues 1 and 3, 1 2 2 1 has -1 and 3, and 1 1 1 1 has 0 and 2.
func TestLeastByHand(t *testing.T) {
	for _, c := range []struct {
		values          []float32
		least           float64
		proved, refuted bool
	}{
		{[]float32{4}, 4, true, false},
		{[]float32{-4}, -4, false, true},
		{[]float32{0}, 0, false, false},
		{[]float32{2, 1, 1, 2}, 1, true, false},
		{[]float32{1, 2, 2, 1}, -1, false, true},
		{[]float32{1, 1, 1, 1}, 0, false, false},
		{[]float32{0, 1, 1, 0}, -1, false, true},
		{[]float32{3, 0, 0, 0, 1, 2, 0, 2, 1}, -1, false, true},
		// Rounded to float32, 1 + 2^-23 may have been below 1 + 2^-24.
		{[]float32{1, 1 + 0x1p-23, 1 + 0x1p-23, 1}, -0x1p-23, false, false},
		{[]float32{1, 1 + 0x1p-21, 1 + 0x1p-21, 1}, -0x1p-21, false, true},
	} {
		l := prove(t, c.values)
		if math.Abs(l.Low-c.least) > 3e-14*max(1, math.Abs(c.least)) ||
			math.Abs(l.High-c.least) > 3e-14*max(1, math.Abs(c.least)) {
			t.Errorf("%v: %+v, not %v", c.values, l, c.least)
		}
		if l.Proved() != c.proved || l.Refuted() != c.refuted {
			t.Errorf("%v: %+v: proved %v, refuted %v", c.values, l, l.Proved(), l.Refuted())
		}
	}
}

// hostile are symmetric matrices of order n: of random values, of rank 1 and 2, of copies, of values far apart, near
// the ends of float32, and of one large constant.
func hostile(r *rand.Rand, n int) map[string][]float32 {
	list := map[string][]float32{}
	fill := func(name string, value func(i, j int) float32) {
		k := make([]float32, n*n)
		for i := range n {
			for j := range i + 1 {
				k[i*n+j] = value(i, j)
				k[j*n+i] = k[i*n+j]
			}
		}
		list[name] = k
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = r.NormFloat64(), float64(1+i/2)
	}
	rbf := func(i, j int) float64 { return math.Exp(-(x[i] - x[j]) * (x[i] - x[j])) }
	fill("random", func(int, int) float32 { return float32(r.NormFloat64()) })
	fill("rank 1", func(i, j int) float32 { return float32(x[i] * x[j]) })
	fill("copies", func(i, j int) float32 { return float32(y[i] * y[j]) })
	fill("rbf", func(i, j int) float32 { return float32(rbf(i, j)) })
	fill("far apart", func(i, j int) float32 {
		return float32(math.Pow(10, float64(i+j)*30/float64(n)-30) * rbf(i, j))
	})
	fill("huge", func(i, j int) float32 { return float32(1e38 * rbf(i, j)) })
	fill("denormal", func(i, j int) float32 { return float32(0x1p-140 * rbf(i, j)) })
	fill("far from 0", func(i, j int) float32 { return float32(1e6 + rbf(i, j)) })
	fill("diagonal", func(i, j int) float32 {
		if i == j {
			return float32(i - 1)
		}
		return 0
	})
	fill("zero", func(int, int) float32 { return 0 })
	return list
}

// anyBelow reports whether K - x I has a negative eigenvalue, in exact arithmetic: elimination with the largest
// diagonal value as the pivot.
func anyBelow(values []float32, n int, x float64) bool {
	a := make([][]*big.Rat, n)
	for i := range a {
		a[i] = make([]*big.Rat, n)
		for j := range a[i] {
			a[i][j] = new(big.Rat).SetFloat64(float64(values[i*n+j]))
		}
		a[i][i].Sub(a[i][i], new(big.Rat).SetFloat64(x))
	}
	for ; n > 0; n-- {
		p := 0
		for i := range n {
			if a[i][i].Sign() < 0 {
				return true
			}
			if a[i][i].Cmp(a[p][p]) > 0 {
				p = i
			}
		}
		if a[p][p].Sign() == 0 { // all are 0: no negative eigenvalue only if nothing is left
			for i := range n {
				for j := range n {
					if a[i][j].Sign() != 0 {
						return true
					}
				}
			}
			return false
		}
		a[p], a[n-1] = a[n-1], a[p]
		for i := range n {
			a[i][p], a[i][n-1] = a[i][n-1], a[i][p]
		}
		for i := range n - 1 {
			q := new(big.Rat).Quo(a[i][n-1], a[n-1][n-1])
			for j := range n - 1 {
				a[i][j].Sub(a[i][j], new(big.Rat).Mul(q, a[n-1][j]))
			}
		}
	}
	return false
}

// Both ends of the interval hold in exact arithmetic, and it is as narrow as float64 allows.
func TestIntervalHoldsExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for round := range 9 {
		n := 1 + round
		for name, values := range hostile(r, n) {
			l := prove(t, values)
			if anyBelow(values, n, l.Low) {
				t.Errorf("%s of order %d: an eigenvalue is below %v", name, n, l.Low)
			}
			if !anyBelow(values, n, math.Nextafter(l.High, math.Inf(1))) {
				t.Errorf("%s of order %d: no eigenvalue is at most %v", name, n, l.High)
			}
			largest := 0.0
			for _, v := range values {
				largest = max(largest, math.Abs(float64(v)))
			}
			if l.High-l.Low > 1e-13*float64(n*n)*largest+0x1p-800 {
				t.Errorf("%s of order %d: between %v and %v", name, n, l.Low, l.High)
			}
		}
	}
}

// What is proved is the same to the bit with every kernel set.
func TestProofOfAnyKernelSet(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for name, values := range hostile(r, 61) {
		want := prove(t, values)
		for _, ops := range kernelops.All() {
			got, err := Prove(t.Context(), values, 61, ops)
			if err != nil || got != want {
				t.Errorf("%s, %s: %+v, not %+v, %v", name, ops.Name, got, want, err)
			}
		}
	}
}

// A positive semidefinite matrix in float64 is not refuted after it was rounded to float32.
func TestRoundedMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 20 {
		n, x := 14, make([]float64, 3*14)
		for i := range x {
			x[i] = 1000 * r.NormFloat64()
		}
		k := make([]float32, n*n)
		for i := range n {
			for j := range n {
				k[i*n+j] = float32(x[3*i]*x[3*j] + x[3*i+1]*x[3*j+1] + x[3*i+2]*x[3*j+2])
			}
		}
		l := prove(t, k)
		if l.Refuted() || l.Proved() {
			t.Fatalf("of rank 3: %+v", l)
		}
		if anyBelow(k, n, -l.Shift()) {
			t.Errorf("with %v added to its diagonal, it has a negative eigenvalue", l.Shift())
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Prove(ctx, []float32{1}, 1, kernelops.Best()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Clip(ctx, []float32{1}, 1, kernelops.Best()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
