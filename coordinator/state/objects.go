package state

// Object is something in the store that the state refers to.
type Object struct {
	JobID, What string
	URI         string // of an output; else empty: it is a job object
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

// eachObject visits what a job that has not ended will read.
func (j *Job) eachObject(visit func(Object) bool) bool {
	more := true
	see := func(what string, ref Ref) bool {
		more = more && (ref.IsZero() || visit(Object{JobID: j.ID, What: what, Ref: ref}))
		return more
	}
	see("manifest", j.Manifest)
	see("plan", j.Plan)
	see("state", j.Round.State)
	see("model", j.Model)
	j.Round.EachCommit(func(c Commit) bool { return see("partial", c.Object) })
	j.Round.carries.Root().Walk(func(_ []byte, c Carry) bool { return !see("carry", c.Object) })
	j.Round.Kept.Root().Walk(func(_ []byte, c Carry) bool { return !see("carry", c.Object) })
	for _, r := range j.Rounds {
		see("metrics", r.Metrics)
	}
	return more
}
