package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// allAudited is a desk with a job "a" that waits for its plan, and all of which is audited.
func allAudited(t *testing.T) *desk { return auditsAllOf(t, submit("a")) }

// auditsAllOf is allAudited for a submit of job "a".
func auditsAllOf(t *testing.T, submitted *pb.Command) *desk {
	d := &desk{T: t, cfg: schedule.DefaultConfig()}
	begin := &pb.InitCluster{ClusterId: "c", Secret: []byte("thirty-two bytes that nobody knows")}
	submitted.GetSubmit().AuditPpm = 1_000_000
	d.view = run(t, state.New(), &pb.Command{Body: &pb.Command_Init{Init: begin}}, submitted, start("a"))
	d.board = schedule.NewBoard(d.cfg, 1, state.New(), 0)
	return d
}

// auditDesk is a desk with a job "a" of one leaf, all of which is audited: worker "m" has planned it, made the leaf and
// the model. The audits of leaf and step wait, the plan's is done.
func auditDesk(t *testing.T) *desk {
	d := allAudited(t)
	d.worker("m", "avx2")
	d.made("m", planned("a", 1), pb.Verdict_VERDICT_ACCEPTED)
	d.made("o", planned("a", 1), pb.Verdict_VERDICT_AUDITED)
	d.made("m", nodeDone(leafTask), pb.Verdict_VERDICT_ACCEPTED)
	d.made("m", stepDone(7), pb.Verdict_VERDICT_ACCEPTED)
	return d
}

var leafTask = schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE}

func stepDone(model uint64) *pb.Completion {
	return &pb.Completion{
		Id:     &pb.TaskID{JobId: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_STEP},
		Output: &pb.TaskOutput{Next: &pb.Next{Done: true, State: ref(model)}},
	}
}

// worker registers a worker with a second kernel set; "" means that its machine runs one only.
func (d *desk) worker(id, other string) {
	d.board.Register(d.view, schedule.Worker{ID: id, Name: id, Slots: 1, Kernels: "generic", Other: other}, nil, d.now)
}

// made commits what a worker made, as a leader would.
func (d *desk) made(worker string, c *pb.Completion, want pb.Verdict) {
	d.Helper()
	if c.Worker, c.WorkerId, c.Kernels = worker, worker, "generic"; c.Id.Again {
		c.Kernels = "avx2"
	}
	next, reply := state.Apply(d.view, completions(c))
	if reply.Verdicts[0] != want {
		d.Fatalf("%v by %s: verdict %v, want %v", c.Id, worker, reply.Verdicts[0], want)
	}
	d.view = next
	task := schedule.Task{JobID: "a", Round: c.Id.Round, Kind: c.Id.Kind, Changes: c.Id.Changes, Again: c.Id.Again}
	d.board.Audits.Done(jobOf(d.view, "a"), task, worker, d.now)
}

// wantAudit has a worker ask for one task, which must be the audit of this kind.
func (d *desk) wantAudit(worker string, kind pb.TaskKind, again bool) schedule.Grant {
	d.Helper()
	grants := d.lease(worker, 1)
	if len(grants) != 1 || grants[0].Audit == nil || grants[0].Task.Kind != kind || grants[0].Task.Again != again {
		d.Fatalf("%s was granted %+v, want the audit of a %v, again %v", worker, grants, kind, again)
	}
	return grants[0]
}

func (d *desk) wantNothing(worker, when string) {
	d.Helper()
	if grants := d.lease(worker, 1); len(grants) != 0 {
		d.Fatalf("%s was granted %v %s", worker, grants[0].Task, when)
	}
}

func (d *desk) audit(kind pb.TaskKind) *state.Audit {
	d.Helper()
	a, ok := jobOf(d.view, "a").Audits.Of(1, kind, 0, node(0, 0))
	if !ok {
		d.Fatalf("no audit of a %v", kind)
	}
	return a
}

const (
	leafKind = pb.TaskKind_TASK_KIND_NODE
	inTask   = pb.FailureClass_FAILURE_CLASS_TASK
)

