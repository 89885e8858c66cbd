package lead

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// settle takes one result: an output is committed, a failure weighed.
func (c Workers) settle(ctx context.Context, lead *Leadership, workerID string, r *pb.TaskResult) (pb.Verdict, error) {
	held := schedule.Held{Task: lease.TaskFrom(r.GetId()), Token: lease.TokenFrom(r.GetToken())}
	basis, ok := c.granted(lead, workerID, held, r.GetToken().GetMac())
	if !ok {
		c.cfg.Logger.Warn("a result without a lease is not taken", "worker", workerID, "job", held.Task.JobID, "task",
			held.Task.String())
		return pb.Verdict_VERDICT_UNGRANTED, nil
	}
	if failure := r.GetFailure(); failure != nil {
		return pb.Verdict_VERDICT_NOTED, c.settleFailure(ctx, lead, workerID, held, failure)
	}
	if held.Task.Kind == pb.TaskKind_TASK_KIND_REPORT {
		view, _ := c.fsm.View()
		if err := c.commands.CheckOutputs(view, held.Task.JobID, r.GetOutput().GetFiles()); err != nil {
			return pb.Verdict_VERDICT_INVALID, c.settleFailure(ctx, lead, workerID, held, command.BadOutputs(err))
		}
	}
	verdict, err := pb.Verdict_VERDICT_INVALID, error(nil)
	if c.isModel(held.Task, r.GetOutput().GetFiles()) {
		verdict, err = c.log.Complete(ctx, c.completion(lead, workerID, held.Task, r, basis))
	}
	switch {
	case errors.Is(err, outcome.ErrEntryTooBig), err == nil && verdict == pb.Verdict_VERDICT_INVALID:
		// A retry would be refused the same way, so fail now.
		return pb.Verdict_VERDICT_INVALID, c.settleFailure(ctx, lead, workerID, held, refusal(r))
	case err != nil:
		return 0, err
	}
	lead.Update(func(board *schedule.Board) {
		view, _ := c.fsm.View()
		job, ok := view.Job(held.Task.JobID)
		if !ok {
			return
		}
		c.tellConvicted(board.Audits.Done(job, held.Task, workerID, c.clock.Mono()))
		if verdict != pb.Verdict_VERDICT_AUDITED && verdict != pb.Verdict_VERDICT_STALE {
			board.Done(job, held.Task, workerID, verdict == pb.Verdict_VERDICT_ACCEPTED, c.clock.Mono())
		}
	})
	return verdict, nil
}

// completion is a result as the log takes it: with what is known of its worker, and what a node was made from.
func (c Workers) completion(
	lead *Leadership, workerID string, t schedule.Task, r *pb.TaskResult, basis [sha256.Size]byte,
) *pb.Completion {
	w := c.workerFacts(lead, workerID)
	made := &pb.Completion{
		Id: r.GetId(), Output: r.GetOutput(), Worker: w.Name, WorkerId: workerID, Kernels: w.Kernels,
		SpeculativeCopies: c.tellCopies(lead, t), SpentUs: r.GetSpentUs(),
	}
	if t.Again {
		made.Kernels = w.Other
	}
	if t.Kind == pb.TaskKind_TASK_KIND_NODE {
		made.FoldedFrom = []byte{}
		if basis != [sha256.Size]byte{} {
			made.FoldedFrom = basis[:]
		}
	}
	return made
}

// tellConvicted says loudly who lied.
func (c Workers) tellConvicted(convicted []state.Conviction) {
	const follows = "; it is given nothing more, and what it had a part in is made again"
	for _, w := range convicted {
		c.cfg.Logger.Error("a worker made another result than "+w.Whose()+follows,
			"worker", w.WorkerID, "name", w.Worker, "job", w.JobID, "task", w.Task)
	}
}

// modelFile is the output that a job is for. Its digest is known before it is written.
const modelFile = "model.safetensors"

// isModel reports whether the files of a report include the model, and it is the job's. Other tasks have no model to
// write.
func (c Workers) isModel(t schedule.Task, files []*pb.OutputFile) bool {
	view, _ := c.fsm.View()
	job, ok := view.Job(t.JobID)
	if !ok || !job.Reporting() || t.Kind != pb.TaskKind_TASK_KIND_REPORT {
		return true
	}
	for _, f := range files {
		if f.GetName() == modelFile {
			return bytes.Equal(f.GetSha256(), job.Model.SHA256[:]) && f.GetSize() == job.Model.Size
		}
	}
	return false
}

