package voting

import (
	"slices"
	"testing"
)

// The machines of four classes by hand, and that all ways to name one agree.
func TestMachines(t *testing.T) {
	want := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}
	n := Classes(4)
	if n.Machines() != len(want) || n.Slots() != 3 {
		t.Fatalf("%d machines, %d slots", n.Machines(), n.Slots())
	}
	for k, pair := range want {
		first, second := n.Pair(k)
		if first != pair[0] || second != pair[1] || n.Machine(first, second) != k {
			t.Errorf("machine %d is of %d and %d", k, first, second)
		}
		for class := range int(n) {
			side := map[int]float64{first: -1, second: 1}[class]
			if got := n.Side(k, class); got != side {
				t.Errorf("machine %d: class %d is on side %v", k, class, got)
			}
			if side == 0 {
				continue
			}
			machine, at := n.At(class, n.Slot(class, first+second-class))
			if machine != k || at != side {
				t.Errorf("class %d at its slot of machine %d: machine %d, side %v", class, k, machine, at)
			}
		}
	}
}

// Of three classes, 2 wins twice. In a circle each has a vote, and the sums decide: 2 of class 0, -1 of both others. A
// machine at 0 votes for its first class.
func TestVoteByHand(t *testing.T) {
	n, scores, room := Classes(3), make([]float64, 3), make([]float64, 3)
	for _, c := range []struct{ decisions, want []float64 }{
		{[]float64{-1, 1, 1}, []float64{1 + 0, 0 - 2.0/9, 2 + 2.0/9}},
		{[]float64{1, -3, 2}, []float64{1 + 2.0/9, 1 - 1.0/6, 1 - 1.0/6}},
		{[]float64{0, 0, 0}, []float64{2, 1, 0}},
	} {
		n.Vote(scores, room, c.decisions)
		if !slices.Equal(scores, c.want) {
			t.Errorf("%v: %v, want %v", c.decisions, scores, c.want)
		}
	}
}
