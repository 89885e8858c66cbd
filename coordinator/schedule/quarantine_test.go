package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// failOn lets a task fail on one worker, and be done by another unless that fails as well.
func (d *desk) failOn(worker, other string, id string, bothFail bool) {
	d.Helper()
	d.view = run(d.T, d.view, submitted(id, 9, 0), start(id), completions(planned(id, 1)))
	defer func() {
		d.view = run(d.T, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}})
	}()
	g := d.lease(worker, 1)
	if len(g) != 1 || g[0].Task.JobID != id {
		d.Fatalf("%s was granted %v", worker, g)
	}
	d.fault(worker, g[0], taskClass, protocol.CodeStoreDenied)
	d.now += d.cfg.RetryDelay
	g = d.lease(other, 1)
	if len(g) != 1 || g[0].Task.JobID != id {
		d.Fatalf("%s was granted %v", other, g)
	}
	if bothFail {
		d.fault(other, g[0], taskClass, protocol.CodeStoreDenied)
		return
	}
	d.view, _ = state.Apply(d.view, completions(nodeDone(g[0].Task)))
	d.board.Done(jobOf(d.view, id), g[0].Task, other, true, d.now)
}

func (d *desk) quarantined(worker string) string {
	w, _ := d.board.Roster.Worker(worker)
	return w.Quarantine(d.now)
}

// A worker on which tasks of several jobs fail that another then does is leased nothing for a while.
func TestAWorkerAtFaultIsQuarantined(t *testing.T) {
	d := newDesk(t, 1, 40)
	d.register("good", 1)
	for i := range 4 {
		d.failOn("w", "good", fmt.Sprint("j", i), false)
	}
	if why := d.quarantined("w"); why != "" {
		t.Fatalf("after four faults: %s", why)
	}
	d.failOn("w", "good", "j4", false)
	if why := d.quarantined("w"); !strings.Contains(why, "5 tasks of 5 jobs") {
		t.Errorf("after five faults: %q", why)
	}
	d.wantNodes("w", 1)
	if g := d.lease("good", 1); len(g) != 1 {
		t.Errorf("the other was granted %v", g)
	}
	d.register("w", 1) // as after a loss of the connection
	d.wantNodes("w", 1)
	d.now += 11 * time.Minute
	d.register("good", 1)
	if g := d.lease("w", 1); len(g) != 1 {
		t.Errorf("after ten minutes it was granted %v", g)
	}
}

// What fails everywhere is the task's own affair, and the last worker is never quarantined.
func TestNoQuarantineForBadTasks(t *testing.T) {
	d := newDesk(t, 1, 40)
	d.register("other", 1)
	for i := range 6 {
		d.failOn("w", "other", fmt.Sprint("bad", i), true)
	}
	if d.quarantined("w") != "" || d.quarantined("other") != "" {
		t.Error("a worker is quarantined for tasks that fail everywhere")
	}
}

func TestTheLastWorkerIsLeasedTasks(t *testing.T) {
	d := newDesk(t, 1, 40)
	d.register("good", 1)
	for i := range 5 {
		d.failOn("w", "good", fmt.Sprint("j", i), false)
	}
	d.now += d.cfg.LeaseTTL // the other is gone
	d.board.Known("w", d.now)
	if g := d.lease("w", 1); len(g) != 1 {
		t.Errorf("the last worker was granted %v", g)
	}
}

// Speculative copies take no more than the slots of one worker, or a twentieth of all.
func TestSpeculativeCopiesAreBounded(t *testing.T) {
	d := newDesk(t, 1, 64)
	for i := range 20 {
		d.register(fmt.Sprint("slow", i), 1)
	}
	for at := 0; at < 48; at++ { // three quarters, in 200 ms each
		g := d.lease("w", 1)
		d.now += 200 * ms
		if len(g) == 0 {
			break
		}
		d.commit(g[0].Task.Node)
	}
	for i := range 20 {
		d.lease(fmt.Sprint("slow", i), 1)
	}
	d.now += 10 * time.Second
	var granted []schedule.Grant
	for i := range 20 {
		id := fmt.Sprint("fresh", i)
		d.register(id, 1)
		for _, g := range d.lease(id, 2) {
			if g.Speculative {
				granted = append(granted, g)
			}
		}
	}
	if len(granted) != 2 { // 41 slots
		t.Errorf("%d speculative copies", len(granted))
	}
}

// A worker that is kept apart for what must be alone, and is quarantined then, does not keep others from it.
func TestAQuarantinedWorkerIsNotKeptApart(t *testing.T) {
	d := newDesk(t, 2, 2)
	d.register("good", 2)
	for i := range 4 {
		d.failOn("w", "good", fmt.Sprint("j", i), false)
	}
	d.view = run(t, d.view, submitted("last", 9, 0), start("last"), completions(planned("last", 1)))
	d.fault("w", d.lease("w", 1)[0], taskClass, protocol.CodeStoreDenied)
	for _, dies := range []string{"x", "y"} {
		d.board.Register(d.view, schedule.Worker{ID: dies, Slots: 3}, nil, d.now)
		d.lease(dies, 3)
		d.now += d.cfg.LeaseTTL
		d.board.Known("w", d.now)
		d.board.Known("good", d.now)
		d.board.Expire(d.now)
	}
	alone := d.lease("w", 2)
	if len(alone) != 1 || d.quarantined("w") != "" {
		t.Fatalf("w was granted %v", alone)
	}
	d.commitOther("good", "last")
	if d.quarantined("w") == "" {
		t.Fatal("w is not quarantined")
	}
	d.view, _ = state.Apply(d.view, completions(nodeDone(alone[0].Task)))
	d.board.Done(jobOf(d.view, alone[0].Task.JobID), alone[0].Task, "w", true, d.now)
	d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "last"}}})
	if g := d.lease("good", 2); len(g) != 1 {
		t.Errorf("the other was granted %v", g)
	}
}

// commitOther lets a worker do the one leaf of a job.
func (d *desk) commitOther(worker, id string) {
	d.Helper()
	leaf := schedule.Task{JobID: id, Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE}
	d.view, _ = state.Apply(d.view, completions(nodeDone(leaf)))
	d.board.Done(jobOf(d.view, id), leaf, worker, true, d.now)
}
