package rank_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/rank"
)

// Worked by hand: 3 stands at 0 and 2, so 0 comes before 2 in both orders.
func TestTiesGoToTheLowerNumber(t *testing.T) {
	values := []float64{3, 1, 3, 2}
	value := func(i int) float64 { return values[i] }
	if got := rank.Least(4, value); !slices.Equal(got, []int{1, 3, 0, 2}) {
		t.Error("least first:", got)
	}
	if got := rank.Greatest(4, value); !slices.Equal(got, []int{0, 2, 3, 1}) {
		t.Error("greatest first:", got)
	}
	if got := rank.First(values); got != 0 {
		t.Error("the first of the greatest:", got)
	}
	if got := rank.Least(0, value); len(got) != 0 {
		t.Error("nothing:", got)
	}
}
