package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const tenMinutes = 10 * time.Minute // that a worker is quarantined

// quarantine has tasks of five jobs fail on a worker that another then makes. It returns when the worker is leased
// tasks again.
func (d *desk) quarantine(worker, other string) (until time.Duration) {
	d.Helper()
	for i := range 5 {
		d.failOn(worker, other, fmt.Sprint("j", i), false)
	}
	if d.quarantined(worker) == "" {
		d.Fatalf("%s is not quarantined", worker)
	}
	return d.now + tenMinutes
}

// turnTo sets the clock, and all of these workers are heard of.
func (d *desk) turnTo(now time.Duration, workers ...string) {
	d.now = now
	for _, w := range workers {
		d.board.Known(w, now)
	}
}

// isAsked leases all tasks that there are to a worker and reports whether an audit is among them.
func (d *desk) isAsked(worker string) bool {
	return slices.ContainsFunc(d.lease(worker, 9), func(g schedule.Grant) bool { return g.Audit != nil })
}

// While a job goes on, its audits are for workers with other kernels than the maker's, where there is one.
func TestAnAuditIsForOtherKernels(t *testing.T) {
	d := audited(t, 1)
	d.board.Register(d.view, schedule.Worker{ID: "other", Slots: 1, Kernels: "avx2"}, nil, d.now)
	if d.isAsked("x") {
		t.Error("a worker with the maker's kernels is asked before one with others")
	}
	if !d.isAsked("other") {
		t.Error("the worker with other kernels is not asked")
	}
	if d = audited(t, 1); !d.isAsked("x") {
		t.Error("where there are no other kernels, nobody is asked")
	}
}

// Until the moment when its quarantine ends, a worker counts for nothing: no other is kept from an audit for its
// sake, a worker that failed an audit tries again, and a job with one worker else does not wait for it.
func TestAQuarantineAndAudits(t *testing.T) {
	for before, isThere := range map[time.Duration]bool{1: false, 0: true} {
		d := audited(t, 1)
		d.board.Register(d.view, schedule.Worker{ID: "q", Slots: 1, Kernels: "avx2"}, nil, d.now)
		d.turnTo(d.quarantine("q", "w")-before, "q", "w", "x")
		if d.isAsked("x") == isThere {
			t.Errorf("%v before the end: a worker with the maker's kernels is asked: %v", before, !isThere)
		}

		d = auditDesk(t)
		d.made("o", stepDone(7), pb.Verdict_VERDICT_AUDITED)
		d.worker("q", "")
		until := d.quarantine("q", "m")
		d.worker("failed", "")
		d.fault("failed", d.wantAudit("failed", leafKind, false), inTask, "X")
		d.turnTo(until-before, "m", "q", "failed")
		if d.isAsked("failed") == isThere {
			t.Errorf("%v before the end: a worker that failed once is asked again: %v", before, !isThere)
		}

		d = auditDesk(t)
		d.worker("q", "")
		d.turnTo(d.quarantine("q", "m")-before, "m", "q")
		if waivers := d.board.Audits.Waivers(d.view, d.now); (len(waivers) == 0) != isThere {
			t.Errorf("%v before the end: waived %v", before, waivers)
		}
	}
}

// An audit that was taken away since it stood still rests for two delays, and so does one that was to be made again
// and failed.
func TestHowLongAnAuditRests(t *testing.T) {
	d := audited(t, 1)
	held := heldOf(d.leaseAudit("x", pb.TaskKind_TASK_KIND_PLAN, 0))
	held.Progress = 1
	for lost := 0; lost == 0; {
		if d.turnTo(d.now+d.cfg.LeaseTTL/3, "w"); d.now > time.Hour {
			t.Fatal("never taken away")
		}
		lost = len(d.board.Heartbeat(d.view, "x", []schedule.Held{held}, d.now))
	}
	asked := d.now
	if d.turnTo(asked+2*d.cfg.RetryDelay-1, "w"); d.isAsked("x") {
		t.Error("asked again before two delays are over")
	}
	if d.turnTo(asked+2*d.cfg.RetryDelay, "w"); !d.isAsked("x") {
		t.Error("not asked again when two delays are over")
	}

	d = disputed(t, "avx2")
	d.turnTo(time.Second, "m", "x")
	d.fault("x", d.wantAudit("x", leafKind, true), inTask, "X")
	d.turnTo(time.Second+2*d.cfg.RetryDelay-1, "m")
	d.wantNothing("x", "before two delays are over")
	d.turnTo(time.Second+2*d.cfg.RetryDelay, "m")
	d.wantAudit("x", leafKind, true)
}

