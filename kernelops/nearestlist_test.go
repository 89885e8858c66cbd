package kernelops

import (
	"math"
	"slices"
	"testing"
)

// TestNearestListByHand fills a list of two: by distance, ties by row, in whatever order they come.
func TestNearestListByHand(t *testing.T) {
	inf := math.Inf(1)
	n := nearest{k: 2}
	for i, c := range []struct {
		dist  float64
		row   int
		rows  []int
		worst float64
	}{
		{inf, 9, nil, inf},
		{math.NaN(), 8, nil, inf},
		{5, 4, []int{4}, inf}, // not full: any distance may enter
		{5, 6, []int{4, 6}, 5},
		{5, 7, []int{4, 6}, 5}, // full, and the lower rows win
		{inf, 0, []int{4, 6}, 5},
		{5, 1, []int{1, 4}, 5},
		{5, 3, []int{1, 3}, 5},
		{4, 8, []int{8, 1}, 5},
		{3, 9, []int{9, 8}, 4},
	} {
		n.offer(c.dist, c.row)
		if !slices.Equal(n.rows, c.rows) || n.worst() != c.worst {
			t.Fatalf("offer %d, row %d at %g: rows %v, worst %g, want %v, %g",
				i, c.row, c.dist, n.rows, n.worst(), c.rows, c.worst)
		}
	}
}
