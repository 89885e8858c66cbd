package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// quietDesk is a desk whose first worker is forgotten.
func quietDesk(t *testing.T, trees ...uint32) *desk {
	d := newDesk(t, 1, trees...)
	d.pass(11 * d.cfg.LeaseTTL)
	return d
}

func (d *desk) pass(t time.Duration) {
	d.now += t
	d.board.Expire(d.now)
}

// dies has a new worker take up one task and end with it.
func (d *desk) dies(worker string) schedule.Grant {
	d.Helper()
	d.register(worker, 1)
	g := d.lease(worker, 1)
	if len(g) != 1 {
		d.Fatalf("%s was granted %v", worker, g)
	}
	d.pass(d.cfg.LeaseTTL)
	return g[0]
}

// diesWith is dies with this node.
func (d *desk) diesWith(worker string, n protocol.Node) {
	d.Helper()
	if g := d.dies(worker); g.Task.Node != n {
		d.Fatalf("%s was granted %v, want %v", worker, g.Task.Node, n)
	}
}

func (d *desk) wantDeaths(want int) {
	d.Helper()
	if n := d.board.Deaths.Count(jobOf(d.view, "a")); n != want {
		d.Errorf("%d workers count, want %d", n, want)
	}
}

// A node comes in halves each time a worker ends with it, then alone: to a worker that has nothing else, and a lease's
// time after the last that ended so.
func TestHalvesAndThenAlone(t *testing.T) {
	d := quietDesk(t, 32)
	d.diesWith("p1", node(3, 0))
	d.diesWith("p2", node(2, 0)) // (1,0) has been lost with two workers
	d.register("p3", 1)
	d.wantNodes("p3", 1, node(1, 0))
	if l := d.board.Live(); len(l) != 1 || !l[0].Alone {
		t.Fatalf("leased %+v, want one task alone", l)
	}
	d.pass(d.cfg.LeaseTTL)
	rests := d.now + d.cfg.LeaseTTL
	if wake, ok := d.board.NextWake(d.now); !ok || wake != rests {
		t.Errorf("wakes at %v, want %v", wake, rests)
	}
	d.now = rests - 1
	d.register("p4", 1)
	d.wantNodes("p4", 1, node(1, 1)) // its other half; what was lost alone rests
	d.commit(node(1, 1))
	d.now = rests
	d.wantNodes("p4", 1, node(0, 0))
}

// What is suspected of a map ends when its leaves are committed, each by itself or all at once; what is suspected of a
// merge ends with the merge.
func TestSuspicionEndsWithTheWork(t *testing.T) {
	d := quietDesk(t, 16)
	d.diesWith("p1", node(2, 0))
	d.commit(node(0, 0))
	d.wantDeaths(1)
	d.commit(node(2, 0))
	d.wantDeaths(0)
	d.diesWith("p2", node(1, 2)) // leaves 4 and 5
	d.commit(node(0, 4))
	d.wantDeaths(1)
	d.commit(node(0, 5))
	d.wantDeaths(0)
	d.commit(node(1, 3), node(2, 2), node(2, 3))
	d.diesWith("p3", node(4, 0)) // the merge of all
	d.commit(node(1, 2))         // a part of it, by an older lease
	d.wantDeaths(1)
	d.commit(node(4, 0))
	d.wantDeaths(0)
}

// Two workers ended with a task, and one of them is heard of again: the other still counts.
func TestOneOfTwoComesBack(t *testing.T) {
	d := quietDesk(t, 1)
	d.dies("p1")
	d.dies("p2")
	d.wantDeaths(2)
	d.board.Known("p1", d.now)
	d.wantDeaths(1)
}

