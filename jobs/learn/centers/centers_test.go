package centers_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/learn/centers"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Rows at 0, 1, 10 and 11 in two clusters have the centers 0.5 and 10.5. Two equal rows have one center, and four rows
// at most four, if more clusters are asked for.
func TestCentersByHand(t *testing.T) {
	var draws []sampling.Draw
	for i, x := range []float32{0, 10, 1, 11} {
		draws = append(draws, sampling.Draw{ID: dataset.Identity{Offset: int64(i)}, Row: []float32{x}})
	}
	for seed := range uint64(5) {
		key := philox.New(seed, "centers")
		got := centers.Of(draws, 2, key)
		slices.Sort(got)
		if !slices.Equal(got, []float32{0.5, 10.5}) {
			t.Errorf("seed %d: centers %v", seed, got)
		}
		if got := centers.Of([]sampling.Draw{draws[1], draws[1]}, 5, key); !slices.Equal(got, []float32{10}) {
			t.Errorf("of one row: centers %v", got)
		}
		if got := centers.Of(draws, 9, key); len(got) != 4 {
			t.Errorf("of four rows: centers %v", got)
		}
	}
}

// Each row goes to the nearest center, and one midway between two to the first, with every kernel set.
func TestNearestByHand(t *testing.T) {
	x := kernelops.Matrix{Data: []float32{-3, 1, 2, 3, 9}, Rows: 5, Cols: 1, Stride: 1}
	for _, ops := range kernelops.All() {
		got := centers.NewNearest([]float32{0, 4}, 1, ops).Add([]int32{7}, x)
		if !slices.Equal(got, []int32{7, 0, 0, 0, 1, 1}) {
			t.Errorf("%s: %v", ops.Name, got)
		}
	}
}
