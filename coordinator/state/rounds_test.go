package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// refersTo reports whether job a refers to an object.
func refersTo(s state.State, round uint32, digest byte) (found bool) {
	want := state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)}
	jobA(s).EachReference(func(o state.ObjectID) { found = found || o == want })
	return found
}

// count opens a round of the phase "count".
func count(state byte, trees ...uint32) *pb.Next {
	return &pb.Next{Phase: "count", Trees: trees, State: ref(state)}
}

// stepAgain closes a round of a job that has this many changes.
func stepAgain(changes uint64, round uint32, digest byte) *pb.Completion {
	return after(changes, step("a", round, count(digest, 3)))
}

// The leaves 0 and 1 of a tree of four are taken back, one by one or together: what was kept of the leaves beside
// them, and of the same leaves of another tree, stays.
func TestCarriesBesideAreLeftAlone(t *testing.T) {
	s := running(t, 4, 4)
	for i, n := range [][3]uint32{{0, 1, 0}, {0, 0, 2}, {0, 0, 3}, {1, 1, 0}} {
		c := node("a", 1, n[0], n[1], n[2], byte(10+i))
		c.Output.Carry = ref(byte(20 + i))
		s = wantVerdict(t, s, c, accepted)
	}
	s, _ = run(t, s, takeBack(s, lost, node("a", 1, 0, 1, 0, 0)))
	for i := range byte(4) {
		if partial, carry := refersTo(s, 1, 10+i), refersTo(s, 1, 20+i); partial != (i > 0) || carry != (i > 0) {
			t.Errorf("node %d: its partial is kept: %v, its carry: %v", i, partial, carry)
		}
	}
	if got := jobA(s).Rounds.Open.Covered; got != 4 {
		t.Errorf("%d leaves are covered, want 4", got)
	}
}

// The node of leaves 0..3 is taken back after its halves were committed: the leaf beside them stays.
func TestTakingBackANodeTakesBackWhatLiesBelow(t *testing.T) {
	s := running(t, 5)
	for i, n := range [][2]uint32{{1, 0}, {0, 2}, {0, 4}} {
		s = wantVerdict(t, s, node("a", 1, 0, n[0], n[1], byte(10+i)), accepted)
	}
	s, _ = run(t, s, takeBack(s, lost, node("a", 1, 0, 2, 0, 0)))
	if job := jobA(s); job.Rounds.Open.Covered != 1 || !refersTo(s, 1, 12) || refersTo(s, 1, 10) || refersTo(s, 1, 11) {
		t.Errorf("%d leaves are covered, want leaf 4 alone", job.Rounds.Open.Covered)
	}
}

// A store loses leaf 0 of round 2 again and again. In between it loses the end of round 1: that round 2 opens a
// second time is no progress, so the losses go on counting.
func TestAReopenedRoundIsNoProgress(t *testing.T) {
	const before = 200
	s := twoRounds(t)
	for range before {
		s, _ = run(t, s, takeBack(s, lost, node("a", 2, 0, 0, 0, 0)))
	}
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	s = wantVerdict(t, s, stepAgain(before+1, 1, 7), accepted)
	for range state.MaxLostInRound - before - 1 {
		s, _ = run(t, s, takeBack(s, lost, node("a", 2, 0, 0, 0, 0)))
	}
	if job := jobA(s); job.Ended() {
		t.Fatalf("ended after %d losses: %v", job.Counters.Remade.Changes, job.Failure)
	}
	s, _ = run(t, s, takeBack(s, lost, node("a", 2, 0, 0, 0, 0)))
	if f := jobA(s).Failure; f == nil || !strings.Contains(f.Message, "257 times before round 2 was done") {
		t.Errorf("after %d losses: %+v", state.MaxLostInRound+1, f)
	}
}

// A round that opens for the first time is progress: losses are counted from there.
func TestANewRoundIsProgress(t *testing.T) {
	s := running(t, 3)
	for round := uint32(1); round <= 2; round++ {
		for range state.MaxLostInRound {
			s, _ = run(t, s, takeBack(s, lost, node("a", round, 0, 0, 0, 0)))
		}
		s = wantVerdict(t, s, now(s, node("a", round, 0, 2, 0, 12)), accepted)
		s = wantVerdict(t, s, now(s, step("a", round, count(7, 3))), accepted)
	}
	if job := jobA(s); job.Ended() || job.Rounds.Open.Number != 3 {
		t.Errorf("round %d, failure %v", job.Rounds.Open.Number, job.Failure)
	}
}

// anew is twoRounds whose rounds began anew: round 3 is open, with the root committed.
func anew(t *testing.T) state.State {
	t.Helper()
	s := twoRounds(t)
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	s, _ = run(t, s, takeBack(s, lied, node("a", 2, 0, 0, 0, 0)))
	return wantVerdict(t, s, after(2, node("a", 3, 0, 2, 0, 12)), accepted)
}

// The first round of a new beginning is a round as any other: its end is known again when it is repeated, and can
// be taken back.
func TestTheFirstRoundOfANewBeginning(t *testing.T) {
	numbers := func(s state.State) (all []uint32) {
		for _, r := range jobA(s).Rounds.Since() {
			all = append(all, r.Number)
		}
		return all
	}
	s := wantVerdict(t, anew(t), stepAgain(2, 3, 7), accepted)
	s = wantVerdict(t, s, stepAgain(2, 3, 7), pb.Verdict_VERDICT_DUPLICATE)
	if got := numbers(s); !slices.Equal(got, []uint32{3}) {
		t.Errorf("the model comes of rounds %v, want 3 alone", got)
	}
	s, _ = run(t, s, takeBack(s, lost, step("a", 3, nil)))
	if job := jobA(s); job.Rounds.Open.Number != 3 || !job.Rounds.Open.Complete() || len(job.Rounds.Since()) != 0 {
		t.Errorf("round %d is open, complete %v; rounds %v have ended", job.Rounds.Open.Number,
			job.Rounds.Open.Complete(), numbers(s))
	}
	s = wantVerdict(t, s, stepAgain(3, 3, 7), accepted)
	if got := numbers(s); !slices.Equal(got, []uint32{3}) {
		t.Errorf("made again, the model comes of rounds %v", got)
	}
}

// What the end of round 1 made garbage stays so when that end is taken back. A finished model that is taken back
// leaves nothing behind, for its round is open again.
func TestTakingBackAnEndLeavesGarbage(t *testing.T) {
	s := running(t, 3)
	for round := uint32(1); round <= 2; round++ {
		s = wantVerdict(t, s, node("a", round, 0, 2, 0, byte(10*round)), accepted)
		s = wantVerdict(t, s, step("a", round, count(byte(10*round+1), 3)), accepted)
	}
	s, _ = run(t, s, takeBack(s, lost, step("a", 2, nil)))
	id := func(round uint32, digest byte) state.ObjectID {
		return state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)}
	}
	if g := jobA(s).Garbage(1 << 40); !g.Has(id(1, 10)) || g.Has(id(1, 11)) || g.Has(id(2, 20)) {
		t.Errorf("garbage: the root of round 1 %v, its state %v, the root of round 2 %v",
			g.Has(id(1, 10)), g.Has(id(1, 11)), g.Has(id(2, 20)))
	}
	s = modelOf(t)
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	if g := jobA(s).Garbage(1 << 40); !g.Empty() {
		t.Error("something is garbage while the only round is open")
	}
}
