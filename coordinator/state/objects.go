package state

import pb "github.com/gram-compute/gram/protocol/gramv1"

// Object is something in the store that the state refers to.
type Object struct {
	JobID, What string
	URI         string // of an output; else empty: it is a job object
	Round       uint32 // that made the job object; 0 is the plan
	Ref         Ref
}

// EachObject visits what jobs refer to and cannot do without, in order of job: the outputs of those that have ended,
// and all that those which have not will read, until visit returns false.
func (s State) EachObject(visit func(Object) bool) {
	s.EachJob(func(job *Job) bool {
		if job.Ended() {
			for _, o := range job.Outputs {
				if !visit(Object{JobID: job.ID, What: o.Name, URI: o.URI, Ref: o.Ref}) {
					return false
				}
			}
			return true
		}
		return job.eachObject(visit)
	})
}

// eachObject visits what a job that has not ended will read: what its open round is made from and what is
// committed of it, and what the report is made of. The states of older rounds, whose digests
// the records keep, are left out. Of an ended job it visits what people may look at.
func (j *Job) eachObject(visit func(Object) bool) bool {
	more := true
	see := func(what string, round uint32, ref Ref) bool {
		more = more && (ref.IsZero() || visit(Object{JobID: j.ID, What: what, Round: round, Ref: ref}))
		return more
	}
	open := j.Round.Number
	before := j.Round.Base
	see("manifest", 0, j.Manifest)
	see("plan", 0, j.Plan)
	if j.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		see("state", before, j.Round.State)
	}
	see("model", open, j.Model)
	see("timeline", open, j.Course)
	j.Round.EachCommit(func(c Commit) bool { return see("partial", open, c.Object) })
	j.Round.carries.Root().Walk(func(_ []byte, c Carry) bool { return !see("carry", open, c.Object) })
	j.Round.Kept.Root().Walk(func(_ []byte, c Carry) bool { return !see("carry", before, c.Object) })
	for _, r := range j.RoundsSince() {
		see("metrics", r.Number, r.Metrics)
	}
	return more
}
