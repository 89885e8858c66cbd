package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A lease of several leaves ends before a commit that the board was not told of.
func TestLeasesEndBeforeUnknownCommits(t *testing.T) {
	d := newDesk(t, 1, 16) // one slot: four at a time
	d.board.Load(d.view, d.now)
	for _, leaf := range []int{2, 6} {
		unknown := schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: node(0, leaf)}
		d.view = run(t, d.view, completions(nodeDone(unknown)))
	}
	d.wantNodes("w", 5, node(1, 0), node(0, 3), node(1, 2), node(0, 7), node(2, 2))
}

// What is committed without a lease of this leader makes merges possible as well.
func TestMergesOfUnleasedCommits(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.commit(node(0, 2), node(0, 3))
	d.wantNodes("w", 4, node(0, 0), node(0, 1), node(1, 1))
}

// No merge is leased above one that is at work, nor below it.
func TestNoMergeAboveAnother(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.commit(node(0, 0), node(0, 1))
	d.wantNodes("w", 3, node(0, 2), node(0, 3), node(1, 0))
	d.commit(node(0, 2), node(0, 3))
	d.wantNodes("w", 3, node(1, 1))
	d.wantNodes("w", 3)
}

// A report of a node that the round does not have takes no leaf of the tree behind it.
func TestGarbageInAForest(t *testing.T) {
	d := newDesk(t, 100, 3, 3, 3)
	for _, c := range []struct {
		tree uint32
		n    protocol.Node
	}{{0, node(0, 3)}, {1, node(0, 3)}, {1, node(2, 1)}, {3, node(0, 0)}, {4, node(0, 0)}, {1 << 31, node(0, 0)}} {
		task := schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Tree: c.tree, Node: c.n}
		d.board.Done(jobOf(d.view, "a"), task, "w", true, d.now)
	}
	if g := d.lease("w", 20); len(g) != 9 {
		t.Errorf("%d of nine leaves are leased", len(g))
	}
}

// A worker is granted what it asks for and no more: neither of several jobs, nor by speculative copies beside
// other work.
func TestNoMoreThanAskedFor(t *testing.T) {
	d := newDesk(t, 2, 8)
	d.run(1, submit("b"))
	d.wantJobs("w", 4, "a b a a")
	d, _ = tail(t)
	d.now += time.Second
	d.wantNodes("x", 1, node(1, 2)) // two leaves take long
	d.wantCopies(0, 0, 0)
	d.wantNodes("x", 1, node(0, 6))
	d.wantCopies(1, 0, 0)
}

// What a job catches up with others is granted in one go, by one measure: eight leaves of 64 each, for two slots.
func TestAJobCatchesUpInOneGo(t *testing.T) {
	d := newDesk(t, 2, 64)
	d.run(8, submit("b"))
	for _, g := range d.lease("w", 3) {
		if g.Task.JobID == "a" {
			d.fault("w", g, infraClass, protocol.CodeDrained)
		}
	}
	for i, g := range d.lease("w", 2) { // a has none, b one; of equals a comes first
		if g.Task.JobID != "a" || g.Task.Node != node(3, i) {
			t.Errorf("grant %d is %v of job %s", i, g.Task, g.Task.JobID)
		}
	}
}

// The leader wakes for the job that has fitted no worker for the longest.
func TestTheFirstMisfitWakes(t *testing.T) {
	d := newDesk(t, 1, 1)
	large := func(id string) {
		p := planned(id, 1)
		p.Output.Next.State.Size = 3 << 30
		d.view = run(t, d.view, submit(id), start(id), completions(p))
		d.board.Register(d.view, schedule.Worker{ID: "w", Slots: 1, Memory: 2 << 30}, nil, d.now)
		d.board.Fit.Misfits(d.view, d.now)
	}
	large("b")
	first := d.now + d.cfg.FitPatience
	d.now += time.Second
	large("c")
	d.now = first - 1
	d.board.Register(d.view, schedule.Worker{ID: "w", Slots: 1, Memory: 2 << 30}, nil, d.now)
	if cmds := d.board.Fit.Misfits(d.view, d.now); len(cmds) != 0 {
		t.Errorf("given up: %v", cmds)
	}
	if wake, ok := d.board.NextWake(d.now); !ok || wake != first {
		t.Errorf("wakes at %v, want %v", wake, first)
	}
}

