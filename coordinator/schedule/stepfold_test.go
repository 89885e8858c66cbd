package schedule_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// foldingDesk is a desk whose worker folds in steps.
func foldingDesk(t *testing.T, slots int, trees ...uint32) *desk {
	d := newDesk(t, slots, trees...)
	d.folding("w", slots)
	return d
}

func (d *desk) folding(worker string, slots int) {
	d.board.Register(d.view, schedule.Worker{ID: worker, Slots: slots, FoldsInSteps: true}, nil, d.now)
}

// wantStep leases, and wants the step of these pieces and nothing else.
func (d *desk) wantStep(worker string, nodes ...protocol.Node) schedule.Grant {
	d.Helper()
	grants := d.lease(worker, 4)
	if len(grants) != 1 || grants[0].Task.Kind != pb.TaskKind_TASK_KIND_STEP ||
		!slices.Equal(pieces(grants[0]), nodes) {
		d.Fatalf("%s was granted %+v, want the step of %v", worker, grants, nodes)
	}
	return grants[0]
}

// Four leaves: nothing is merged while leaves are at work, nor after; the step gets all.
func TestTheStepGetsThePieces(t *testing.T) {
	d := foldingDesk(t, 4, 4)
	d.wantNodes("w", 4, node(0, 0), node(0, 1), node(0, 2), node(0, 3))
	d.commit(node(0, 0), node(0, 1))
	d.wantNodes("w", 4)
	d.commit(node(0, 2), node(0, 3))
	step := d.wantStep("w", node(0, 0), node(0, 1), node(0, 2), node(0, 3))
	if n := len(d.lease("w", 4)); n != 0 {
		t.Errorf("%d tasks beside the step", n)
	}
	done := &pb.Completion{Id: step.Task.ID(), Output: &pb.TaskOutput{Next: &pb.Next{Done: true, State: ref(7)}}}
	basis := state.Basis(step.Pieces)
	done.FoldedFrom = basis[:]
	d.view = run(t, d.view, completions(done))
	if job := jobOf(d.view, "a"); !job.Reporting() {
		t.Error("the step was not taken")
	}
}

// A worker of an older release would take the pieces for roots: it merges, and gets the root.
func TestOlderWorkersMergeFirst(t *testing.T) {
	d := newDesk(t, 2, 2)
	d.lease("w", 2)
	d.commit(node(0, 0), node(0, 1))
	d.wantNodes("w", 1, node(1, 0))
	d.folding("v", 1)
	d.wantNodes("v", 1) // the merge may make a piece less
	d.commit(node(1, 0))
	d.wantStep("v", node(1, 0))
}

// Beyond 16 pieces more than trees, and beyond 8 MiB, the pieces are merged by tasks of their own.
func TestWhatStepsFoldIsBounded(t *testing.T) {
	merged := func(d *desk, leaves int) bool {
		d.lease("w", leaves)
		for i := range leaves {
			d.commit(node(0, i))
		}
		grants := d.lease("w", 1)
		return grants[0].Task.Kind == pb.TaskKind_TASK_KIND_NODE
	}
	for leaves, want := range map[int]bool{17: false, 18: true} {
		if got := merged(foldingDesk(t, 1000, uint32(leaves)), leaves); got != want {
			t.Errorf("%d pieces are merged: %v", leaves, got)
		}
	}
	for bytes, want := range map[int64]bool{4 << 20: false, 4<<20 + 1: true} {
		d := foldingDesk(t, 2, 2)
		d.lease("w", 2)
		for i := range 2 {
			leaf := nodeDone(schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: node(0, i)})
			leaf.Output.Object.Size = bytes
			d.view = run(t, d.view, completions(leaf))
			d.board.Done(jobOf(d.view, "a"), schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE,
				Node: node(0, i)}, "w", true, d.now)
		}
		if got := d.lease("w", 1)[0].Task.Kind == pb.TaskKind_TASK_KIND_NODE; got != want {
			t.Errorf("two pieces of %d bytes are merged: %v", bytes, got)
		}
	}
}

