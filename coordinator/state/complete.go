package state

import (
	"fmt"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// applyComplete takes completions in order; each gets a verdict of its own.
func applyComplete(s State, cmd *pb.CompleteTasks) (State, Reply) {
	verdicts := make([]pb.Verdict, len(cmd.GetCompletions()))
	for i, c := range cmd.GetCompletions() {
		s, verdicts[i] = completeOne(s, c)
	}
	return s, Reply{Verdicts: verdicts}
}

func completeOne(s State, c *pb.Completion) (State, pb.Verdict) {
	job, ok := s.Job(c.GetId().GetJobId())
	if _, gone := s.Retired.Get(c.GetId().GetJobId()); gone {
		return s, pb.Verdict_VERDICT_STALE
	}
	if !ok {
		return s, pb.Verdict_VERDICT_INVALID
	}
	if job.Ended() || c.GetId().GetChanges() != job.Counters.Remade.Changes {
		return s, pb.Verdict_VERDICT_STALE
	}
	if _, lied := s.Convicted.Get(c.GetWorkerId()); lied && c.GetWorkerId() != "" {
		return s, pb.Verdict_VERDICT_STALE
	}
	job = job.clone()
	known := len(job.Audits.Convicted)
	reporting := job.Reporting()
	verdict := job.complete(c, s.Secret, s.Now)
	// The report tells the counters: they stand still while it is made, so that every attempt writes the same bytes.
	if !reporting || verdict == pb.Verdict_VERDICT_ACCEPTED || verdict == pb.Verdict_VERDICT_VIOLATION {
		job.count(verdict, c)
	}
	return s.putJob(job).moveLatest(job).remember(job.Audits.Convicted[known:]), verdict
}

// complete takes a result: one of a task that is audited as another opinion, else by its kind.
func (j *Job) complete(c *pb.Completion, secret []byte, now int64) pb.Verdict {
	again := c.GetId().GetAgain()
	switch {
	case again && j.repeated(c, now), !again && j.second(c, now):
		return pb.Verdict_VERDICT_AUDITED
	case again: // nobody asks for it any more
		return pb.Verdict_VERDICT_STALE
	}
	switch c.GetId().GetKind() {
	case pb.TaskKind_TASK_KIND_PLAN:
		return j.completePlan(c, secret, now)
	case pb.TaskKind_TASK_KIND_NODE:
		return j.completeNode(c, secret, now)
	case pb.TaskKind_TASK_KIND_STEP:
		return j.completeStep(c, secret, now)
	case pb.TaskKind_TASK_KIND_REPORT:
		return j.completeReport(c, now)
	}
	return pb.Verdict_VERDICT_INVALID
}

// count adds a result to the job's counters, and what it took, if the verdict is one of those that are counted.
func (j *Job) count(v pb.Verdict, c *pb.Completion) {
	copies := c.GetSpeculativeCopies()
	j.Counters.SpeculativeLaunched += copies.GetLaunched()
	j.Counters.SpeculativeWon += copies.GetWon()
	j.Counters.SpeculativeWasted += copies.GetWasted()
	switch v {
	case pb.Verdict_VERDICT_ACCEPTED:
		j.Counters.Committed++
	case pb.Verdict_VERDICT_DUPLICATE:
		j.Counters.Duplicates++
	case pb.Verdict_VERDICT_SUPERSEDED:
		j.Counters.Superseded++
	case pb.Verdict_VERDICT_VIOLATION:
		j.Counters.Violations++
	default:
		return
	}
	if c.GetId().GetKind() != pb.TaskKind_TASK_KIND_REPORT { // the report names what the other tasks took
		j.Audits.spend(c)
	}
}

// completePlan opens the first round.
func (j *Job) completePlan(c *pb.Completion, secret []byte, now int64) pb.Verdict {
	if j.Stage != pb.JobState_JOB_STATE_PLANNING {
		return pb.Verdict_VERDICT_STALE
	}
	manifest, ok1 := refFrom(c.GetOutput().GetManifest())
	plan, ok2 := refFrom(c.GetOutput().GetPlan())
	next, ok3 := roundFrom(c.GetOutput().GetNext(), j.nextNumber(), now)
	if !ok1 || !ok2 || !ok3 {
		return pb.Verdict_VERDICT_INVALID
	}
	next.Base = 0
	if !j.plannedBefore(manifest, plan, next) {
		j.replannedOtherwise(now)
		return pb.Verdict_VERDICT_VIOLATION
	}
	j.Stage, j.Manifest, j.Plan = pb.JobState_JOB_STATE_RUNNING, manifest, plan
	j.first = next
	j.open(next)
	j.Audits.planMaker, j.Audits.planVerified = Clip(c.GetWorkerId(), 128), false
	j.Audits.maker(j.Audits.planMaker)
	j.drawPlan(secret, opinionOf(c, false))
	j.made(c)
	return pb.Verdict_VERDICT_ACCEPTED
}

// completeNode commits a node iff neither it nor an ancestor of it is committed.
func (j *Job) completeNode(c *pb.Completion, secret []byte, now int64) pb.Verdict {
	id := c.GetId()
	if j.Stage != pb.JobState_JOB_STATE_RUNNING || id.GetRound() != j.Round.Number || j.Reporting() {
		return pb.Verdict_VERDICT_STALE
	}
	object, ok := refFrom(c.GetOutput().GetObject())
	node := protocol.Node{Level: int(id.GetLevel()), Index: int(id.GetIndex())}
	if !ok || int(id.GetTree()) >= len(j.Round.Trees) || !j.Round.Tree(id.GetTree()).Valid(node) {
		return pb.Verdict_VERDICT_INVALID
	}
	if winner, ok := j.Round.Covering(id.GetTree(), node); ok {
		return j.late(winner, node, object, c, now)
	}
	made := Commit{Tree: id.GetTree(), Node: node, Object: object, Worker: Clip(c.GetWorker(), 256),
		WorkerID: Clip(c.GetWorkerId(), 128)}
	made.Makers = j.Audits.maker(made.WorkerID)
	first, end := j.Round.Tree(made.Tree).Range(node)
	var pieces []Commit
	j.Round.Commits(made.Tree, first, end, func(p Commit) bool {
		pieces, made.Makers = append(pieces, p), made.Makers|p.Makers
		return true
	})
	j.Round = j.Round.commit(made)
	j.drawNode(secret, made, pieces, c)
	if carry, ok := refFrom(c.GetOutput().GetCarry()); ok {
		j.Round = j.Round.keep(Carry{Tree: id.GetTree(), First: uint32(first), End: uint32(end), Object: carry})
	}
	j.made(c)
	return pb.Verdict_VERDICT_ACCEPTED
}

// late judges a node that is committed already. Two digests for one node are a bug or a lying CPU: another worker
// decides, and no model comes of it before.
func (j *Job) late(winner Commit, node protocol.Node, object Ref, c *pb.Completion, now int64) pb.Verdict {
	switch {
	case winner.Node != node:
		return pb.Verdict_VERDICT_SUPERSEDED
	case winner.Object == object:
		return pb.Verdict_VERDICT_DUPLICATE
	}
	j.dispute(winner, c, now)
	return pb.Verdict_VERDICT_VIOLATION
}

func (j *Job) violated(task, firstWorker string, first, second Ref, c *pb.Completion, now int64) {
	j.failed(Failure{
		Code: string(protocol.CodeDeterminism), Class: protocol.ClassInput, Task: task,
		Worker: Clip(c.GetWorker(), 256),
		Message: fmt.Sprintf("two results for one task: worker %q made %x, worker %q made %x; both objects are kept",
			firstWorker, first.SHA256[:8], Clip(c.GetWorker(), 256), second.SHA256[:8]),
	}, now)
}

func (j *Job) made(c *pb.Completion) {
	j.Kernels = insertSorted(j.Kernels, Clip(c.GetKernels(), 64))
	if len(j.Workers) < 1024 {
		j.Workers = insertSorted(j.Workers, Clip(c.GetWorker(), 256))
	}
}
