package state

import (
	"fmt"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// completeStep closes the round and opens the next, or keeps the model. A step
// reported twice finds its round closed and is stale; its digest is compared all the same.
func (j *Job) completeStep(c *pb.Completion, secret []byte, now int64) pb.Verdict {
	next := c.GetOutput().GetNext()
	state, ok := refFrom(next.GetState())
	if !ok {
		return pb.Verdict_VERDICT_INVALID
	}
	if last, closed := j.Rounds.lastClosed(); closed && last.Number == c.GetId().GetRound() {
		return j.lateStep(last, state, c, now)
	}
	if j.Stage != pb.JobState_JOB_STATE_RUNNING || c.GetId().GetRound() != j.Rounds.Open.Number || j.Reporting() ||
		!j.Rounds.Open.Complete() {
		return pb.Verdict_VERDICT_STALE
	}
	if expected := j.Rounds.Open.Expected; !expected.IsZero() && expected != state {
		j.violated(fmt.Sprintf("round %d, step", j.Rounds.Open.Number), "", expected, state, c, now)
		return pb.Verdict_VERDICT_VIOLATION
	}
	metrics, _ := refFrom(next.GetMetrics())
	closed := RoundRecord{
		Number: j.Rounds.Open.Number, Phase: j.Rounds.Open.Phase, Leaves: j.Rounds.Open.Leaves(),
		StartedAt: j.Rounds.Open.StartedAt, FinishedAt: now, State: state, Metrics: metrics,
	}
	makers := j.stepMakers(Clip(c.GetWorkerId(), 128))
	if next.GetDone() {
		j.drawStep(secret, makers, opinionOf(c, false))
		j.Audits.modelMakers = makers
		j.Model = state
		j.Course, _ = refFrom(next.GetCourse())
		j.Rounds.Open.Expected = Ref{}
	} else {
		opened, ok := roundFrom(next, j.Rounds.Open.Number+1, now)
		if !ok {
			return pb.Verdict_VERDICT_INVALID
		}
		j.drawStep(secret, makers, opinionOf(c, false))
		j.Rounds.follow(opened, makers)
	}
	j.Rounds.finish(closed)
	j.made(c)
	return pb.Verdict_VERDICT_ACCEPTED
}

func (j *Job) lateStep(closed RoundRecord, state Ref, c *pb.Completion, now int64) pb.Verdict {
	if closed.State == state {
		return pb.Verdict_VERDICT_DUPLICATE
	}
	task := fmt.Sprintf("round %d, step", closed.Number)
	if closed.Audited && c.GetWorkerId() != "" { // two have made it otherwise
		review{j, now}.convict([]Opinion{opinionOf(c, false)}, 0, task, "")
	} else { // what it was made from is not known any more
		j.violated(task, "", closed.State, state, c, now)
	}
	return pb.Verdict_VERDICT_VIOLATION
}

// stepMakers are all that had a part in what a step makes, as bits.
func (j *Job) stepMakers(workerID string) uint64 {
	makers := j.Rounds.Open.Inherited | j.Audits.maker(workerID)
	j.Rounds.Open.EachCommit(func(c Commit) bool {
		makers |= c.Makers
		return true
	})
	return makers
}

// completeReport ends the job. Reports hold times, so two of them may differ: the first counts.
func (j *Job) completeReport(c *pb.Completion, now int64) pb.Verdict {
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
	j.made(c)
	j.ended(pb.JobState_JOB_STATE_SUCCEEDED, now)
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
