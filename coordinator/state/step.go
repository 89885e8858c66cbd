package state

import (
	"fmt"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// step closes the round and opens the next, or keeps the model. A step reported twice finds its round closed and is
// stale; its digest is compared all the same.
func (c completion) step() pb.Verdict {
	j, open := c.job, &c.job.Rounds.Open
	next := c.GetOutput().GetNext()
	state, ok := refFrom(next.GetState())
	if !ok {
		return pb.Verdict_VERDICT_INVALID
	}
	if last, closed := j.Rounds.lastClosed(); closed && last.Number == c.GetId().GetRound() {
		return c.lateStep(last, state)
	}
	if j.Stage != pb.JobState_JOB_STATE_RUNNING || c.GetId().GetRound() != open.Number || j.Reporting() ||
		!c.stepsFrom(*open) {
		return pb.Verdict_VERDICT_STALE
	}
	if expected := open.Expected; !expected.IsZero() && expected != state {
		c.violated(fmt.Sprintf("round %d, step", open.Number), "", expected, state)
		return pb.Verdict_VERDICT_VIOLATION
	}
	metrics, _ := refFrom(next.GetMetrics())
	closed := RoundRecord{
		Number: open.Number, Phase: open.Phase, Leaves: open.Leaves(),
		StartedAt: open.StartedAt, FinishedAt: c.now, State: state, Metrics: metrics,
	}
	makers := c.stepMakers()
	if next.GetDone() {
		c.drawStep(makers)
		j.Audits.modelMakers = makers
		j.Model = state
		j.Course, _ = refFrom(next.GetCourse())
		open.Expected = Ref{}
	} else {
		opened, ok := roundFrom(next, open.Number+1, c.now)
		if !ok {
			return pb.Verdict_VERDICT_INVALID
		}
		c.drawStep(makers)
		j.Rounds.follow(opened, makers)
	}
	j.Rounds.finish(closed)
	c.made()
	return pb.Verdict_VERDICT_ACCEPTED
}

// stepsFrom reports whether a step was made from what is committed of a round that is whole: from its roots where it
// does not say from what. A node may have been committed late, above pieces that the step was leased to fold.
func (c completion) stepsFrom(r Round) bool {
	if c.FoldedFrom == nil {
		return r.Complete()
	}
	return r.Whole() && c.madeFrom(nil) == Basis(r.All())
}

// lateStep judges a step of a round that is closed already. One that was folded from other pieces than the round was
// closed with may differ because one of these is wrong, which tells nothing of its maker.
func (c completion) lateStep(closed RoundRecord, state Ref) pb.Verdict {
	if closed.State == state {
		return pb.Verdict_VERDICT_DUPLICATE
	}
	rounds := &c.job.Rounds
	for _, r := range []Round{rounds.last, rounds.Open} {
		if r.known() && r.Number == closed.Number && c.FoldedFrom != nil && !c.stepsFrom(r) {
			return pb.Verdict_VERDICT_STALE
		}
	}
	task := fmt.Sprintf("round %d, step", closed.Number)
	if closed.Audited && c.GetWorkerId() != "" { // two have made it otherwise
		c.review().convict([]Opinion{c.opinion(false)}, 0, task, "")
	} else { // what it was made from is not known any more
		c.violated(task, "", closed.State, state)
	}
	return pb.Verdict_VERDICT_VIOLATION
}

// stepMakers are all that had a part in what the step makes, as bits.
func (c completion) stepMakers() uint64 {
	open := &c.job.Rounds.Open
	makers := open.Inherited | c.job.Audits.maker(c.workerID())
	open.EachCommit(func(commit Commit) bool {
		makers |= commit.Makers
		return true
	})
	return makers
}

// report ends the job. Reports hold times, so two of them may differ: the first counts.
func (c completion) report() pb.Verdict {
	j := c.job
	if !j.Reporting() || j.Audits.Pending() > 0 {
		return pb.Verdict_VERDICT_STALE
	}
	files := c.GetOutput().GetFiles()
	if len(files) == 0 || len(files) > MaxOutputs {
		return pb.Verdict_VERDICT_INVALID
	}
	outputs := make([]Output, len(files))
	for i, f := range files {
		ref, ok := refFrom(&pb.ObjectRef{Sha256: f.GetSha256(), Size: f.GetSize()})
		if !ok {
			return pb.Verdict_VERDICT_INVALID
		}
		outputs[i] = Output{Name: Clip(f.GetName(), 128), URI: Clip(f.GetUri(), 2048), Ref: ref}
	}
	j.Outputs = outputs
	c.made()
	j.ended(pb.JobState_JOB_STATE_SUCCEEDED, c.now)
	return pb.Verdict_VERDICT_ACCEPTED
}

// roundFrom reads a forest; ok is false when it is empty or beyond the bounds.
func roundFrom(next *pb.Next, number uint32, now int64) (Round, bool) {
	state, ok := refFrom(next.GetState())
	trees := next.GetTrees()
	if !ok || next.GetPhase() == "" || len(next.GetPhase()) > 64 || len(trees) == 0 || len(trees) > MaxTrees {
		return Round{}, false
	}
	leaves := uint64(0)
	for _, n := range trees {
		if n == 0 {
			return Round{}, false
		}
		leaves += uint64(n)
	}
	return newRound(number, next.GetPhase(), trees, state, now), leaves <= MaxLeaves
}

// refFrom reads an object reference; ok is false unless it is well-formed.
func refFrom(r *pb.ObjectRef) (Ref, bool) {
	if len(r.GetSha256()) != 32 || r.GetSize() < 0 {
		return Ref{}, false
	}
	ref := Ref{SHA256: [32]byte(r.GetSha256()), Size: r.GetSize()}
	return ref, !ref.IsZero()
}

// Proto is the reference as it crosses the wire; nil for the zero value.
func (r Ref) Proto() *pb.ObjectRef {
	if r.IsZero() {
		return nil
	}
	return &pb.ObjectRef{Sha256: r.SHA256[:], Size: r.Size}
}