// tellCopies takes what the log has not been told of a job's speculative copies; nil when there is nothing. What a
// proposal takes along that does not come through is not told again: it may have come through. While the report is made
// it alone is heard.
func (c Workers) tellCopies(lead *Leadership, task schedule.Task) *pb.SpeculativeCopies {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	view, _ := c.fsm.View()
	job, ok := view.Job(task.JobID)
	if !ok || job.Reporting() && task.Kind != pb.TaskKind_TASK_KIND_REPORT {
		return nil
	}
	return lease.WireCopies(lead.board.Jobs.Tell(job))
}

// refusal is the failure of a task whose result state does not accept.
func refusal(r *pb.TaskResult) *pb.Failure {
	trees, leaves := r.GetOutput().GetNext().GetTrees(), uint64(0)
	for _, n := range trees {
		leaves += uint64(n)
	}
	fault := protocol.TaskFault(protocol.CodeInternal,
		"the coordinator does not accept the task's result: it names no task of the job, or lacks an object's digest")
	class := pb.FailureClass_FAILURE_CLASS_TASK
	if len(trees) > state.MaxTrees || leaves > state.MaxLeaves {
		class = pb.FailureClass_FAILURE_CLASS_INPUT
		fault = protocol.InputFault(protocol.CodeInputLimit,
			"a round of %d leaves in %d trees; there may be %d in %d", leaves, len(trees), state.MaxLeaves,
			state.MaxTrees).
			WithHint("Raise shard_bytes, so that the input has fewer shards.")
	}
	return &pb.Failure{Code: string(fault.Code), Class: class, Message: fault.Error()}
}

func (c Workers) workerFacts(lead *Leadership, workerID string) schedule.Worker {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if w, known := lead.board.Roster.Worker(workerID); known {
		return w
	}
	return schedule.Worker{Name: workerID}
}

func (c Workers) settleFailure(
	ctx context.Context, lead *Leadership, workerID string, held schedule.Held, failure *pb.Failure,
) error {
	name := c.workerFacts(lead, workerID).Name
	failure.Worker, failure.Task = name, held.Task.String()
	failure.Code, failure.Message = state.Clip(failure.GetCode(), 64),
		state.Clip(failure.GetMessage(), state.MaxFailureBytes)
	lead.mu.Lock()
	view, _ := c.fsm.View()
	cmd := lead.board.Fault(view, workerID, held, failure, c.clock.Mono())
	lead.signal()
	lead.mu.Unlock()
	c.meters.TaskFailures.WithLabelValues(meters.ClassName(failure.GetClass())).Inc()
	c.cfg.Logger.Warn("task failed", "job", held.Task.JobID, "task", failure.GetTask(), "worker", name, "code",
		failure.GetCode(), "message", failure.GetMessage())
	if cmd == nil {
		return nil
	}
	reply, err := c.log.Propose(ctx, cmd)
	if change := cmd.GetUncommit(); change != nil && err == nil {
		c.tellUncommit(change, reply)
	}
	return err
}

// tellUncommit logs and counts what was taken back. One that was refused came second.
func (c Workers) tellUncommit(change *pb.Uncommit, reply state.Reply) {
	if reply.Err != nil {
		return
	}
	remade := reply.Job.Counters.Remade
	c.meters.Remade.Add(float64(len(change.GetTasks())))
	c.cfg.Logger.Warn("what tasks had made is made again", "job", change.GetJobId(), "tasks", len(change.GetTasks()),
		"round", change.GetRound(),
		"reopened", remade.Reopened, "anew", remade.Anew, "reason", change.GetReason().String(), "message",
		change.GetMessage())
}

// granted reports whether a result comes under a lease that this cluster granted its worker, and what the lease has it
// made from. A lease of before a restore is void.
func (c Workers) granted(
	l *Leadership, workerID string, h schedule.Held, mac []byte,
) (basis [sha256.Size]byte, ok bool) {
	view, _ := c.fsm.View()
	l.mu.Lock()
	defer l.mu.Unlock()
	basis, ok = lease.Authentic(view.Secret, workerID, h, mac)
	return basis, ok && l.board.Granted(h.Token)
}
