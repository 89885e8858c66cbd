package schedule

import (
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// maxAuditFailures is how often each worker may fail an audit before nobody can be expected to make it.
const maxAuditFailures = 2

// leastFailures is how often the worker that failed an audit least did so, of those that may make it; 0 where none may.
func (r *Roster) leastFailures(job *state.Job, a *state.Audit, work *auditWork, now time.Duration) int {
	least, none := 0, true
	for w := range r.live(now) {
		if a.By(w.ID) || !w.fits(job) || !r.mayMake(w.ID, a) || now < w.quarantined {
			continue
		}
		if n := work.failures[w.ID]; none || n < least {
			least, none = n, false
		}
	}
	return least
}

// failed takes an audit that failed into account, and returns the command that follows; nil means that the audit
// is tried again.
func (au *Audits) failed(
	job *state.Job, h Held, workerID string, failure *pb.Failure, now time.Duration,
) (cmd *pb.Command, mine bool) {
	memory := au.jobs.of(job)
	work, held := memory.auditBy(h.Task, workerID)
	if !held || work.lease.token != h.Token {
		return nil, false
	}
	au.end(memory, h.Task, pb.TimelineOutcome_TIMELINE_OUTCOME_FAILED, now)
	memory.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_TASK_FAILED, au.roster.nameOf(workerID), h.Task)
	lost := failure.GetLost() != nil
	input := failure.GetClass() == pb.FailureClass_FAILURE_CLASS_INPUT && !lost
	if !lost && failure.GetCode() == string(protocol.CodeCorrupt) {
		work.corrupt.add(workerID)
	}
	if input || lost || failure.GetClass() == pb.FailureClass_FAILURE_CLASS_TASK {
		work.failures[workerID]++
	}
	au.troubled(work, workerID, failure, now)
	work.notBefore = now + au.cfg.RetryDelay<<min(work.failures[workerID]+work.troubles, maxAuditPause)
	if !input {
		return au.giveUp(job, h.Task, work, workerID, failure, now), true
	}
	work.input.add(workerID) // bad input stays bad input; but the maker found none, so one worker's word is not enough
	if au.roster.confirmed(job, work.input, workerID, now) {
		return failJob(job, failure), true
	}
	return nil, true
}

// giveUp returns the command that ends an audit which no worker can be expected to make. What was made once can be made
// again, unless what it reads is gone: without a dispute, this one audit is then waived, visibly.
func (au *Audits) giveUp(
	job *state.Job, t Task, work *auditWork, workerID string, failure *pb.Failure, now time.Duration,
) *pb.Command {
	a, pending := job.Audits.Of(t.Round, t.Kind, t.Tree, t.Node)
	if !pending {
		return nil
	}
	lost := failure.GetLost() != nil
	if t.Again {
		if lost && work.failures[workerID] >= maxAuditFailures {
			return undecidable(job, t, failure)
		}
		return nil
	}
	enough := maxAuditFailures
	if work.input.count > 0 {
		enough = au.cfg.MaxAttempts
	}
	switch {
	case au.roster.leastFailures(job, a, work, now) < enough:
		return nil
	case !a.Disputed() && work.unreadable(t) && job.MayBeUnreadable():
		return unmakable(job, a, t, failure)
	case !a.Disputed():
		return waive(job.ID, []Task{t})
	case lost:
		return undecidable(job, t, failure)
	}
	return nil
}

// unreadable reports whether two workers could not read what other tasks made, of which a plan reads nothing. One
// worker's word is not enough: it may be the one that cannot read, and the job's work would be thrown away for it.
func (w *auditWork) unreadable(t Task) bool {
	return t.Kind != pb.TaskKind_TASK_KIND_PLAN && len(w.corrupt.workers) > 1
}

// unmakable takes back a task that its maker says to have made of what nobody else can read, and the roots of a step
// with it.
func unmakable(job *state.Job, a *state.Audit, t Task, failure *pb.Failure) *pb.Command {
	tasks := []*pb.TaskID{t.ID()}
	if t.Kind == pb.TaskKind_TASK_KIND_STEP {
		for _, p := range a.Pieces[:min(len(a.Pieces), state.MaxUncommitTasks-1)] {
			root := t
			root.Kind, root.Tree, root.Node = pb.TaskKind_TASK_KIND_NODE, p.Tree, p.Node
			tasks = append(tasks, root.ID())
		}
	}
	why := fmt.Sprintf("one worker made %s of what no other can read: %s", t, failure.GetMessage())
	return uncommit(job, tasks, pb.UncommitReason_UNCOMMIT_REASON_UNREADABLE, why)
}

// undecidable takes back a task with two results whose input is gone: nobody can tell any more which of them is right,
// so it is made again.
func undecidable(job *state.Job, t Task, failure *pb.Failure) *pb.Command {
	t.Again = false
	why := fmt.Sprintf("two workers made two results of %s, and nobody can tell which is right: %s",
		t, failure.GetMessage())
	return uncommit(job, []*pb.TaskID{t.ID()}, pb.UncommitReason_UNCOMMIT_REASON_LIED, why)
}

// troubled notes a failure that is not the task's fault. A worker whose store does not answer for as long as a job
// waits for one counts as one that cannot make the audit: the job would wait for it without end.
func (au *Audits) troubled(work *auditWork, workerID string, failure *pb.Failure, now time.Duration) {
	drained := failure.GetCode() == string(protocol.CodeDrained)
	if failure.GetClass() != pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE || failure.GetLost() != nil || drained {
		return
	}
	if work.troubles == 0 {
		work.since = now
	}
	work.troubles++
	if au.cfg.DenyPatience > 0 && now-work.since >= au.cfg.DenyPatience {
		work.failures[workerID] = maxAuditFailures
	}
}

func waive(jobID string, tasks []Task) *pb.Command {
	cmd := &pb.WaiveAudits{Id: jobID}
	for _, t := range tasks {
		cmd.Tasks = append(cmd.Tasks, t.ID())
	}
	return &pb.Command{Body: &pb.Command_WaiveAudits{WaiveAudits: cmd}}
}