// A speculative copy is due when the leases before it took no time at all, too.
func TestSpeculativeCopiesWhereLeavesTakeNoTime(t *testing.T) {
	d := newDesk(t, 2, 4)
	d.register("x", 1)
	d.wantNodes("w", 4, node(0, 0), node(0, 1), node(0, 2), node(0, 3))
	d.commit(node(0, 0), node(0, 1), node(0, 3))
	d.wantNodes("x", 1, node(1, 0))
	d.now += 200 * ms
	d.wantNodes("x", 1)
	d.now++
	d.wantNodes("x", 1, node(0, 2))
}

// stuck is a desk with two jobs of four leaves. Three leaves of each took no time; the last of "a" has been at work
// since 0, that of "b" since 50 ms.
func stuck(t *testing.T) *desk {
	d := newDesk(t, 4, 4)
	d.register("x", 1)
	d.run(4, submit("b"))
	finish := func(g schedule.Grant) {
		d.view, _ = state.Apply(d.view, completions(nodeDone(g.Task)))
		d.board.Done(jobOf(d.view, g.Task.JobID), g.Task, "w", true, d.now)
	}
	late := map[string]schedule.Grant{}
	for _, g := range d.lease("w", 8) {
		if g.Task.Node == node(0, 3) {
			late[g.Task.JobID] = g
		} else {
			finish(g)
		}
	}
	d.now += 50 * ms
	d.fault("w", late["b"], infraClass, protocol.CodeDrained)
	var merges []schedule.Grant
	for _, g := range d.lease("w", 8) {
		if len(g.Pieces) > 0 {
			merges = append(merges, g)
		}
	}
	for _, g := range merges {
		finish(g)
	}
	return d
}

// The first straggler of any job wakes, also when another job's took up the worker.
func TestEveryJobsStragglerWakes(t *testing.T) {
	d := stuck(t)
	a, b := 200*ms+1, 250*ms+1
	d.wantJobs("x", 1, "")
	if wake, ok := d.board.NextWake(d.now); !ok || wake != a {
		t.Errorf("wakes at %v, want %v", wake, a)
	}
	d.now = a
	d.wantJobs("x", 1, "a")
	if wake, ok := d.board.NextWake(d.now); !ok || wake != b {
		t.Errorf("after a speculative copy of a: wakes at %v, want %v", wake, b)
	}
	d = stuck(t)
	d.now = b
	d.wantJobs("x", 1, "a")
	d.wantJobs("x", 1, "b")
	d.wantJobs("x", 1, "")
}

// A straggler that its own worker cannot copy is not forgotten while a younger lease is not due.
func TestAStragglerOfTheWorkerThatAsks(t *testing.T) {
	d := newDesk(t, 4, 8)
	d.register("x", 1)
	d.lease("w", 7)
	d.commit(node(0, 0), node(0, 1), node(0, 2), node(0, 3), node(0, 4), node(0, 5))
	d.now += 100 * ms
	d.wantNodes("w", 3, node(0, 7), node(2, 0), node(1, 2))
	d.now += 100*ms + 1 // leaf 6 is due; 7 is not
	d.wantNodes("w", 3)
	if wake, ok := d.board.NextWake(d.now); !ok || wake != 300*ms+1 {
		t.Errorf("wakes at %v", wake)
	}
	d.wantNodes("x", 3, node(0, 6))
}

// However many a worker asks for, speculative copies take no more than a twentieth of the slots.
func TestSpeculativeCopiesAskedForAtOnceAreBounded(t *testing.T) {
	d := newDesk(t, 1, 64)
	for i := range 16 {
		d.register("slow"+string(rune('a'+i)), 1)
	}
	g := d.lease("w", 64)
	for _, done := range g[:48] {
		d.commit(done.Task.Node)
	}
	for i := range 39 { // 56 slots, two of which are 5 %
		d.register("x"+string(rune('A'+i)), 1)
	}
	d.now += 10 * time.Second
	var copies int
	for _, one := range d.lease("xA", 64) {
		if one.Speculative {
			copies++
		}
	}
	if copies != 2 {
		t.Errorf("%d speculative copies", copies)
	}
}

// A message names how long a task stood still.
func TestHowLongATaskStoodStill(t *testing.T) {
	d := newDesk(t, 1, 64)
	d.now += time.Hour
	d.register("w", 1)
	g := d.lease("w", 1)[0]
	d.at(7, g)
	began := d.now
	for len(d.at(7, g)) == 0 {
		d.now += 10 * time.Second
	}
	if still := d.now - began; still != 30*time.Minute+10*time.Second {
		t.Errorf("taken away after %v", still)
	}
	if _, last := d.board.Jobs.Trouble(jobOf(d.view, "a")); !strings.Contains(last, "stood still for 30m10s on worker w") {
		t.Error(last)
	}
}
