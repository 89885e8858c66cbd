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
	made := completion{Completion: c, job: job, secret: s.Secret, now: s.Now}
	verdict := made.apply()
	// The report tells the counters: they stand still while it is made, so that every attempt writes the same bytes.
	if !reporting || verdict == pb.Verdict_VERDICT_ACCEPTED || verdict == pb.Verdict_VERDICT_VIOLATION {
		made.count(verdict)
	}
	return s.putJob(job).moveLatest(job).remember(job.Audits.Convicted[known:]), verdict
}

// completion is the result that a worker reports of a task of a running job, with all that the verdict on it depends
// on. It names the job as it is: not one of before something was taken back.
type completion struct {
	*pb.Completion
	job    *Job   // a clone, which the methods change
	secret []byte // of the cluster
	now    int64
}

// apply takes the result: of a task that is audited as another opinion, else by the task's kind.
func (c completion) apply() pb.Verdict {
	again := c.GetId().GetAgain()
	switch {
	case again && c.repeated(), !again && c.second():
		return pb.Verdict_VERDICT_AUDITED
	case again: // nobody asks for it any more
		return pb.Verdict_VERDICT_STALE
	}
	switch c.GetId().GetKind() {
	case pb.TaskKind_TASK_KIND_PLAN:
		return c.plan()
	case pb.TaskKind_TASK_KIND_NODE:
		return c.node()
	case pb.TaskKind_TASK_KIND_STEP:
		return c.step()
	case pb.TaskKind_TASK_KIND_REPORT:
		return c.report()
	}
	return pb.Verdict_VERDICT_INVALID
}

// review is that of the job which the result is of.
func (c completion) review() review { return review{job: c.job, now: c.now} }

// workerID is the id of the worker, as far as it is kept.
func (c completion) workerID() string { return Clip(c.GetWorkerId(), 128) }

// count adds the result to the job's counters, and what it took, if the verdict is one of those that are counted.
func (c completion) count(v pb.Verdict) {
	counters, copies := &c.job.Counters, c.GetSpeculativeCopies()
	counters.SpeculativeLaunched += copies.GetLaunched()
	counters.SpeculativeWon += copies.GetWon()
	counters.SpeculativeWasted += copies.GetWasted()
	switch v {
	case pb.Verdict_VERDICT_ACCEPTED:
		counters.Committed++
	case pb.Verdict_VERDICT_DUPLICATE:
		counters.Duplicates++
	case pb.Verdict_VERDICT_SUPERSEDED:
		counters.Superseded++
	case pb.Verdict_VERDICT_VIOLATION:
		counters.Violations++
	default:
		return
	}
	if c.GetId().GetKind() != pb.TaskKind_TASK_KIND_REPORT { // the report names what the other tasks took
		c.job.Audits.spend(c.Completion)
	}
}

// plan opens the first round.
func (c completion) plan() pb.Verdict {
	j := c.job
	if j.Stage != pb.JobState_JOB_STATE_PLANNING {
		return pb.Verdict_VERDICT_STALE
	}
	manifest, ok1 := refFrom(c.GetOutput().GetManifest())
	plan, ok2 := refFrom(c.GetOutput().GetPlan())
	next, ok3 := roundFrom(c.GetOutput().GetNext(), j.Rounds.nextNumber(), c.now)
	if !ok1 || !ok2 || !ok3 {
		return pb.Verdict_VERDICT_INVALID
	}
	next.Base = 0
	if j.plannedOtherwise(manifest, plan, next) {
		j.failed(Failure{
			Code: string(protocol.CodeInputChanged), Class: protocol.ClassInput, Task: "plan",
			Message: "the plan is made again and does not come out as it was: the input has changed since, or the first plan was wrong. Submit the job again",
		}, c.now)
		return pb.Verdict_VERDICT_VIOLATION
	}
	j.Stage, j.Manifest, j.Plan = pb.JobState_JOB_STATE_RUNNING, manifest, plan
	j.Rounds.begin(next)
	j.Audits.planMaker, j.Audits.planVerified = c.workerID(), false
	j.Audits.maker(j.Audits.planMaker)
	c.drawPlan()
	c.made()
	return pb.Verdict_VERDICT_ACCEPTED
}

// plannedOtherwise reports whether the plan differs from an earlier plan of the job; they must be equal.
func (j *Job) plannedOtherwise(manifest, plan Ref, next Round) bool {
	first := j.Rounds.first
	return !j.Manifest.IsZero() &&
		(j.Manifest != manifest || j.Plan != plan || first.known() && first.State != next.State)
}

// node commits a node iff neither it nor an ancestor of it is committed.
func (c completion) node() pb.Verdict {
	j, open, id := c.job, &c.job.Rounds.Open, c.GetId()
	if j.Stage != pb.JobState_JOB_STATE_RUNNING || id.GetRound() != open.Number || j.Reporting() {
		return pb.Verdict_VERDICT_STALE
	}
	object, ok := refFrom(c.GetOutput().GetObject())
	node := protocol.Node{Level: int(id.GetLevel()), Index: int(id.GetIndex())}
	if !ok || int(id.GetTree()) >= len(open.Trees) || !open.Tree(id.GetTree()).Valid(node) {
		return pb.Verdict_VERDICT_INVALID
	}
	if winner, ok := open.Covering(id.GetTree(), node); ok {
		return c.late(winner, node, object)
	}
	made := Commit{Tree: id.GetTree(), Node: node, Object: object, Worker: Clip(c.GetWorker(), 256),
		WorkerID: c.workerID()}
	made.Makers = j.Audits.maker(made.WorkerID)
	first, end := open.Tree(made.Tree).Range(node)
	var pieces []Commit
	open.Commits(made.Tree, first, end, func(p Commit) bool {
		pieces, made.Makers = append(pieces, p), made.Makers|p.Makers
		return true
	})
	*open = open.commit(made)
	c.drawNode(made, pieces)
	if carry, ok := refFrom(c.GetOutput().GetCarry()); ok {
		*open = open.keep(Carry{Tree: id.GetTree(), First: uint32(first), End: uint32(end), Object: carry})
	}
	c.made()
	return pb.Verdict_VERDICT_ACCEPTED
}

// late judges a node that is committed already. Two digests for one node are a bug or a lying CPU: another worker
// decides, and no model comes of it before.
func (c completion) late(winner Commit, node protocol.Node, object Ref) pb.Verdict {
	switch {
	case winner.Node != node:
		return pb.Verdict_VERDICT_SUPERSEDED
	case winner.Object == object:
		return pb.Verdict_VERDICT_DUPLICATE
	}
	c.dispute(winner)
	return pb.Verdict_VERDICT_VIOLATION
}

// violated fails the job: the result differs from the first, and nobody can decide which is right.
func (c completion) violated(task, firstWorker string, first, second Ref) {
	worker := Clip(c.GetWorker(), 256)
	c.job.failed(Failure{
		Code: string(protocol.CodeDeterminism), Class: protocol.ClassInput, Task: task, Worker: worker,
		Message: fmt.Sprintf("two results for one task: worker %q made %x, worker %q made %x; both objects are kept",
			firstWorker, first.SHA256[:8], worker, second.SHA256[:8]),
	}, c.now)
}

// made notes who made a committed result, with which kernels.
func (c completion) made() {
	j := c.job
	j.Kernels = insertSorted(j.Kernels, Clip(c.GetKernels(), 64))
	if len(j.Workers) < 1024 {
		j.Workers = insertSorted(j.Workers, Clip(c.GetWorker(), 256))
	}
}
