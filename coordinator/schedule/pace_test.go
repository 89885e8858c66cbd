package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Eight leaves, two slots. While nothing is known leaves are leased one by one, then as many as take 200 ms, at
// most an even share: of leaves of 40 ms four, of leaves of 160 ms one.
func TestQuickLeavesAreLeasedTogether(t *testing.T) {
	d := newDesk(t, 2, 8)
	for round, c := range []struct{ leaf, leases int }{{40, 4}, {40, 2}, {160, 4}, {160, 8}} {
		if leases := d.round(time.Duration(c.leaf) * time.Millisecond); leases != c.leases {
			t.Errorf("round %d: leaves of %d ms came in %d leases, want %d", round, c.leaf, leases, c.leases)
		}
		d.nextRound("count", 8)
	}
}

// What a phase taught says nothing about the next one.
func TestAnotherPhaseHasAnotherPace(t *testing.T) {
	d := newDesk(t, 2, 8)
	d.round(time.Millisecond)
	d.nextRound("count", 8)
	d.wantNodes("w", 1, node(2, 0))
	d = newDesk(t, 2, 8)
	d.round(time.Millisecond)
	d.nextRound("other", 8)
	d.wantNodes("w", 1, node(0, 0))
}

// round works through the nodes of a round, one lease after the other; a leaf takes so long. It
// returns how many leases the leaves came in.
func (d *desk) round(leaf time.Duration) (leases int) {
	d.Helper()
	for {
		task := d.lease("w", 1)[0].Task
		if task.Kind == pb.TaskKind_TASK_KIND_STEP {
			return leases
		}
		open := jobOf(d.view, "a").Rounds.Open
		if first, end := open.Tree(0).Range(task.Node); open.Covered < 8 {
			leases++
			d.now += time.Duration(end-first) * leaf
		}
		d.complete(task, pb.Verdict_VERDICT_ACCEPTED)
	}
}

// nextRound ends the round of job "a" as its step would.
func (d *desk) nextRound(phase string, leaves uint32) {
	d.Helper()
	d.view = run(d.T, d.view, completions(&pb.Completion{
		Id:     &pb.TaskID{JobId: "a", Round: jobOf(d.view, "a").Rounds.Open.Number, Kind: pb.TaskKind_TASK_KIND_STEP},
		Output: &pb.TaskOutput{Next: &pb.Next{Phase: phase, Trees: []uint32{leaves}, State: ref(3)}},
	}))
	d.board.Done(jobOf(d.view, "a"), schedule.Task{JobID: "a", Round: jobOf(d.view, "a").Rounds.Open.Number - 1,
		Kind: pb.TaskKind_TASK_KIND_STEP}, "w", true, d.now)
}

// Of a lease that another leader granted nobody knows how long it took: its commit says nothing of the pace.
func TestALeaseTakenOverTellsNoPace(t *testing.T) {
	d := newDesk(t, 1, 400)
	held := heldOf(d.wantNodes("w", 1, node(6, 0))[0])
	d.board = schedule.NewBoard(d.cfg, 2, state.New(), d.now)
	d.register("w", 1, held)
	d.now += time.Millisecond
	d.commit(node(6, 0))
	d.wantNodes("w", 2, node(6, 1), node(6, 2)) // no more than a quarter of what is left, as at first
}
