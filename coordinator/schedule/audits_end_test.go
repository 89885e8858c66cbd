package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// by has a worker make a result.
func by(worker string, c *pb.Completion) *pb.Completion {
	c.Worker, c.WorkerId = worker, worker
	return c
}

// audited is a desk with a job "a" over the trees, all of which is audited; worker "w" planned it.
func audited(t *testing.T, trees ...uint32) *desk {
	d := allAudited(t)
	d.view = run(t, d.view, completions(by("w", planned("a", trees...))))
	d.register("w", 1)
	d.register("x", 1)
	return d
}

// leaseAudit leases audits to a worker until one is of a kind.
func (d *desk) leaseAudit(worker string, kind pb.TaskKind, tree uint32) schedule.Grant {
	d.Helper()
	for range 100 {
		for _, g := range d.lease(worker, 1) {
			if g.Audit != nil && g.Task.Kind == kind && g.Task.Tree == tree {
				return g
			}
		}
	}
	d.Fatalf("no audit of a %v in tree %d", kind, tree)
	return schedule.Grant{}
}

// An audit may outlast its round, and the next one may have fewer trees.
func TestAnAuditOfATreeThatIsNoMore(t *testing.T) {
	d := audited(t, 1, 1, 1)
	for tree := range uint32(3) {
		leaf := leafTask
		leaf.Tree = tree
		d.view = run(t, d.view, completions(by("w", nodeDone(leaf))))
	}
	g := d.leaseAudit("x", pb.TaskKind_TASK_KIND_NODE, 2)
	d.closeRound(9)
	held := heldOf(g)
	held.Progress = 1
	for range 400 {
		d.now += d.cfg.LeaseTTL / 3
		d.board.Known("w", d.now)
		if lost := d.board.Heartbeat(d.view, "x", []schedule.Held{held}, d.now); len(lost) > 0 {
			if d.now < 30*time.Minute {
				t.Errorf("taken away after %v", d.now)
			}
			return
		}
	}
	t.Error("an audit that stands still is never taken away")
}

// An audit whose workers fall silent rests longer each time: it may be what ends them.
func TestAnAuditThatEndsItsWorkers(t *testing.T) {
	d := audited(t, 1)
	d.leaseAudit("x", pb.TaskKind_TASK_KIND_PLAN, 0)
	rest := time.Duration(0)
	for range 5 {
		d.now += d.cfg.LeaseTTL
		d.board.Expire(d.now)
		d.register("x", 1)
		from := d.now
		for !slices.ContainsFunc(d.lease("x", 1), func(g schedule.Grant) bool { return g.Audit != nil }) {
			d.now += d.cfg.RetryDelay
			d.board.Known("x", d.now)
			if d.now-from > time.Hour {
				t.Fatal("never leased again")
			}
		}
		if d.now-from <= rest {
			t.Errorf("rests for %v, before for %v", d.now-from, rest)
		}
		rest = d.now - from
	}
}

// The only worker that can make an audit has a store that does not answer. The audit is tried for as long as a job
// waits for a store, and then waived, since the job would never end.
func TestAnAuditWithoutAStore(t *testing.T) {
	d := audited(t, 1)
	tries := 0
	for from := d.now; ; d.now += d.cfg.RetryDelay {
		if d.now-from > time.Hour {
			t.Fatalf("tried for an hour, %d times", tries)
		}
		d.board.Known("w", d.now)
		d.board.Known("x", d.now)
		grants := d.lease("x", 1)
		at := slices.IndexFunc(grants, func(g schedule.Grant) bool { return g.Audit != nil })
		if at < 0 {
			continue
		}
		tries++
		cmd := d.fault("x", grants[at], pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE, protocol.CodeStore)
		if cmd == nil {
			continue
		}
		if cmd.GetWaiveAudits() == nil || d.now-from < d.cfg.DenyPatience || tries > 100 {
			t.Errorf("%v after %v and %d tries", cmd, d.now-from, tries)
		}
		return
	}
}

// A task has two results, and its input is gone, so nobody can tell which is right: the task is made again.
func TestADisputeThatNobodyCanDecide(t *testing.T) {
	d := audited(t, 1)
	other := by("x", nodeDone(leafTask))
	other.Output.Object = ref(77)
	d.view = run(t, d.view, completions(by("w", nodeDone(leafTask)), by("w", stepDone(9)), other))
	d.register("y", 1)
	for range 10 {
		g := d.leaseAudit("y", leafKind, 0)
		cmd := d.missing("y", g, 0, ref(3))
		d.now += 2 * time.Second
		if cmd == nil {
			continue
		}
		d.view = run(t, d.view, cmd)
		if job := jobOf(d.view, "a"); job.Reporting() || job.Rounds.Open.Covered != 0 || job.Audits.Pending() != 1 {
			t.Errorf("%v: reporting %v, %d leaves, %d audits", cmd, job.Reporting(), job.Rounds.Open.Covered,
				job.Audits.Pending())
		}
		return
	}
	t.Error("it waits without end")
}

// The maker of a task found no fault with the input. An auditor that finds one is believed if a second auditor finds
// it, too, or if it is the only one and insists.
func TestAnAuditorsWordOnTheInput(t *testing.T) {
	says := func(d *desk, worker string) *pb.Command {
		d.now += 10 * time.Second
		for _, w := range []string{"w", "x", "y"} {
			d.board.Known(w, d.now)
		}
		plan := d.leaseAudit(worker, pb.TaskKind_TASK_KIND_PLAN, 0)
		return d.fault(worker, plan, pb.FailureClass_FAILURE_CLASS_INPUT, protocol.CodeBadRecord)
	}
	d := audited(t, 1)
	d.register("y", 1)
	if cmd := says(d, "x"); cmd != nil {
		t.Errorf("one of two auditors: %v", cmd)
	}
	if cmd := says(d, "y"); cmd.GetFail() == nil {
		t.Errorf("both auditors: %v", cmd)
	}
	d = audited(t, 1)
	for try := 1; try < d.cfg.MaxAttempts; try++ {
		if cmd := says(d, "x"); cmd != nil {
			t.Errorf("the only auditor, time %d: %v", try, cmd)
		}
	}
	if cmd := says(d, "x"); cmd.GetFail() == nil {
		t.Errorf("the only auditor insists: %v", cmd)
	}
}
