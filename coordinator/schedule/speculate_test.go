package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const ms = time.Millisecond

// tail is a round of eight leaves of which worker "w" has made six, in 200 ms each, and has had the
// last two, and a fold, for 200 ms; "x" has nothing to do.
func tail(t *testing.T) (d *desk, slow []schedule.Grant) {
	d = newDesk(t, 2, 8)
	d.register("x", 1)
	for i := range 6 {
		d.wantNodes("w", 1, node(0, i))
		if i == 5 {
			slow = d.wantNodes("w", 3, node(0, 6), node(0, 7), node(2, 0))[:2]
		}
		d.now += 200 * ms
		d.commit(node(0, i))
	}
	return d, slow
}

// The median is 200 ms; the last two leaves have been at work for 200 ms when the sixth is
// committed, so they are stragglers after 300 ms and not before.
func TestStragglersAreCopied(t *testing.T) {
	d, slow := tail(t)
	d.wantNodes("x", 1, node(1, 2)) // an idle worker looks for other work first
	d.wantNodes("x", 1)
	if wake, ok := d.board.NextWake(d.now); !ok || wake != d.now+100*ms+1 {
		t.Errorf("next wake %v %v, want when 300 ms are over", wake-d.now, ok)
	}
	d.now += 100 * ms
	d.wantNodes("x", 1)
	d.now++
	d.wantNodes("w", 1) // not by the worker that has them
	second := d.wantNodes("x", 1, node(0, 6))
	if !second[0].Speculative || second[0].Token == slow[0].Token || len(second[0].Pieces) != 0 {
		t.Errorf("granted %+v", second[0])
	}
	d.register("third", 1)
	d.wantNodes("third", 2, node(0, 7)) // node 6 has two
	d.wantCopies(2, 0, 0)
	if lost := d.beat("w", slow...); len(lost) != 0 {
		t.Errorf("the first holder lost %v to a speculative copy", lost)
	}
}

