package state

import (
	"cmp"
	"fmt"
	"slices"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// MaxConvicted bounds how many convicted workers the cluster remembers, the newest, and how many a job.
const MaxConvicted = 1024

// Whose names those whose result was another than the convicted worker's.
func (c Conviction) Whose() string { return cmp.Or(c.Than, "two others") }

// convict notes the workers that made another result of a task than two others, and takes back what they had a part in;
// than tells whose result it was, "" for two others'. What the tainted makers had a part in is taken back too: one of
// them was wrong, and nobody can tell which.
func (j *Job) convict(liars []Opinion, tainted uint64, task, than string, now int64) {
	why := fmt.Sprintf("two workers made another result of %s than was folded from pieces of several", task)
	if len(liars) > 0 {
		whose := Conviction{Than: than}.Whose()
		why = fmt.Sprintf("worker %s made another result of %s than %s", liars[0].Worker, task, whose)
	}
	var ids []string
	for _, o := range liars {
		j.Audits.note(Conviction{WorkerID: o.WorkerID, Worker: o.Worker, Task: task, JobID: j.ID, Than: Clip(than, 512),
			At: now})
		ids = append(ids, o.WorkerID)
	}
	j.disown(ids, tainted, why, now)
}

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

// disown takes back everything in which one of the workers, or of the tainted makers, had a part, as far back as it
// reaches.
func (j *Job) disown(ids []string, tainted uint64, why string, now int64) {
	mask := tainted
	for _, id := range ids {
		mask |= j.Audits.bitOf(id)
	}
	plan := slices.Contains(ids, j.Audits.planMaker) && !j.Audits.planVerified && !j.Manifest.IsZero()
	if reach, some := j.Lineage().reachOfMakers(mask, plan); some {
		j.takenBack(reach, why, now)
		repeated := j.uncommitMade(mask)
		j.Audits.Counts.Repeated += repeated
		j.Counters.Remade.Tasks += repeated
	}
	j.voidAudits(ids, mask)
}

// takenBack is takeBack for what is wrong, not lost: made again it may come out otherwise.
func (j *Job) takenBack(reach Reach, why string, now int64) {
	j.Counters.Remade.Changes++
	j.Counters.Remade.Last = Clip(why, 512)
	j.takeBack(reach, nil, true, now)
	if reach == ReachPlan {
		j.forgetPlan()
	}
	j.Audits.modelMakers = 0 // whatever was taken back, no model is left
}

// forgetPlan lets the plan come out otherwise when it is made again.
func (j *Job) forgetPlan() {
	j.Manifest, j.Plan, j.Rounds.first = Ref{}, Ref{}, Round{}
	j.Audits.planMaker, j.Audits.planVerified = "", false
}

// uncommitMade takes back the open round's commits in which one of the makers had a part, and counts them.
func (j *Job) uncommitMade(mask uint64) (repeated uint64) {
	var tainted []Commit
	j.Rounds.Open.EachCommit(func(c Commit) bool {
		if c.Makers&mask != 0 {
			tainted = append(tainted, c)
		}
		return true
	})
	for _, c := range tainted {
		j.Rounds.Open = j.Rounds.Open.uncommit(c.Tree, c.Node)
	}
	return uint64(len(tainted))
}

// voidAudits ends the audits of what was taken back, and strikes what the workers said from the others.
func (j *Job) voidAudits(ids []string, mask uint64) {
	var all []*Audit
	j.Audits.Each(func(a *Audit) bool {
		all = append(all, a)
		return true
	})
	for _, a := range all {
		plan := a.Kind == pb.TaskKind_TASK_KIND_PLAN
		stands := a.Round >= j.Rounds.since && a.Makers&mask == 0 && j.committed(a) || plan && !j.Plan.IsZero()
		kept := slices.DeleteFunc(slices.Clone(a.Opinions),
			func(o Opinion) bool { return slices.Contains(ids, o.WorkerID) })
		switch {
		case !stands || len(kept) == 0 || kept[0] != a.Opinions[0]:
			j.Audits.drop(a)
		case len(kept) < len(a.Opinions):
			changed := *a
			changed.Opinions = kept
			j.Audits.put(&changed)
		}
	}
}

// committed reports whether what an audited task made still counts.
func (j *Job) committed(a *Audit) bool {
	running := j.Stage == pb.JobState_JOB_STATE_RUNNING
	switch {
	case a.Kind == pb.TaskKind_TASK_KIND_PLAN:
		return running
	case a.Round < j.Rounds.Open.Number:
		return true
	case a.Kind == pb.TaskKind_TASK_KIND_STEP:
		return j.Reporting()
	case a.Round > j.Rounds.Open.Number || !running:
		return false
	}
	_, covered := j.Rounds.Open.Covering(a.Tree, a.Node)
	return covered
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
			other.disown([]string{c.WorkerID}, 0,
				fmt.Sprintf("worker %s made another result of %s of job %s than %s", c.Worker, c.Task, c.JobID,
					c.Whose()), s.Now)
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
