package state

import (
	iradix "github.com/hashicorp/go-immutable-radix/v2"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// rememberRetired is how long a retired job's id stays taken, in milliseconds: a submit or a report that
// comes late must not meet another job under the same id.
const rememberRetired = 30 * 24 * 3600 * 1000

// Retired is what is left of a job that is kept no longer: enough to sweep its objects, and to
// know its id again.
type Retired struct {
	ID        string
	Number    uint64
	RetiredAt int64 // Unix milliseconds, as proposed
	OwnOutput bool  // its outputs lie in the cluster's store, and go too
	Swept     bool
}

// RetiredJobs are the retired jobs that are remembered. They are never changed: put and forget return others.
type RetiredJobs struct {
	unswept *iradix.Tree[Retired]
	swept   sweptJobs
}

// Get returns what is left of the retired job with this id.
func (jobs RetiredJobs) Get(id string) (Retired, bool) {
	if r, ok := jobs.unswept.Get([]byte(id)); ok {
		return r, true
	}
	return jobs.swept.get(id)
}

// Count is how many retired jobs are remembered.
func (jobs RetiredJobs) Count() int { return jobs.unswept.Len() + jobs.swept.count }

// Each visits the retired jobs in order of id until visit returns false.
func (jobs RetiredJobs) Each(visit func(Retired) bool) {
	it := jobs.unswept.Root().Iterator()
	_, next, more := it.Next() // of those that are not swept, between which the others lie
	all := jobs.swept.each(func(r Retired) bool {
		for ; more && next.ID < r.ID; _, next, more = it.Next() {
			if !visit(next) {
				return false
			}
		}
		return visit(r)
	})
	for ; all && more && visit(next); _, next, more = it.Next() {
	}
}

func (jobs RetiredJobs) put(r Retired) RetiredJobs {
	if r.Swept {
		jobs.unswept, _, _ = jobs.unswept.Delete([]byte(r.ID))
		jobs.swept = jobs.swept.put(r)
		return jobs
	}
	jobs.unswept, _, _ = jobs.unswept.Insert([]byte(r.ID), r)
	jobs.swept = jobs.swept.remove(r.ID)
	return jobs
}

// fill sets every field of record.
func (r Retired) fill(record *pb.RetiredRecord) {
	record.Id, record.Number, record.RetiredUnixMs = r.ID, r.Number, r.RetiredAt
	record.OwnOutput, record.Swept = r.OwnOutput, r.Swept
}

func retiredFrom(r *pb.RetiredRecord) Retired {
	return Retired{ID: r.GetId(), Number: r.GetNumber(), RetiredAt: r.GetRetiredUnixMs(), OwnOutput: r.GetOwnOutput(),
		Swept: r.GetSwept()}
}

// Expired reports whether an ended job's time is over, where jobs that say nothing of their
// own are kept for keep milliseconds; keep below 1 means without end.
func (s State) Expired(job *Job, keep int64) bool {
	if job.Keep != 0 {
		keep = job.Keep
	}
	return job.Ended() && keep > 0 && s.Now-job.FinishedAt >= keep
}

// applyRetire retires what may be; by hand it says why one may not.
func applyRetire(s State, cmd *pb.RetireJobs) (State, Reply) {
	if n := len(cmd.GetJobs()); n == 0 || n > MaxUpkeep || cmd.GetByHand() && n > 1 {
		return s, reject(Malformed, "one entry retires 1 to %d jobs, by hand one; this one has %d", MaxUpkeep, n)
	}
	names, reply, by := s.Names(), Reply{}, s
	if at := cmd.GetNowUnixMs(); at > 0 {
		by.Now = min(s.Now, at) // the log's time may be that of a clock that ran ahead
	}
	for _, one := range cmd.GetJobs() {
		job, refused := s.retirable(one.GetId(), names)
		switch {
		case refused != nil && cmd.GetByHand():
			return s, Reply{Err: refused}
		case refused != nil || job == nil, !cmd.GetByHand() && !by.Expired(job, cmd.GetKeepMs()):
			continue
		}
		s.jobs, _, _ = s.jobs.Delete([]byte(job.ID))
		s.Retired = s.Retired.put(Retired{ID: job.ID, Number: job.Number, RetiredAt: s.Now,
			OwnOutput: one.GetOwnOutput()})
		reply.Job, reply.Retired = job, append(reply.Retired, job.ID)
	}
	s.Retired = s.Retired.forget(by.Now)
	return s, reply
}

// retirable returns the job if it may be retired; nil and no refusal if it is already.
func (s State) retirable(id string, names Names) (*Job, *Rejection) {
	job, ok := s.Job(id)
	if !ok {
		if _, gone := s.Retired.Get(id); gone {
			return nil, nil
		}
		return nil, reject(NotFound, "no job %q", Clip(id, 64)).Err
	}
	if !job.Ended() {
		return nil, reject(Held, "job %s has not ended; cancel it first", id).Err
	}
	if by := names.Of(job); by != "" {
		return nil, reject(Held, "job %s is named by %s", id, by).Err
	}
	return job, nil
}

// forget drops what was swept and retired long ago.
func (jobs RetiredJobs) forget(now int64) RetiredJobs {
	var old []string
	jobs.swept.eachBefore(now-rememberRetired, func(r Retired) bool {
		old = append(old, r.ID)
		return len(old) < MaxUpkeep
	})
	for _, id := range old {
		jobs.swept = jobs.swept.remove(id)
	}
	return jobs
}

// applyMarkSwept notes what need not be listed again. It says of each job which it means, the
// ended or the retired one: an entry that comes late must not take one for the other.
func applyMarkSwept(s State, cmd *pb.MarkSwept) (State, Reply) {
	if n := len(cmd.GetEnded()) + len(cmd.GetRetired()); n == 0 || n > MaxUpkeep {
		return s, reject(Malformed, "one entry marks 1 to %d jobs as swept, not %d", MaxUpkeep, n)
	}
	for _, id := range cmd.GetEnded() {
		if job, ok := s.Job(id); ok && job.Ended() && !job.Swept {
			job = job.clone()
			job.Swept = true
			s = s.putJob(job)
		}
	}
	for _, id := range cmd.GetRetired() {
		if gone, ok := s.Retired.Get(id); ok {
			gone.Swept = true
			s.Retired = s.Retired.put(gone)
		}
	}
	return s, Reply{}
}