// First commit wins; the other is told at its next heartbeat, and its result is a duplicate.
func TestFirstOfTwoWins(t *testing.T) {
	d, slow := tail(t)
	d.now += time.Second
	copies := d.lease("x", 5)[1:]
	d.reported("x", copies[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.wantCopies(2, 1, 0)
	if lost := d.beat("w", slow...); len(lost) != 1 || lost[0] != slow[0].Task {
		t.Errorf("w lost %v", lost)
	}
	d.reported("w", slow[0].Task, pb.Verdict_VERDICT_DUPLICATE)
	d.reported("w", slow[1].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.wantCopies(2, 1, 1)
	if lost := d.beat("x", copies...); len(lost) != 2 {
		t.Errorf("x lost %v", lost)
	}
	want := schedule.SpeculativeCopies{Launched: 2, Won: 1, Wasted: 1}
	if told := d.board.Jobs.Tell(jobOf(d.view, "a")); told != want {
		t.Errorf("told %+v", told)
	}
	if told := d.board.Jobs.Tell(jobOf(d.view, "a")); told != (schedule.SpeculativeCopies{}) {
		t.Errorf("told again %+v", told)
	}
}

// The board may hear of the loser's report first: that one was late all the same.
func TestLateReportHeardFirst(t *testing.T) {
	d, slow := tail(t)
	d.now += time.Second
	d.lease("x", 5)
	d.view = run(t, d.view, completions(nodeDone(slow[0].Task))) // the speculative copy's; its note is on the way
	d.reported("w", slow[0].Task, pb.Verdict_VERDICT_DUPLICATE)
	d.wantCopies(2, 1, 0)
}

// When one of two gives up or falls silent the other goes on, and its leaf is not free.
func TestTheOtherOfTwoGoesOn(t *testing.T) {
	d, slow := tail(t)
	d.now += time.Second
	copies := d.lease("x", 5)[1:]
	d.fault("w", slow[0], infraClass, protocol.CodeStore)
	d.fault("x", copies[1], infraClass, protocol.CodeDrained)
	d.wantCopies(2, 0, 1)
	d.now += d.cfg.RetryDelay
	d.register("third", 2)
	third := d.wantNodes("third", 2, node(0, 7)) // copies w's again; node 6 is at work on x for too short a time
	if lost := d.beat("x", copies[0]); len(lost) != 0 {
		t.Error("the speculative copy went with the first lease")
	}
	d.now += d.cfg.LeaseTTL - 1
	d.beat("x", copies[0])
	d.beat("third", third...)
	d.now++
	d.wantNodes("third", 1, node(2, 0)) // w's leases are over; third has its own of node 7
	d.reported("x", copies[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.wantCopies(3, 1, 1)
}

// Under a new leader the time of a node counts from its announcement; what it is, map or fold, is not
// known, and it is copied as a map.
func TestAnnouncedTasksAreCopied(t *testing.T) {
	d, slow := tail(t)
	d.board = schedule.NewBoard(d.cfg, 2, d.view, d.now)
	d.register("w", 2, heldOf(slow[0]))
	d.now += d.cfg.LeaseTTL - 1
	d.beat("w", slow[0])
	d.now++
	d.register("x", 1)
	d.wantNodes("x", 3, node(0, 7), node(2, 0), node(1, 2)) // nothing is known of how long a leaf takes
	d.now += 200 * ms
	d.reported("x", schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: node(0, 7)},
		pb.Verdict_VERDICT_ACCEPTED)
	d.wantNodes("x", 3, node(0, 6))
	d.wantCopies(1, 0, 0)
}

// Of four leaves three must be committed first, and something must be known of how long a leaf takes.
func TestNoSpeculativeCopiesBeforeThreeQuarters(t *testing.T) {
	d := newDesk(t, 2, 4)
	d.register("x", 1)
	d.wantNodes("w", 4, node(0, 0), node(0, 1), node(0, 2), node(0, 3))
	d.now += ms
	d.commit(node(0, 0), node(0, 2))
	d.now += 10 * time.Second
	d.wantNodes("x", 1)
	d.commit(node(0, 3))
	d.wantNodes("x", 2, node(1, 1), node(0, 1))
	d.wantCopies(1, 0, 0)
	d = newDesk(t, 2, 1)
	d.register("x", 1)
	d.wantNodes("w", 1, node(0, 0))
	d.now += 10 * time.Second
	d.wantNodes("x", 1)
}

// Folds are measured against folds, by piece.
func TestSlowFoldsAreCopied(t *testing.T) {
	d := newDesk(t, 2, 4, 1)
	d.register("x", 1)
	d.lease("w", 5)
	d.commit(node(0, 0), node(0, 1))
	d.wantNodes("w", 1, node(1, 0))
	d.now += 400 * ms // 200 ms a piece
	d.commit(node(1, 0), node(0, 2), node(0, 3))
	fold := d.wantNodes("w", 1, node(2, 0)) // of three pieces: usually 600 ms
	d.now += 900 * ms
	if g := d.lease("x", 5); len(g) != 1 || g[0].Task.Tree != 1 {
		t.Fatalf("granted %+v, want a speculative copy of the leaf of the other tree", g)
	}
	d.now++
	second := d.wantNodes("x", 5, node(2, 0))
	if got := pieces(second[0]); len(got) != 3 || len(pieces(fold[0])) != 3 {
		t.Errorf("the speculative copy's pieces are %v", got)
	}
}

func TestQuickTasksAreNotCopied(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.register("x", 1)
	grants := d.lease("w", 4)
	d.now += ms
	d.commit(node(0, 0), node(0, 1), node(0, 2))
	d.now = 200 * ms
	d.wantNodes("x", 1, node(1, 0))
	d.wantNodes("x", 1)
	d.now++
	d.wantNodes("x", 1, grants[3].Task.Node)
}

func TestSpeculativeCopiesOfACancelledJobAreInVain(t *testing.T) {
	d, _ := tail(t)
	d.now += time.Second
	d.lease("x", 5)
	d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	d.lease("x", 1)
	d.wantCopies(2, 0, 2)
}

func (d *desk) wantCopies(launched, won, wasted uint64) {
	d.Helper()
	want := schedule.SpeculativeCopies{Launched: launched, Won: won, Wasted: wasted}
	if got := d.board.Jobs.Counts.SpeculativeCopies; got != want {
		d.Errorf("speculative copies: %+v, want %+v", got, want)
	}
}

func (d *desk) beat(worker string, grants ...schedule.Grant) []schedule.Task {
	var held []schedule.Held
	for _, g := range grants {
		held = append(held, heldOf(g))
	}
	return d.board.Heartbeat(d.view, worker, held, d.now)
}