// An audit is waived when every live worker but its makers has failed it twice, not before, and that is counted by
// name. A worker that comes later is asked first.
func TestAnAuditIsWaivedWhenEveryWorkerFailedItTwice(t *testing.T) {
	d := auditDesk(t)
	d.made("o", stepDone(7), pb.Verdict_VERDICT_AUDITED)
	d.worker("f", "")
	d.worker("g", "")
	failures := map[string]int{}
	for turn := 0; ; turn++ {
		if turn > 8 {
			t.Fatalf("not waived after %v failures", failures)
		}
		if d.now += 2 * time.Second; turn == 3 {
			d.worker("h", "")
		}
		asked := false
		for _, id := range []string{"f", "g", "h"} {
			d.board.Known(id, d.now)
			grants := d.lease(id, 1)
			if d.board.Known("m", d.now); len(grants) == 0 {
				continue
			}
			if grants[0].Task.Kind != leafKind {
				t.Fatalf("%s was granted %v", id, grants[0].Task)
			}
			asked = true
			failures[id]++
			waiver := d.fault(id, grants[0], inTask, "X")
			if waiver == nil {
				break
			}
			if failures["f"] != 2 || failures["g"] != 2 || failures["h"] != 2 {
				t.Fatalf("waived after %v failures", failures)
			}
			d.view = run(t, d.view, waiver)
			a, tasks := jobOf(d.view, "a").Audits.Summary(), []string{"round 1, tree 0, node 0/0"}
			if a.GetWaived() != 1 || a.GetFailed() != 1 || !slices.Equal(a.GetWaivedTasks(), tasks) ||
				a.GetPending() != 0 {
				t.Errorf("%v", a)
			}
			return
		}
		if !asked {
			t.Fatalf("nobody is asked after %v failures", failures)
		}
	}
}

// One of two bad workers is wrong, and the other fails what would show it. With an honest worker the wrong one is
// convicted, however often the other fails. Without one the audit is waived in the open. A disputed audit is never
// waived.
func TestTwoBadWorkers(t *testing.T) {
	failing := func(d *desk) (waiver *pb.Command) {
		for turn := 0; turn < 4 && waiver == nil; turn++ {
			d.now += 2 * time.Second
			for _, id := range []string{"m", "f", "honest"} {
				d.board.Known(id, d.now)
			}
			if grants := d.lease("f", 1); len(grants) > 0 {
				waiver = d.fault("f", grants[0], inTask, "X")
			}
		}
		return waiver
	}
	d := auditDesk(t)
	d.worker("f", "")
	if waiver := failing(d); len(waiver.GetWaiveAudits().GetTasks()) != 1 {
		t.Errorf("with nobody else: %v", waiver)
	}
	d = auditDesk(t)
	d.worker("f", "")
	d.worker("honest", "")
	if waiver := failing(d); waiver != nil {
		t.Fatalf("waived before an honest worker was asked: %v", waiver)
	}
	d.wantAudit("honest", leafKind, false)
	truth := nodeDone(leafTask)
	truth.Output.Object = ref(99)
	d.made("honest", truth, pb.Verdict_VERDICT_AUDITED)
	if waiver := failing(d); waiver != nil {
		t.Fatalf("a disputed audit is waived: %v", waiver)
	}
	if a := jobOf(d.view, "a").Audits.Summary(); a.GetDisputed() != 1 || a.GetPending() != 2 || a.GetWaived() != 0 {
		t.Errorf("%v", a)
	}
	for _, cmd := range d.board.Audits.Waivers(d.view, d.now) {
		t.Errorf("waived: %v", cmd)
	}
}

// A job waits for audits alone, and there is only one worker: the audits that nobody disputes are waived. A second
// worker, even a silent one, is waited for until its lease's time is over.
func TestWaiversOfOneWorker(t *testing.T) {
	d := auditDesk(t)
	d.worker("x", "")
	if got := d.board.Audits.Waivers(d.view, d.now); len(got) != 0 {
		t.Fatalf("with two workers: %v", got)
	}
	d.now += d.cfg.LeaseTTL
	d.board.Known("m", d.now)
	got := d.board.Audits.Waivers(d.view, d.now)
	if len(got) != 1 || len(got[0].GetWaiveAudits().GetTasks()) != 0 {
		t.Fatalf("alone: %v", got)
	}
	d.view = run(t, d.view, got...)
	if a := jobOf(d.view, "a").Audits.Summary(); a.GetWaived() != 2 || a.GetFailed() != 0 || a.GetPending() != 0 {
		t.Errorf("%v", a)
	}
}

// disputed is an audit desk where "x" made another leaf than "m".
func disputed(t *testing.T, other string) *desk {
	d := auditDesk(t)
	d.worker("x", other)
	d.wantAudit("x", leafKind, false)
	lie := nodeDone(leafTask)
	lie.Output.Object = ref(99)
	d.made("x", lie, pb.Verdict_VERDICT_AUDITED)
	d.made("o", stepDone(7), pb.Verdict_VERDICT_AUDITED)
	return d
}

func (d *desk) standoff(want schedule.Standoff) {
	d.Helper()
	if got := d.board.Audits.Standoff(jobOf(d.view, "a"), d.audit(leafKind), d.now); got != want {
		d.Fatalf("standoff %d, want %d", got, want)
	}
}