// A store that does not answer is waited for from the first failure on; where jobs wait for one without end, so do
// their audits.
func TestHowLongAnAuditWaitsForAStore(t *testing.T) {
	patience := schedule.DefaultConfig().DenyPatience
	for _, c := range []struct {
		patience, after time.Duration
		waived          bool
	}{
		{patience, 0, false}, {patience, patience - 1, false}, {patience, patience, true},
		{0, 0, false}, {0, 100 * time.Hour, false},
	} {
		d := audited(t, 1)
		d.cfg.DenyPatience = c.patience
		d.board = schedule.NewBoard(d.cfg, 1, state.New(), 0)
		fails := func(at time.Duration) *pb.Command {
			d.now = at
			d.register("w", 1)
			d.register("x", 1)
			g := d.leaseAudit("x", pb.TaskKind_TASK_KIND_PLAN, 0)
			return d.fault("x", g, pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE, protocol.CodeStore)
		}
		cmd := fails(time.Hour)
		if c.after > 0 && cmd == nil {
			cmd = fails(time.Hour + c.after)
		}
		if waived := cmd.GetWaiveAudits() != nil; waived != c.waived {
			t.Errorf("of a patience of %v, %v after the first failure: waived %v", c.patience, c.after, waived)
		}
	}
}

// A worker that registers again still holds its audit, of which another that says it holds it too gets nothing.
func TestAnAuditHasOneHolder(t *testing.T) {
	d := audited(t, 1)
	held := heldOf(d.leaseAudit("x", pb.TaskKind_TASK_KIND_PLAN, 0))
	for _, worker := range []string{"x", "y"} {
		before := d.board.Jobs.Leased("a", worker)
		d.register(worker, 1, held)
		if after := d.board.Jobs.Leased("a", worker); after != before {
			t.Errorf("%s had %d leases, has %d", worker, before, after)
		}
	}
	for worker, want := range map[string]int{"x": 0, "y": 1} {
		if lost := d.board.Heartbeat(d.view, worker, []schedule.Held{held}, d.now); len(lost) != want {
			t.Errorf("%s has lost %v", worker, lost)
		}
	}
}

// A third worker decides: who was wrong is told once, and is leased nothing for good, by a new leader too.
func TestAConvictionIsToldOnce(t *testing.T) {
	d := disputed(t, "")
	d.worker("third", "")
	d.view = run(t, d.view, completions(by("third", nodeDone(leafTask))))
	if told := d.board.Audits.Done(jobOf(d.view, "a"), leafTask, "third", d.now); len(told) != 1 ||
		told[0].WorkerID != "x" {
		t.Errorf("told %v", told)
	}
	if told := d.board.Audits.Done(jobOf(d.view, "a"), leafTask, "third", d.now); len(told) != 0 {
		t.Errorf("told again: %v", told)
	}
	whose := "another result of round 1, tree 0, node 0/0 of job a than two others"
	for range 2 {
		d.lease("third", 1)
		d.turnTo(d.now+100*24*time.Hour, "m", "x", "third")
		if why := d.quarantined("x"); !strings.Contains(why, whose) {
			t.Errorf("the wrong worker is leased tasks: %q", why)
		}
		if why := d.quarantined("m"); why != "" {
			t.Errorf("an honest worker is not: %s", why)
		}
		d.board = schedule.NewBoard(d.cfg, 2, d.view, d.now)
		for _, w := range []string{"m", "x", "third"} {
			d.worker(w, "")
		}
	}
}

// A worker that makes a job's tasks again is one of its max_workers.
func TestMaxWorkersCountAuditors(t *testing.T) {
	d := auditsAllOf(t, submitted("a", 0, 1))
	d.made("m", planned("a", 1), pb.Verdict_VERDICT_ACCEPTED)
	d.made("m", nodeDone(leafTask), pb.Verdict_VERDICT_ACCEPTED)
	d.made("m", stepDone(7), pb.Verdict_VERDICT_ACCEPTED)
	d.register("x", 2)
	d.register("y", 1)
	d.wantAudit("x", pb.TaskKind_TASK_KIND_PLAN, false)
	d.wantNothing("y", "while x is the one that may work on the job")
	d.wantAudit("x", leafKind, false)
}