// A step that failed, or whose worker fell silent, gets the root: what is wrong shows with fewer pieces.
func TestAStepThatFailedGetsTheRoot(t *testing.T) {
	d := foldingDesk(t, 2, 2)
	d.lease("w", 2)
	d.commit(node(0, 0), node(0, 1))
	step := d.wantStep("w", node(0, 0), node(0, 1))
	d.fault("w", step, pb.FailureClass_FAILURE_CLASS_TASK, protocol.CodeInternal)
	d.wantNodes("w", 2, node(1, 0))

	d = foldingDesk(t, 2, 2)
	d.lease("w", 2)
	d.commit(node(0, 0), node(0, 1))
	d.wantStep("w", node(0, 0), node(0, 1))
	d.now += d.cfg.LeaseTTL
	d.wantNodes("w", 2, node(1, 0))
}

// While a step is at work on as many pieces as it may fold, they are not merged beside it, by whatever worker.
func TestNothingIsMergedBesideAStep(t *testing.T) {
	d := foldingDesk(t, 1000, 17)
	d.lease("w", 17)
	for i := range 17 {
		d.commit(node(0, i))
	}
	if g := d.lease("w", 1); len(g) != 1 || len(g[0].Pieces) != 17 {
		t.Fatalf("granted %+v, want the step of 17 pieces", g)
	}
	d.worker("old", "")
	for _, worker := range []string{"w", "old"} {
		if g := d.lease(worker, 1); len(g) != 0 {
			t.Errorf("%s was granted %+v", worker, g)
		}
	}
}

// A report that was stale, for the root came late, gives the step back at once.
func TestAStaleStepIsLeasedAgain(t *testing.T) {
	d := foldingDesk(t, 2, 2)
	d.lease("w", 2)
	d.commit(node(0, 0), node(0, 1))
	step := d.wantStep("w", node(0, 0), node(0, 1))
	d.commit(node(1, 0)) // by a worker that had been given up for dead
	if n := len(d.lease("w", 2)); n != 0 {
		t.Fatalf("%d tasks while the step is leased", n)
	}
	other := heldOf(step)
	other.Token.Sequence++
	d.board.Stale(jobOf(d.view, "a"), other, "w", d.now)
	d.board.Stale(jobOf(d.view, "a"), heldOf(step), "v", d.now)
	if n := len(d.lease("w", 2)); n != 0 {
		t.Fatalf("another lease's report gave it back")
	}
	d.board.Stale(jobOf(d.view, "a"), heldOf(step), "w", d.now)
	d.wantStep("w", node(1, 0))
}

// The audit of a step with pieces to fold is not for a worker of an older release, and is waived where only such are
// left.
func TestAuditsOfStepsThatFold(t *testing.T) {
	d := allAudited(t)
	d.folding("m", 2)
	d.made("m", planned("a", 2), pb.Verdict_VERDICT_ACCEPTED)
	d.made("o", planned("a", 2), pb.Verdict_VERDICT_AUDITED)
	var made []state.Commit
	for i := range 2 {
		leaf := nodeDone(schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: node(0, i)})
		for _, c := range []struct {
			by   string
			want pb.Verdict
		}{{"m", pb.Verdict_VERDICT_ACCEPTED}, {"o", pb.Verdict_VERDICT_AUDITED}} {
			d.made(c.by, leaf, c.want)
		}
	}
	made = jobOf(d.view, "a").Rounds.Open.All()
	basis, step := state.Basis(made), stepDone(7)
	step.FoldedFrom = basis[:]
	d.made("m", step, pb.Verdict_VERDICT_ACCEPTED)
	d.worker("old", "")
	d.wantNothing("old", "though it would take pieces for roots")
	if waivers := d.board.Audits.Waivers(d.view, d.now); len(waivers) != 1 {
		t.Errorf("%d waivers while nobody else can make the audit", len(waivers))
	}
	d.folding("n", 1)
	if waivers := d.board.Audits.Waivers(d.view, d.now); len(waivers) != 0 {
		t.Errorf("%d waivers while another worker can make it", len(waivers))
	}
	if g := d.wantAudit("n", pb.TaskKind_TASK_KIND_STEP, false); len(g.Pieces) != 2 {
		t.Errorf("%d pieces", len(g.Pieces))
	}
}
