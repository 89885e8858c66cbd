package sums

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/kernelops"
)

// Of class 0 are 1 and 3, of weight 3: mean 2.5, squares 2.25 + 3 * 0.25; of class 1 is 7 alone, and a row of weight 0.
func TestMomentsByHand(t *testing.T) {
	m := NewMoments(2, 1)
	m.Add(kernelops.Matrix{Data: []float32{1, 7, 3, 9}, Rows: 4, Cols: 1, Stride: 1}, []int32{0, 1, 0, 1},
		[]float32{1, 2, 3, 0})
	if !slices.Equal(m.Weight, []float64{4, 2}) || !slices.Equal(m.Mean, []float64{2.5, 7}) ||
		!slices.Equal(m.M2, []float64{3, 0}) {
		t.Errorf("%+v", m)
	}
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-8 })
}

// The moments joined from any cut are those of all rows, but for rounding.
func TestMomentsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, left, right := NewMoments(2, 1), NewMoments(2, 1), NewMoments(2, 1)
		for i := range rapid.IntRange(0, 20).Draw(t, "rows") {
			class := rapid.IntRange(0, 1).Draw(t, "class")
			row := []float32{float32(rapid.IntRange(-9, 9).Draw(t, "value")) + 100}
			weight := float64(rapid.IntRange(1, 3).Draw(t, "weight"))
			whole.add(class, row, weight)
			if i < 7 {
				left.add(class, row, weight)
			} else {
				right.add(class, row, weight)
			}
		}
		sum, err := left.Plus(right)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sum.Weight, whole.Weight) || !near(sum.Mean, whole.Mean) || !near(sum.M2, whole.M2) {
			t.Fatalf("%+v, want %+v", sum, whole)
		}
	})
}
