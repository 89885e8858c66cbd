package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// inPieces is a job whose round 1 has three leaves: the first two below one commit, and the third.
func inPieces(t *testing.T, s state.State) state.State {
	t.Helper()
	s = wantVerdict(t, s, by("w", node("a", 1, 0, 1, 0, 10)), accepted)
	return wantVerdict(t, s, by("x", node("a", 1, 0, 0, 2, 11)), accepted)
}

func piece(level, index int, digest byte) state.Commit {
	p := leafPiece(index, digest)
	p.Node.Level = level
	return p
}

// A step that was leased to fold the pieces closes the round. One that does not say what it was made from, of an older
// release, was made from the root; and one of other pieces has to be made again.
func TestAStepFoldsThePieces(t *testing.T) {
	s := inPieces(t, running(t, 3))
	wantVerdict(t, s, by("v", step("a", 1, count(7, 3))), stale)
	wantVerdict(t, s, folded(by("v", step("a", 1, count(7, 3))), piece(1, 0, 10), piece(0, 2, 66)), stale)
	wantVerdict(t, s, folded(by("v", step("a", 1, count(7, 3))), piece(1, 0, 10)), stale)
	s = wantVerdict(t, s, folded(by("v", step("a", 1, count(7, 3))), piece(1, 0, 10), piece(0, 2, 11)), accepted)
	if open := jobA(s).Rounds.Open; open.Number != 2 || open.Covered != 0 {
		t.Errorf("round %d, %d covered", open.Number, open.Covered)
	}
}

// A leaf is missing, whatever the step says that it was made from.
func TestAStepWantsTheWholeRound(t *testing.T) {
	s := wantVerdict(t, running(t, 3), by("w", node("a", 1, 0, 1, 0, 10)), accepted)
	wantVerdict(t, s, folded(by("v", step("a", 1, count(7, 3))), piece(1, 0, 10)), stale)
}

// The root was committed late, while a step folded its pieces: the step is stale, and one from the root is taken. The
// late result of the first convicts nobody, though the states differ: one of the pieces may have been wrong.
func TestARootThatComesLate(t *testing.T) {
	s := inPieces(t, audited(t, 3))
	s = wantVerdict(t, s, by("w", node("a", 1, 0, 2, 0, 12)), accepted)
	early := func() *pb.Completion {
		return folded(by("v", step("a", 1, count(8, 3))), piece(1, 0, 10), piece(0, 2, 11))
	}
	wantVerdict(t, s, early(), stale)
	s = wantVerdict(t, s, folded(by("x", step("a", 1, count(7, 3))), piece(2, 0, 12)), accepted)
	s = wantVerdict(t, s, early(), stale)
	s = wantVerdict(t, s, folded(by("y", step("a", 1, count(7, 3))), piece(2, 0, 12)), heard)
	s = wantVerdict(t, s, early(), stale)
	if job := jobA(s); convictedOf(s) != "" || job.Ended() || job.Counters.Violations != 0 {
		t.Errorf("convicted %q, failure %+v, %d violations", convictedOf(s), job.Failure, job.Counters.Violations)
	}
}

// A step that folds is made again from the same pieces, and its maker is convicted if two others disagree.
func TestAStepThatFoldsIsAudited(t *testing.T) {
	pieces := []state.Commit{piece(1, 0, 10), piece(0, 2, 11)}
	s := inPieces(t, audited(t, 3))
	s = wantVerdict(t, s, folded(by("l", step("a", 1, count(66, 3))), pieces...), accepted)
	a, ok := jobA(s).Audits.Of(1, pb.TaskKind_TASK_KIND_STEP, 0, protocol.Node{})
	if !ok || !a.InParts() || len(a.Pieces) != 2 || a.Pieces[0].Node != pieces[0].Node {
		t.Fatalf("%+v, %v", a, ok)
	}
	s = wantVerdict(t, s, folded(by("y", step("a", 1, count(7, 3))), pieces...), heard)
	s = wantVerdict(t, s, folded(by("z", step("a", 1, count(7, 3))), pieces...), heard)
	if got := convictedOf(s); got != "l" {
		t.Errorf("convicted %q", got)
	}
	if open := jobA(s).Rounds.Open; open.Number != 1 || !open.Whole() || open.Complete() {
		t.Errorf("round %d, whole %v, complete %v", open.Number, open.Whole(), open.Complete())
	}
}

// The state that a step folded is lost: the round is open again with its pieces, and the step must make it again.
func TestWhatAStepFoldedIsLost(t *testing.T) {
	pieces := []state.Commit{piece(1, 0, 10), piece(0, 2, 11)}
	s := inPieces(t, running(t, 3))
	s = wantVerdict(t, s, folded(step("a", 1, count(7, 3)), pieces...), accepted)
	object := state.ObjectID{Round: 1, SHA256: [32]byte(ref(10).GetSha256())}
	if makers := jobA(s).Lineage().MakersOf(object); len(makers) != 0 {
		t.Errorf("the open round reads a piece of the last: %v", makers)
	}
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	open := jobA(s).Rounds.Open
	if open.Number != 1 || !open.Whole() || open.Pieces() != 2 {
		t.Fatalf("round %d, whole %v, %d pieces", open.Number, open.Whole(), open.Pieces())
	}
	if makers := jobA(s).Lineage().MakersOf(object); len(makers) != 1 || makers[0].GetLevel() != 1 {
		t.Errorf("a piece of the open round was made by %v", makers)
	}
	other := folded(after(1, step("a", 1, count(8, 3))), pieces...)
	wantVerdict(t, s, other, pb.Verdict_VERDICT_VIOLATION)
	wantVerdict(t, s, folded(after(1, step("a", 1, count(7, 3))), pieces...), accepted)
}
