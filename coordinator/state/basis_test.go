package state_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// folded is a result that was folded from pieces, fromLeaves one that was not.
func folded(c *pb.Completion, pieces ...state.Commit) *pb.Completion {
	basis := state.Basis(pieces)
	c.FoldedFrom = basis[:]
	return c
}

func fromLeaves(c *pb.Completion) *pb.Completion {
	c.FoldedFrom = []byte{}
	return c
}

// leafPiece is a committed leaf as a lease names it.
func leafPiece(index int, digest byte) state.Commit {
	object := state.Ref{SHA256: [32]byte(ref(digest).GetSha256()), Size: ref(digest).GetSize()}
	return state.Commit{Node: protocol.Node{Index: index}, Object: object}
}

// convictedOf are the ids of the workers that a job convicts.
func convictedOf(s state.State) string {
	ids := ""
	for _, c := range jobA(s).Audits.Convicted {
		ids += c.WorkerID
	}
	return ids
}

// fate is what became of a job.
func fate(s state.State) string {
	job := jobA(s)
	return fmt.Sprintf("convicted %q, %d leaves committed, %d audits pending, taken back %d times",
		convictedOf(s), job.Rounds.Open.Covered, job.Audits.Pending(), job.Counters.Remade.Changes)
}

// Of two leaves, one is a lie. An honest worker folds them, and so does the liar, who comes late with another result.
// Others make the node from its leaves, and come to a third one: the fold was wrong because the leaf was, and its maker
// is not to blame.
func TestALateResultDoesNotBlameWhoFoldedALie(t *testing.T) {
	s := running(t, 2)
	s = wantVerdict(t, s, fromLeaves(by("l", node("a", 1, 0, 0, 0, 66))), accepted)
	s = wantVerdict(t, s, fromLeaves(by("x", node("a", 1, 0, 0, 1, 11))), accepted)
	pieces := []state.Commit{leafPiece(0, 66), leafPiece(1, 11)}
	s = wantVerdict(t, s, folded(by("x", node("a", 1, 0, 1, 0, 67)), pieces...), accepted)
	s = wantVerdict(t, s, folded(by("l", node("a", 1, 0, 1, 0, 68)), pieces...), pb.Verdict_VERDICT_VIOLATION)
	s = wantVerdict(t, s, fromLeaves(by("y", node("a", 1, 0, 1, 0, 12))), heard)
	s = wantVerdict(t, s, fromLeaves(by("z", node("a", 1, 0, 1, 0, 12))), heard)
	if got := fate(s); got != `convicted "", 0 leaves committed, 0 audits pending, taken back 1 times` {
		t.Error(got)
	}
}

// As before, but what was folded is right: nothing is taken back, and the late result convicts nobody.
func TestALateResultOfOtherPieces(t *testing.T) {
	s := running(t, 2)
	s = wantVerdict(t, s, fromLeaves(by("w", node("a", 1, 0, 0, 0, 10))), accepted)
	s = wantVerdict(t, s, fromLeaves(by("x", node("a", 1, 0, 0, 1, 11))), accepted)
	s = wantVerdict(t, s, folded(by("x", node("a", 1, 0, 1, 0, 12)), leafPiece(0, 10), leafPiece(1, 11)), accepted)
	late := folded(by("v", node("a", 1, 0, 1, 0, 68)), leafPiece(0, 66), leafPiece(1, 11))
	s = wantVerdict(t, s, late, pb.Verdict_VERDICT_VIOLATION)
	s = wantVerdict(t, s, fromLeaves(by("y", node("a", 1, 0, 1, 0, 12))), heard)
	if got := fate(s); got != `convicted "", 2 leaves committed, 0 audits pending, taken back 0 times` {
		t.Error(got)
	}
}

// A worker that made a node from its leaves is judged by its leaves, whatever a liar had committed of them before.
func TestANodeFromItsLeavesIsAuditedFromThem(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, now(s, fromLeaves(by("l", node("a", 1, 0, 0, 0, 66)))), accepted)
	s = wantVerdict(t, s, now(s, fromLeaves(by("x", node("a", 1, 0, 1, 0, 12)))), accepted)
	a, ok := jobA(s).Audits.Of(1, pb.TaskKind_TASK_KIND_NODE, 0, protocol.Node{Level: 1})
	if !ok || len(a.Pieces) != 0 || a.Whole {
		t.Fatalf("%+v, %v", a, ok)
	}
	s = wantVerdict(t, s, now(s, fromLeaves(by("y", node("a", 1, 0, 1, 0, 12)))), heard)
	if _, ok := jobA(s).Audits.Of(1, pb.TaskKind_TASK_KIND_NODE, 0, protocol.Node{Level: 1}); ok ||
		convictedOf(s) != "" {
		t.Errorf("the audit is pending: %v; convicted %q", ok, convictedOf(s))
	}
}

// A committed node was folded from other pieces than those that are committed below it. It is made from its leaves, and
// its maker is not to blame where they come to another result.
func TestAFoldOfPiecesThatAreNotCommitted(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, now(s, fromLeaves(by("w", node("a", 1, 0, 0, 0, 10)))), accepted)
	s = wantVerdict(t, s, now(s, fromLeaves(by("x", node("a", 1, 0, 0, 1, 11)))), accepted)
	fold := folded(by("x", node("a", 1, 0, 1, 0, 67)), leafPiece(0, 66), leafPiece(1, 11))
	s = wantVerdict(t, s, now(s, fold), accepted)
	a, ok := jobA(s).Audits.Of(1, pb.TaskKind_TASK_KIND_NODE, 0, protocol.Node{Level: 1})
	if !ok || len(a.Pieces) != 0 || !a.Whole {
		t.Fatalf("%+v, %v", a, ok)
	}
	s = wantVerdict(t, s, now(s, fromLeaves(by("y", node("a", 1, 0, 1, 0, 12)))), heard)
	s = wantVerdict(t, s, now(s, fromLeaves(by("z", node("a", 1, 0, 1, 0, 12)))), heard)
	if convictedOf(s) != "" || jobA(s).Rounds.Open.Covered != 0 {
		t.Error(fate(s))
	}
}

// A node that was folded from what nobody knows any more is made from its leaves; its maker alone is to blame where it
// folded its own.
func TestWhoIsToBlameForAFold(t *testing.T) {
	for name, c := range map[string]struct {
		first, convicted string
	}{"its own pieces": {"x", "x"}, "another's": {"w", ""}} {
		s := running(t, 2)
		s = wantVerdict(t, s, fromLeaves(by(c.first, node("a", 1, 0, 0, 0, 10))), accepted)
		s = wantVerdict(t, s, fromLeaves(by("x", node("a", 1, 0, 0, 1, 11))), accepted)
		s = wantVerdict(t, s, folded(by("x", node("a", 1, 0, 1, 0, 67)), leafPiece(0, 10), leafPiece(1, 11)), accepted)
		s = wantVerdict(t, s, fromLeaves(by("y", node("a", 1, 0, 1, 0, 12))), pb.Verdict_VERDICT_VIOLATION)
		s = wantVerdict(t, s, fromLeaves(by("z", node("a", 1, 0, 1, 0, 12))), heard)
		if got := convictedOf(s); got != c.convicted || jobA(s).Rounds.Open.Covered != 0 {
			t.Errorf("%s: convicted %q, want %q; %d leaves committed", name, got, c.convicted,
				jobA(s).Rounds.Open.Covered)
		}
	}
}
