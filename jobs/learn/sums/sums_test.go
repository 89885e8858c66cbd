package sums

import (
	"errors"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func wantCorrupt(t *testing.T, what string, err error) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: %v", what, err)
	}
}

func TestOf(t *testing.T) {
	left := []int64{1, 2}
	if got, err := Of(left, []int64{10, 20}); err != nil || !slices.Equal(got, []int64{11, 22}) || left[0] != 1 {
		t.Errorf("%v, %v; left is %v", got, err, left)
	}
	if got, err := Of[float64](nil, nil); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	_, err := Of([]float64{1}, nil)
	wantCorrupt(t, "two lengths", err)
}

// Rows (1, 2), (3, 4) and (5, 6) of classes 1, 0 and 1, plain and weighing 2, 3 and 0.5; (0, 4) leaves a sparse zero
// out.
func TestRowsByHand(t *testing.T) {
	x := kernelops.Matrix{Data: []float32{1, 2, 3, 4, 5, 6}, Rows: 3, Cols: 2, Stride: 2}
	class, weights := []int32{1, 0, 1}, []float32{2, 3, 0.5}
	for _, ops := range kernelops.All() {
		plain := New(2, 2)
		plain.AddDense(x, class, nil, ops)
		if !slices.Equal(plain.Sums, []float64{3, 4, 6, 8}) || !slices.Equal(plain.Weight, []float64{1, 2}) {
			t.Errorf("plain: %+v", plain)
		}
		weighted := New(2, 2)
		weighted.AddDense(x, class, weights, ops)
		if !slices.Equal(weighted.Sums, []float64{9, 12, 4.5, 7}) || !slices.Equal(weighted.Weight, []float64{3, 2.5}) {
			t.Errorf("weighted: %+v", weighted)
		}
	}
	entries := dataset.Sparse{Width: 2, Indptr: []int{0, 2, 3, 5}, Indices: []int32{0, 1, 1, 0, 1},
		Values: []float32{1, 2, 4, 5, 6}}
	sparse := New(2, 2)
	sparse.AddSparse(entries, class, weights)
	if !slices.Equal(sparse.Sums, []float64{0, 12, 4.5, 7}) || !slices.Equal(sparse.Weight, []float64{3, 2.5}) {
		t.Errorf("sparse: %+v", sparse)
	}
}

// stored is sums as a partial holds them.
type stored struct{ Rows }

func (s *stored) Fields(f *jobs.Fields) { s.Rows.Fields(f, "sums", "weight") }

func TestPlus(t *testing.T) {
	a, b := Rows{2, []float64{1, 2, 3, 4}, []float64{1, 1}}, Rows{2, []float64{10, 20, 30, 40}, []float64{2, 3}}
	back, err := jobs.Read(jobs.ArraysOf(&stored{b}), &stored{})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := a.Plus(&back.Rows)
	if err != nil || !slices.Equal(sum.Sums, []float64{11, 22, 33, 44}) || !slices.Equal(sum.Weight, []float64{3, 4}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if a.Sums[0] != 1 || b.Sums[0] != 10 {
		t.Error("a side changed")
	}
	wide, more := New(2, 3), New(3, 2)
	_, err = a.Plus(&wide)
	wantCorrupt(t, "another width", err)
	_, err = a.Plus(&more)
	wantCorrupt(t, "more classes", err)
}