// Two workers disagree, and there is no third: each is leased the task again, one at a time, with its other kernel set.
// A heartbeat keeps the lease.
func TestTwoThatDisagreeMakeItAgain(t *testing.T) {
	d := disputed(t, "avx2")
	d.standoff(schedule.BothRepeat)
	grant := d.wantAudit("x", leafKind, true)
	d.wantNothing("m", "while the other makes it again")
	d.now += d.cfg.LeaseTTL - 1
	if lost := d.board.Heartbeat(d.view, "x", []schedule.Held{heldOf(grant)}, d.now); len(lost) != 0 {
		t.Errorf("lost %v", lost)
	}
	if lost := d.board.Heartbeat(d.view, "m", []schedule.Held{heldOf(grant)}, d.now); len(lost) != 1 {
		t.Errorf("another's lease is renewed: %v", lost)
	}
	d.now += 1
	lie := nodeDone(leafTask)
	lie.Output.Object, lie.Id.Again = ref(99), true
	d.made("x", lie, pb.Verdict_VERDICT_AUDITED)
	d.standoff(schedule.BothRepeat)
	d.wantNothing("x", "after it made it again")
	d.wantAudit("m", leafKind, true)
	insists := nodeDone(leafTask)
	insists.Id.Again = true
	d.made("m", insists, pb.Verdict_VERDICT_AUDITED)
	d.standoff(schedule.BothInsist)
	d.wantNothing("m", "after both insist")
	d.worker("third", "")
	d.standoff(schedule.AThirdDecides)
	d.wantAudit("third", leafKind, false)
}

// With a third worker, or if one of the two cannot, nobody makes it again.
func TestWhoIsNotAskedToMakeItAgain(t *testing.T) {
	d := disputed(t, "")
	d.standoff(schedule.NoOtherSet)
	d.wantNothing("x", "with one kernel set")
	d.wantNothing("m", "while the other has one kernel set")

	d = disputed(t, "avx2")
	d.worker("third", "")
	d.standoff(schedule.AThirdDecides)
	d.wantNothing("m", "beside a third worker")
	d.wantAudit("third", leafKind, false)
	d.now += d.cfg.LeaseTTL // the third is gone
	d.board.Known("m", d.now)
	d.standoff(schedule.NoOtherSet) // and so is x
	d.wantNothing("m", "alone")
	d.board.Known("x", d.now)
	d.standoff(schedule.BothRepeat)
	d.wantAudit("m", leafKind, true)

	d = disputed(t, "avx2")
	for range 2 {
		grant := d.wantAudit("x", leafKind, true)
		if cmd := d.fault("x", grant, inTask, "X"); cmd != nil {
			t.Errorf("a disputed audit is waived: %v", cmd)
		}
		d.now += 2 * time.Second
	}
	d.standoff(schedule.NoOtherSet)
	d.wantNothing("x", "after it failed twice")
	d.wantNothing("m", "after the other failed twice")

	d = disputed(t, "avx2") // what it is made from is gone: nobody will ever tell which is right
	lost := &pb.Failure{Class: inTask, Code: "LOST", Lost: &pb.LostObject{Object: ref(3)}}
	if cmd := d.board.Fault(d.view, "x", heldOf(d.wantAudit("x", leafKind, true)), lost, d.now); cmd != nil {
		t.Errorf("believed at once: %v", cmd)
	}
	d.now += 2 * time.Second
	cmd := d.board.Fault(d.view, "x", heldOf(d.wantAudit("x", leafKind, true)), lost, d.now)
	if u := cmd.GetUncommit(); u.GetReason() != pb.UncommitReason_UNCOMMIT_REASON_LIED || len(u.GetTasks()) != 1 {
		t.Errorf("a task that nobody can decide is not made again: %v", cmd)
	}

	d = disputed(t, "avx2") // a third worker that fails it decides nothing
	d.worker("third", "")
	for range 2 {
		d.fault("third", d.wantAudit("third", leafKind, false), inTask, "X")
		d.now += 2 * time.Second
	}
	d.standoff(schedule.BothRepeat)
}

// A new leader takes what its workers make again as leased to them.
func TestANewLeaderKnowsWhatIsMadeAgain(t *testing.T) {
	d := disputed(t, "avx2")
	held := []schedule.Held{heldOf(d.wantAudit("x", leafKind, true))}
	d.board = schedule.NewBoard(d.cfg, 2, state.New(), d.now)
	d.worker("m", "avx2")
	d.board.Register(d.view, schedule.Worker{ID: "x", Slots: 1, Kernels: "generic", Other: "avx2"}, held, d.now)
	if x, all := d.board.Jobs.Leased("a", "x"), d.board.Jobs.Leased("a", ""); x != 1 || all != 1 {
		t.Errorf("%d leases, %d of x", all, x)
	}
	d.wantNothing("m", "while the other makes it again")
	if lost := d.board.Heartbeat(d.view, "x", held, d.now); len(lost) != 0 {
		t.Errorf("lost %v", lost)
	}
}