// poisoned is a desk whose only task has ended as many workers as are given, all but the first two alone with it.
func poisoned(t *testing.T, names ...string) *desk {
	d := quietDesk(t, 1)
	d.dies("first")
	d.dies("second")
	for i, name := range names {
		d.board.Register(d.view, schedule.Worker{ID: fmt.Sprint("p", i), Name: name, Slots: 1}, nil, d.now)
		if g := d.lease(fmt.Sprint("p", i), 1); len(g) != 1 {
			t.Fatalf("%d was granted %v", i, g)
		}
		d.pass(d.cfg.LeaseTTL)
		if i < len(names)-1 {
			d.pass(d.cfg.LeaseTTL) // it rests
		}
	}
	return d
}

// The fourth worker that a task ended while alone fails the job, which names the last of them, if it has a name.
func TestTheFourthDeathCondemns(t *testing.T) {
	d := poisoned(t, "host-1", "host-2", "host-3")
	if cmds := d.board.Deaths.Condemned(d.view, d.now); len(cmds) != 0 {
		t.Fatalf("after three: %v", cmds)
	}
	for last, want := range map[string]string{"host-4": "host-4", "": "p3"} {
		d = poisoned(t, "host-1", "host-2", "host-3", last)
		cmds := d.board.Deaths.Condemned(d.view, d.now)
		if len(cmds) != 1 || cmds[0].GetFail().GetFailure().GetWorker() != want {
			t.Errorf("condemned by %v, want the last worker to be %s", cmds, want)
		}
	}
}

// A worker with no task ends in the same moment as the fourth: somebody ends workers, whatever they do. One that has
// been heard of just before takes nothing back.
func TestAnIdleWorkerThatEnds(t *testing.T) {
	for _, late := range []time.Duration{0, 1} {
		d := poisoned(t, "", "", "")
		d.pass(d.cfg.LeaseTTL)
		d.register("fourth", 1)
		d.lease("fourth", 1)
		d.now += late
		d.register("idle", 1)
		d.pass(d.cfg.LeaseTTL - late)
		if n := len(d.board.Deaths.Condemned(d.view, d.now)); n != int(late) {
			t.Errorf("%d jobs fail when an idle worker has been silent for a lease's time less %v", n, late)
		}
	}
}

// A worker whose lease ran out may still call: the verdict waits until all are silent, and no longer, whatever other
// jobs wait for.
func TestAVerdictWaitsForSilence(t *testing.T) {
	d := poisoned(t, "", "", "")
	d.pass(d.cfg.LeaseTTL)
	d.register("p3", 1)
	d.lease("p3", 1)
	d.now += 10 * time.Second
	d.board.Known("p3", d.now)
	silent := d.now + d.cfg.LeaseTTL
	d.pass(d.cfg.LeaseTTL - 10*time.Second)
	for _, now := range []time.Duration{d.now, silent - 1, silent} {
		if n := len(d.board.Deaths.Condemned(d.view, now)); (n == 1) != (now == silent) {
			t.Errorf("%d jobs fail at %v; the last worker has been silent from %v on", n, now, silent)
		}
		if wake, ok := d.board.NextWake(now); (ok && wake == silent) == (now == silent) {
			t.Errorf("at %v: wakes at %v, %v", now, wake, ok)
		}
	}
}

// A step that ends its workers must be alone like any other task, and fails the job in the end.
func TestAStepThatEndsItsWorkers(t *testing.T) {
	d := quietDesk(t, 1)
	d.commit(node(0, 0))
	for i := range 2 + d.cfg.MaxDeaths {
		if g := d.dies(fmt.Sprint("p", i)); g.Task.Kind != pb.TaskKind_TASK_KIND_STEP {
			t.Fatalf("granted %v", g.Task)
		}
		cmds := d.board.Deaths.Condemned(d.view, d.now)
		if last := i == 1+d.cfg.MaxDeaths; (len(cmds) == 1) != last {
			t.Fatalf("after %d deaths: %v", i+1, cmds)
		}
		d.pass(d.cfg.LeaseTTL)
	}
	d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	if cmds := d.board.Deaths.Condemned(d.view, d.now); len(cmds) != 0 {
		t.Errorf("a job that has ended fails: %v", cmds)
	}
}
