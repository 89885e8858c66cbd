// Package sums adds up rows and lists without rounding, so no order of the records, no shards and no files reach a
// result. A sum is rounded once, when it is read.
package sums

import (
	"math"

	"github.com/gram-compute/gram/jobs"
)

// Of adds two lists of whole numbers element by element. Lists of different lengths are a *protocol.Fault of
// CodeCorrupt.
func Of[T int64 | int32 | uint64](left, right []T) ([]T, error) {
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
func Into[T int64 | int32 | uint64](left *[]T, right []T) (err error) {
	*left, err = Of(*left, right)
	return err
}

// Join adds exact sums of the right to those of the left, as Exact.Plus does.
func Join(left **Exact, right *Exact) (err error) {
	*left, err = (*left).Plus(right)
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
	Sums   *Exact // [classes x width]
	Weight *Exact // [classes]: numbers of rows, or their weights
}

// Fields lists both, under the names sums and weight.
func (r *Rows) Fields(f *jobs.Fields, sums, weight string) {
	jobs.Make(f, &r.Weight).Fields(f, weight)
	f.Int(sums+".width", &r.Width, 0, math.MaxInt32)
	jobs.Make(f, &r.Sums).Fields(f, sums)
	f.Require(r.Sums.Len() == r.Classes()*r.Width, "sums of %d numbers, not of %d x %d", r.Sums.Len(), r.Classes(),
		r.Width)
}

// Clone returns a copy.
func (r *Rows) Clone() *Rows { return &Rows{r.Width, r.Sums.Clone(), r.Weight.Clone()} }

// Classes returns the number of classes.
func (r *Rows) Classes() int { return r.Weight.Len() }

// Mean sets mean to the mean of a class, which weighs more than 0: the exact sum and the exact weight, each rounded,
// and their quotient. That is within 1.5 units in the last place of the exact mean; 2.5 if the weight is no float64.
func (r *Rows) Mean(class int, mean []float64) {
	weight := r.Weight.Float(class)
	for j := range mean {
		mean[j] = r.Sums.Float(class*r.Width+j) / weight
	}
}

// Plus returns these sums plus those to the right; it changes neither.
func (r *Rows) Plus(right *Rows) (*Rows, error) {
	if r.Width != right.Width {
		return nil, jobs.Malformed("sums of rows of %d and %d numbers", r.Width, right.Width)
	}
	weight, err := r.Weight.Plus(right.Weight)
	if err != nil {
		return nil, err
	}
	total, err := r.Sums.Plus(right.Sums)
	return &Rows{r.Width, total, weight}, err
}
