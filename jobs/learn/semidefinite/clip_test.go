package semidefinite

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/kernelops"
	"gonum.org/v1/gonum/mat"
)

// Worked by hand: 1 2 2 1 is 3/2 1 1 1 1 less 1/2 of 1 -1 -1 1, so that 3/2 3/2 3/2 3/2 is left.
func TestClipByHand(t *testing.T) {
	c, err := Clip(t.Context(), []float32{1, 2, 2, 1}, 2, kernelops.Best())
	if err != nil || c.Negative != 1 {
		t.Fatal(c, err)
	}
	for i, v := range c.Values {
		if math.Abs(float64(v)-1.5) > 1e-6 {
			t.Errorf("value %d is %v, not 3/2", i, v)
		}
	}
	// (1, 0) is (1/2, 1/2) and (1/2, -1/2).
	for i, v := range c.Apply([]float64{1, 0}, kernelops.Best()) {
		if math.Abs(v-0.5) > 1e-15 {
			t.Errorf("value %d of the projection is %v, not 1/2", i, v)
		}
	}
}

// clippedByGonum is the same by another eigensolver.
func clippedByGonum(t *testing.T, values []float32, n int) []float64 {
	t.Helper()
	data := make([]float64, n*n)
	for i, v := range values {
		data[i] = float64(v)
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, data), true) {
		t.Fatal("gonum did not converge")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	clipped := make([]float64, n*n)
	for r, value := range e.Values(nil) {
		for i := range n {
			for j := range n {
				clipped[i*n+j] += max(0, value) * v.At(i, r) * v.At(j, r)
			}
		}
	}
	return clipped
}

// The clipped matrix is that of gonum's eigenvectors, up to float32; it is positive semidefinite up to that, and it is
// the projection of the matrix.
func TestClipAgreesWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for _, n := range []int{1, 2, 5, 24, 60} {
		for name, values := range hostile(r, n) {
			c, err := Clip(t.Context(), values, n, kernelops.Best())
			if err != nil {
				t.Fatalf("%s of order %d: %v", name, n, err)
			}
			largest := 0.0
			for _, v := range values {
				largest = max(largest, math.Abs(float64(v)))
			}
			near := 1e-7*float64(n)*largest + 0x1p-149
			for i, want := range clippedByGonum(t, values, n) {
				if got := float64(c.Values[i]); math.Abs(got-want) > near {
					t.Fatalf("%s of order %d: value %d is %v, not %v", name, n, i, got, want)
				}
				if c.Values[i] != c.Values[i%n*n+i/n] {
					t.Fatalf("%s of order %d: not symmetric at %d", name, n, i)
				}
			}
			if l := prove(t, c.Values); l.Refuted() {
				t.Errorf("%s of order %d: clipped, its least eigenvalue is %+v", name, n, l)
			}
			row := make([]float64, n)
			for j := range row {
				row[j] = float64(values[j])
			}
			for j, got := range c.Apply(row, kernelops.Best()) {
				if math.Abs(got-float64(c.Values[j])) > near {
					t.Errorf("%s of order %d: the projection of row 0 has %v, not %v", name, n, got, c.Values[j])
				}
			}
		}
	}
}

// Clipping is the same to the bit with every kernel set.
func TestClipOfAnyKernelSet(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for name, values := range hostile(r, 47) {
		want, err := Clip(t.Context(), values, 47, kernelops.Best())
		if err != nil {
			t.Fatal(name, err)
		}
		for _, ops := range kernelops.All() {
			got, err := Clip(t.Context(), values, 47, ops)
			if err != nil || !slices.Equal(got.Values, want.Values) || !slices.Equal(got.Onto, want.Onto) {
				t.Errorf("%s, %s: another matrix, %v", name, ops.Name, err)
			}
		}
	}
}
