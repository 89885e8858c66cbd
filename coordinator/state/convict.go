package state

import (
	"cmp"
	"fmt"
	"slices"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// MaxConvicted bounds how many convicted workers the cluster remembers, the newest, and how many a job.
const MaxConvicted = 1024

// Conviction names a worker, and the task of which it made another result than the right one.
type Conviction struct {
	WorkerID, Worker, Task, JobID string
	Than                          string // whose result was another; "" means two other workers
	At                            int64
}

// Whose names those whose result was another than the convicted worker's.
func (c Conviction) Whose() string { return cmp.Or(c.Than, "two others") }

// note keeps a conviction, of this job or another, unless the job knows of it or already knows of too many.
func (au *Auditing) note(c Conviction) {
	if !au.hasConvicted(c.WorkerID) && len(au.Convicted) < MaxConvicted {
		au.Convicted = append(slices.Clip(au.Convicted), c)
	}
}

// hasConvicted reports whether a worker's results count for nothing in this job.
func (au *Auditing) hasConvicted(workerID string) bool {
	return slices.ContainsFunc(au.Convicted, func(c Conviction) bool { return c.WorkerID == workerID })
}

// Convictions are the newest convictions of the cluster, one of each worker.
type Convictions struct {
	tree *iradix.Tree[Conviction] // by the worker's id
}

// Get returns the conviction of a worker, which is leased nothing any more.
func (all Convictions) Get(workerID string) (Conviction, bool) {
	return all.tree.Get([]byte(workerID))
}

// Count is how many there are.
func (all Convictions) Count() int { return all.tree.Len() }

// Each visits them in order of id.
func (all Convictions) Each(visit func(Conviction)) {
	all.tree.Root().Walk(func(_ []byte, c Conviction) bool {
		visit(c)
		return false
	})
}

// remember keeps the convictions of a job for the whole cluster, and has what the workers made for other jobs made
// again.
func (s State) remember(fresh []Conviction) State {
	for _, c := range fresh {
		if _, known := s.Convicted.Get(c.WorkerID); known {
			continue
		}
		if s.Convicted.tree.Len() >= MaxConvicted {
			s.Convicted = s.Convicted.forgetOldest()
		}
		s.Convicted.tree, _, _ = s.Convicted.tree.Insert([]byte(c.WorkerID), c)
		var touched []*Job
		s.EachActive(func(other *Job) bool {
			if other.ID != c.JobID && (other.Audits.mayHaveMade(c.WorkerID) || other.Audits.asked(c.WorkerID)) {
				touched = append(touched, other)
			}
			return true
		})
		for _, other := range touched {
			other = other.clone()
			other.Audits.note(c)
			why := fmt.Sprintf("worker %s made another result of %s of job %s than %s", c.Worker, c.Task, c.JobID,
				c.Whose())
			retraction{job: other, why: why, now: s.Now}.disown([]string{c.WorkerID}, 0)
			s = s.putJob(other)
		}
	}
	return s
}

// mayHaveMade reports whether a worker may be among the makers of a job. A job knows sharedBit makers by name; with
// more, it may be any worker.
func (au *Auditing) mayHaveMade(workerID string) bool {
	return slices.Contains(au.makers, workerID) || len(au.makers) >= sharedBit
}

// asked reports whether a worker has an opinion of a pending audit: it need not have made anything of the job.
func (au *Auditing) asked(workerID string) (some bool) {
	au.Each(func(a *Audit) bool {
		some = a.By(workerID)
		return !some
	})
	return some
}

func (all Convictions) forgetOldest() Convictions {
	var oldest Conviction
	all.Each(func(c Conviction) {
		if oldest.WorkerID == "" || c.At < oldest.At {
			oldest = c
		}
	})
	all.tree, _, _ = all.tree.Delete([]byte(oldest.WorkerID))
	return all
}
