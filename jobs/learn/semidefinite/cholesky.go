package semidefinite

import (
	"context"
	"math"

	"github.com/gram-compute/gram/kernelops"
)

// factor sets the upper triangle of r to the factor of Cholesky's method for m + shift I, and reports whether the
// method came to its end: whether each pivot was above 0. O(n^3).
func factor(ctx context.Context, r []float64, m matrix, shift float64, ops *kernelops.Set) (bool, error) {
	n := m.n
	for i := range n {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		row := r[i*n+i : (i+1)*n]
		copy(row, m.row(i)[i:])
		row[0] += shift
		for k := range i {
			if above := r[k*n+i : (k+1)*n]; above[0] != 0 {
				ops.AddScaled(row, above, -above[0])
			}
		}
		if !(row[0] > 0) {
			return false, nil
		}
		pivot := math.Sqrt(row[0])
		row[0] = pivot
		for j := 1; j < len(row); j++ {
			row[j] /= pivot
		}
	}
	return true, nil
}

// witness is about the eigenvector of the least eigenvalue of the matrix R'R, by inverse iteration. Its largest value
// is 1, and none that is not 0 is below 2^-200. O(n^2).
func witness(r []float64, n int, ops *kernelops.Set) []float64 {
	v := make([]float64, n)
	for i := range v {
		// Of no pattern that a symmetry of the matrix might have.
		v[i] = 1 + float64(i*618_034%1_000_003)/1_000_003
	}
	for range 4 {
		for k := range v { // R'y = v
			row := r[k*n+k : (k+1)*n]
			v[k] /= row[0]
			ops.AddScaled(v[k+1:], row[1:], -v[k])
		}
		for k := n - 1; k >= 0; k-- { // R v = y
			row := r[k*n+k : (k+1)*n]
			v[k] = (v[k] - dot(row[1:], v[k+1:])) / row[0]
		}
		largest := 0.0
		for _, x := range v {
			largest = max(largest, math.Abs(x))
		}
		for i := range v {
			if v[i] /= largest; !(math.Abs(v[i]) >= 0x1p-200) {
				v[i] = 0
			}
		}
	}
	return v
}
