package schedule_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// wantTask has a worker ask for one task, which must be of this kind and no audit.
func (d *desk) wantTask(worker string, kind pb.TaskKind, when string) schedule.Grant {
	d.Helper()
	grants := d.lease(worker, 1)
	if len(grants) != 1 || grants[0].Audit != nil || grants[0].Task.Kind != kind {
		d.Fatalf("%s was granted %+v %s, want a %v", worker, grants, when, kind)
	}
	return grants[0]
}

// Audits wait for a worker that would be idle; nothing that the job waits for waits for them.
func TestAuditsAreForIdleWorkers(t *testing.T) {
	d := audited(t, 2)
	for _, worker := range []string{"y", "z"} {
		d.register(worker, 1)
	}
	first := d.wantTask("w", leafKind, "before the plan's audit").Task
	second := d.wantTask("x", leafKind, "before the plan's audit").Task
	d.wantAudit("y", pb.TaskKind_TASK_KIND_PLAN, false)
	d.wantNothing("z", "while others make all that there is")

	d.view = run(t, d.view, completions(by("w", nodeDone(first)), by("x", nodeDone(second))))
	d.board.Done(jobOf(d.view, "a"), first, "w", true, d.now)
	d.board.Done(jobOf(d.view, "a"), second, "x", true, d.now)
	d.wantTask("w", leafKind, "to merge, before the leaves' audits")
	for _, worker := range []string{"y", "z"} {
		d.wantAudit(worker, leafKind, false)
	}
	d.wantNothing("x", "while others make all that there is")
}

// An audit comes first once it found no idle worker: that of a node in the round after its own, that of a step in the
// round after that.
func TestAuditsThatFoundNobodyIdle(t *testing.T) {
	d := audited(t, 1)
	for round := uint32(1); round < 4; round++ {
		leaf := leafTask
		leaf.Round = round
		d.view = run(t, d.view, completions(by("w", nodeDone(leaf))))
		if round < 3 {
			d.closeRoundBy("w", uint64(6+round))
		}
	}
	// Round 3 is open, and its step is left to do.
	d.wantAudit("x", pb.TaskKind_TASK_KIND_PLAN, false)
	for _, want := range []struct {
		kind  pb.TaskKind
		round uint32
	}{{leafKind, 1}, {pb.TaskKind_TASK_KIND_STEP, 1}, {leafKind, 2}} {
		if g := d.wantAudit("x", want.kind, false); g.Task.Round != want.round {
			t.Errorf("the audit of a %v of round %d, not %d", want.kind, g.Task.Round, want.round)
		}
	}
	d.wantTask("x", pb.TaskKind_TASK_KIND_STEP, "before the audits of this round and of the last step")
	for _, want := range []struct {
		kind  pb.TaskKind
		round uint32
	}{{pb.TaskKind_TASK_KIND_STEP, 2}, {leafKind, 3}} {
		if g := d.wantAudit("x", want.kind, false); g.Task.Round != want.round {
			t.Errorf("the audit of a %v of round %d, not %d", want.kind, g.Task.Round, want.round)
		}
	}
}

// An audit on which two workers disagree comes before all else: every worker may be at work on what is wrong.
func TestDisputedAuditsComeFirst(t *testing.T) {
	d := audited(t, 2)
	d.made("m", nodeDone(leafTask), pb.Verdict_VERDICT_ACCEPTED)
	other := nodeDone(leafTask)
	other.Output.Object = ref(99)
	d.made("o", other, pb.Verdict_VERDICT_AUDITED)
	if a := d.audit(leafKind); !a.Disputed() {
		t.Fatal("nobody disagrees")
	}
	d.wantAudit("x", leafKind, false)
	d.wantTask("x", leafKind, "after the audit")
}
