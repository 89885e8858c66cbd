package schedule_test

import (
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A job that waits for its audits alone takes turns with a job that has work: an audit is a lease like another.
func TestAuditsTakeTurnsWithOtherJobs(t *testing.T) {
	d := audited(t, 6)
	for i := range 6 {
		leaf := leafTask
		leaf.Node = node(0, i)
		d.view = run(t, d.view, completions(by("w", nodeDone(leaf))))
	}
	for !jobOf(d.view, "a").Rounds.Open.Complete() {
		grants := d.lease("w", 1)
		if len(grants) != 1 || grants[0].Audit != nil {
			t.Fatalf("%v", grants)
		}
		task := grants[0].Task
		d.view = run(t, d.view, completions(by("w", nodeDone(task))))
		d.board.Done(jobOf(d.view, "a"), task, "w", true, d.now)
	}
	d.view = run(t, d.view, completions(by("w", &pb.Completion{
		Id:     &pb.TaskID{JobId: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_STEP},
		Output: &pb.TaskOutput{Next: &pb.Next{Done: true, State: ref(9)}},
	})))
	d.run(8, submit("b"))
	got := map[string]int{}
	for range 8 {
		for _, g := range d.lease("x", 1) {
			got[g.Task.JobID]++
		}
	}
	if got["a"] != 4 || got["b"] != 4 {
		t.Errorf("granted %v, want 4 of each", got)
	}
}
