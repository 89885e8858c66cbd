// Package sums adds up rows and lists. The order of additions is part of the result: within a leaf, the order of the
// records; between leaves, from left to right.
package sums

import (
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Of adds two lists element by element. Lists of different lengths are a *protocol.Fault of CodeCorrupt.
func Of[T float64 | int64 | int32 | uint64](left, right []T) ([]T, error) {
	if len(left) != len(right) {
		return nil, jobs.Malformed("partials of %d and %d numbers", len(left), len(right))
	}
	if left == nil {
		return nil, nil // an optional list that neither partial has
	}
	total := make([]T, len(left))
	for i, v := range left {
		total[i] = v + right[i]
	}
	return total, nil
}

// Into adds the list of the right to that of the left, as Of does.
func Into[T float64 | int64 | int32 | uint64](left *[]T, right []T) (err error) {
	*left, err = Of(*left, right)
	return err
}

// Total adds up a list in its order.
func Total[T float64 | int64](list []T) (total T) {
	for _, v := range list {
		total += v
	}
	return total
}

// Rows are the weighted sums of the rows of each class, or of each cluster.
type Rows struct {
	Width  int
	Sums   []float64 // [classes x width]
	Weight []float64 // [classes]: numbers of rows, or their weights
}

// New returns sums without any row: all are 0.
func New(classes, width int) Rows {
	return Rows{width, make([]float64, classes*width), make([]float64, classes)}
}

// Fields lists both arrays, under the names sums and weight.
func (r *Rows) Fields(f *jobs.Fields, sums, weight string) {
	jobs.List(f, weight, &r.Weight)
	f.Dim(sums, 1, &r.Width)
	jobs.List(f, sums, &r.Sums, len(r.Weight), r.Width)
}

// Of returns the sums of a class.
func (r *Rows) Of(class int) []float64 { return r.Sums[class*r.Width : (class+1)*r.Width] }

// AddDense adds each row of x to the sums of its class, in order. If weights is nil, each row weighs 1. The time is
// linear in the values.
func (r *Rows) AddDense(x kernelops.Matrix, class []int32, weights []float32, ops *kernelops.Set) {
	if weights == nil {
		ops.AccumulateRows(r.Sums, x, class)
	}
	for i, y := range class {
		w := r.weigh(y, weights, i)
		if weights == nil {
			continue
		}
		sums := r.Of(int(y))
		for j, v := range x.Row(i) {
			sums[j] += float64(w * float64(v))
		}
	}
}

// AddSparse is AddDense for sparse rows; the time is linear in their entries.
func (r *Rows) AddSparse(x dataset.Sparse, class []int32, weights []float32) {
	for i, y := range class {
		sums, w := r.Of(int(y)), r.weigh(y, weights, i)
		indices, values := x.Row(i)
		for e, j := range indices {
			sums[j] += float64(w * float64(values[e]))
		}
	}
}

// weigh adds the weight of row i to its class, and returns that weight.
func (r *Rows) weigh(class int32, weights []float32, i int) float64 {
	w := 1.0
	if weights != nil {
		w = float64(weights[i])
	}
	r.Weight[class] += w
	return w
}

// Plus returns these sums plus those to the right; it changes neither.
func (r *Rows) Plus(right *Rows) (Rows, error) {
	if r.Width != right.Width || len(r.Weight) != len(right.Weight) {
		return Rows{}, jobs.Malformed("sums of %d x %d and %d x %d", len(r.Weight), r.Width, len(right.Weight),
			right.Width)
	}
	total := Rows{r.Width, slices.Clone(r.Sums), slices.Clone(r.Weight)}
	ops := kernelops.Best() // any kernel set gives the same bits
	ops.Add(total.Sums, right.Sums)
	ops.Add(total.Weight, right.Weight)
	return total, nil
}
