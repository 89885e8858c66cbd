package state_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// keptCarries closes round 1 of a job, whose nodes kept carries, and returns the leaves [first, end) of each carry that
// round 2 reads for some leaves of a tree.
func keptCarries(t *testing.T, s state.State, tree uint32, first, end int) (leaves string) {
	t.Helper()
	s = wantVerdict(t, s, step("a", 1, count(7, jobA(s).Rounds.Open.Trees...)), accepted)
	for _, c := range jobA(s).Rounds.Open.CarriesIn(tree, first, end) {
		leaves += fmt.Sprintf("[%d,%d)", c.First, c.End)
	}
	return leaves
}

func carrying(tree, level, index uint32) *pb.Completion {
	c := node("a", 1, tree, level, index, 10)
	c.Output.Carry = ref(50)
	return c
}

// Four leaves, of which the first two were made together. A node reads what was kept of its own leaves, and of no
// leaf beside them.
func TestCarriesOfSomeLeaves(t *testing.T) {
	s := running(t, 4, 4)
	for _, c := range []*pb.Completion{
		carrying(0, 1, 0), carrying(0, 0, 2), carrying(0, 0, 3), carrying(1, 2, 0), node("a", 1, 0, 2, 0, 11),
	} {
		s = wantVerdict(t, s, c, accepted)
	}
	for _, c := range []struct {
		tree       uint32
		first, end int
		want       string
	}{
		{0, 0, 4, "[0,2)[2,3)[3,4)"}, {0, 0, 2, "[0,2)"}, {0, 1, 2, "[0,2)"}, {0, 2, 3, "[2,3)"},
		{0, 2, 4, "[2,3)[3,4)"},
		{0, 3, 4, "[3,4)"}, {1, 0, 4, "[0,4)"}, {1, 3, 4, "[0,4)"},
	} {
		if got := keptCarries(t, s, c.tree, c.first, c.end); got != c.want {
			t.Errorf("tree %d, leaves [%d,%d): %s, want %s", c.tree, c.first, c.end, got, c.want)
		}
	}
}

// Leaves of which nothing was kept read nothing, also behind a carry that ends where they begin.
func TestNoCarriesBehindACarry(t *testing.T) {
	s := running(t, 4)
	for _, c := range []*pb.Completion{carrying(0, 1, 0), node("a", 1, 0, 1, 1, 11), node("a", 1, 0, 2, 0, 12)} {
		s = wantVerdict(t, s, c, accepted)
	}
	if got := keptCarries(t, s, 0, 2, 4); got != "" {
		t.Errorf("leaves [2,4) read %s, of which nothing was kept", got)
	}
}

// What a merge keeps takes the place of what was kept of its leaves, in its tree, and of no others.
func TestACarryReplacesThoseOfItsLeaves(t *testing.T) {
	s := running(t, 4, 4)
	for tree := range uint32(2) {
		for leaf := range uint32(4) {
			s = wantVerdict(t, s, carrying(tree, 0, leaf), accepted)
		}
	}
	roots := []*pb.Completion{node("a", 1, 0, 2, 0, 11), node("a", 1, 1, 2, 0, 11)}
	first := wantVerdict(t, s, carrying(0, 1, 0), accepted)
	last := wantVerdict(t, s, carrying(0, 1, 1), accepted)
	all := wantVerdict(t, s, carrying(0, 2, 0), accepted)
	for _, c := range []struct {
		name string
		s    state.State
		tree uint32
		want string
	}{
		{"leaves 0 and 1 are merged", first, 0, "[0,2)[2,3)[3,4)"},
		{"leaves 2 and 3 are merged", last, 0, "[0,1)[1,2)[2,4)"},
		{"all are merged", all, 0, "[0,4)"},
		{"the other tree", last, 1, "[0,1)[1,2)[2,3)[3,4)"}, {"beside a merged tree", all, 1, "[0,1)[1,2)[2,3)[3,4)"},
	} {
		for _, root := range roots {
			open := jobA(c.s).Rounds.Open
			if _, done := open.Covering(root.Id.Tree, open.Tree(root.Id.Tree).Root()); !done {
				c.s = wantVerdict(t, c.s, root, accepted)
			}
		}
		if got := keptCarries(t, c.s, c.tree, 0, 4); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// How much a leaf carries is seen as soon as one is committed, by the leaves of its node. The larger of this round's
// and the last one's counts.
func TestHowMuchALeafCarries(t *testing.T) {
	s := running(t, 4)
	want := func(bytes int64) {
		t.Helper()
		if got := jobA(s).Rounds.Open.CarriedByLeaf(); got != bytes {
			t.Errorf("a leaf carries %d bytes, want %d", got, bytes)
		}
	}
	commit := func(round, level, index uint32, bytes int64) {
		t.Helper()
		c := node("a", round, 0, level, index, 10)
		c.Output.Carry = ref(50)
		c.Output.Carry.Size = bytes
		s = wantVerdict(t, s, c, accepted)
	}
	want(0)
	commit(1, 1, 1, 300)
	want(150)
	commit(1, 1, 0, 200)
	want(100) // the first are those that count
	s = wantVerdict(t, s, node("a", 1, 0, 2, 0, 12), accepted)
	s = wantVerdict(t, s, step("a", 1, count(7, 4)), accepted)
	want(100)
	commit(2, 0, 3, 99)
	want(100)
	commit(2, 0, 2, 101)
	want(101)
}
