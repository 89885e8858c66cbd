package schedule_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Merges are looked for in the blocks where something has changed, and nowhere else; a block without any is done with.
func TestMergesAreLookedForWhereSomethingChanged(t *testing.T) {
	d := newDesk(t, 1000, 128)
	d.commit(node(0, 0), node(0, 1))
	if got := d.board.Stirred(jobOf(d.view, "a")); !slices.Equal(got, []int{0}) {
		t.Fatalf("stirred: %v", got)
	}
	d.commit(node(0, 64))
	grants := d.lease("w", 200)
	if len(grants) != 125 || slices.ContainsFunc(grants, func(g schedule.Grant) bool { return len(g.Pieces) > 0 }) {
		t.Errorf("%d grants; a merge in a block where nothing has changed", len(grants))
	}
	if got := d.board.Stirred(jobOf(d.view, "a")); got != nil {
		t.Errorf("still stirred: %v", got)
	}
}

// A worker that asks for no tasks does not change when the leader wakes for a straggler, even of a job that the worker
// may not work on.
func TestAskingForNothingChangesNothing(t *testing.T) {
	d := newDesk(t, 2, 1)
	d.register("x", 1)
	d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	d.run(4, submitted("b", 0, 1))
	for _, g := range d.lease("w", 4)[:3] {
		d.view, _ = state.Apply(d.view, completions(nodeDone(g.Task)))
		d.board.Done(jobOf(d.view, "b"), g.Task, "w", true, d.now)
	}
	d.wantNodes("w", 2, node(1, 0))
	for range 2 {
		if wake, ok := d.board.NextWake(d.now); !ok || wake != 200*ms+1 {
			t.Errorf("wakes at %v, %v", wake, ok)
		}
		d.wantNodes("x", 0)
	}
}
