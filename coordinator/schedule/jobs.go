package schedule

import (
	"cmp"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Jobs is what a leader remembers of the rounds of jobs and of their leases.
type Jobs struct {
	cfg    Config
	roster *Roster
	list   []*jobBoard // by number
	// Jobs accepted before this leader are not leased before holdUntil: their tasks
	// may be at work under the last leader's leases.
	holdBefore uint64
	holdUntil  time.Duration
	earliest   time.Duration // no lease ends before
	began      time.Duration // of this leader
	latest     time.Duration // that anybody told the board
	tails      window        // of the rounds of all jobs, for those of phases of which none has ended
	Counts     Counts
	past       []pastCourse // in the order in which they were forgotten
}

// of returns the memory of the job's current round, fresh when the round is new.
func (jobs *Jobs) of(job *state.Job) *jobBoard {
	at, found := jobs.find(job.Number)
	if !found {
		memory := newJobBoard(job)
		memory.began = jobs.latest
		memory.course = newTimeline(jobs.sawFrom(job))
		jobs.list = slices.Insert(jobs.list, at, memory)
	}
	old := jobs.list[at]
	if old.round == job.Rounds.Open.Number && old.changes == job.Counters.Remade.Changes {
		return old
	}
	jobs.abandon(old)
	memory := newJobBoard(job)
	jobs.list[at] = memory
	memory.began = jobs.latest
	memory.untold, memory.course, memory.told, memory.denied = old.untold, old.course, old.told, old.denied
	if old.changes == memory.changes {
		memory.audits = old.audits
	} else {
		old.eachAudit(func(_ Task, work *auditWork) {
			jobs.took(old, work.lease, jobs.latest, pb.TimelineOutcome_TIMELINE_OUTCOME_IN_VAIN)
		})
	}
	if old.mapped > 0 && old.changes == memory.changes && old.round+1 == memory.round {
		old.pace.tails.add(jobs.latest - old.mapped)
		jobs.tails.add(jobs.latest - old.mapped)
	}
	if old.pace.phase == job.Rounds.Open.Phase {
		memory.pace = old.pace
	}
	return memory
}

func (jobs *Jobs) find(number uint64) (at int, found bool) {
	return slices.BinarySearchFunc(jobs.list, number, func(j *jobBoard, number uint64) int {
		return cmp.Compare(j.number, number)
	})
}

// sawFrom is since when this leader sees a job's course; 0: from its beginning.
func (jobs *Jobs) sawFrom(job *state.Job) time.Duration {
	if job.Number < jobs.holdBefore {
		return max(jobs.began, 1)
	}
	return 0
}

// Holding reports whether job waits for workers to announce what they still do.
func (jobs *Jobs) Holding(job *state.Job, now time.Duration) bool {
	return job.Number < jobs.holdBefore && now < jobs.holdUntil
}

// Leased counts the live leases of a job and of a worker; an empty name counts all.
func (jobs *Jobs) Leased(jobID, workerID string) int {
	count := 0
	for _, j := range jobs.list {
		if jobID != "" && j.id != jobID {
			continue
		}
		if workerID == "" {
			count += j.leases.Len()
			j.eachAudit(func(Task, *auditWork) { count++ })
			continue
		}
		j.each(func(l *lease) {
			if l.worker == workerID {
				count++
			}
		})
		j.eachAudit(func(_ Task, work *auditWork) {
			if work.lease.worker == workerID {
				count++
			}
		})
	}
	return count
}

// WorkersAt counts the workers with tasks of a job.
func (jobs *Jobs) WorkersAt(jobID string) int {
	at := make(map[string]bool)
	for _, j := range jobs.list {
		if j.id == jobID {
			j.each(func(l *lease) { at[l.worker] = true })
			j.eachAudit(func(_ Task, work *auditWork) { at[work.lease.worker] = true })
		}
	}
	return len(at)
}

// LeasedBy counts the live leases of each worker that has one.
func (jobs *Jobs) LeasedBy() map[string]int {
	counts := map[string]int{}
	for _, j := range jobs.list {
		j.each(func(l *lease) { counts[l.worker]++ })
		j.eachAudit(func(_ Task, work *auditWork) { counts[work.lease.worker]++ })
	}
	return counts
}

func (jobs *Jobs) put(memory *jobBoard, l *lease) {
	jobs.begun(memory, l)
	memory.put(l)
	jobs.earliest = min(jobs.earliest, l.deadline)
}

// takenOver is the lease of a task that its worker held before it registered here.
func (jobs *Jobs) takenOver(h Held, workerID string, now time.Duration) *lease {
	return &lease{task: h.Task, worker: workerID, token: h.Token, deadline: now + jobs.cfg.LeaseTTL, granted: -1,
		since: now}
}

// needed reports whether the job still waits for this task.
func (jobs *Jobs) needed(job *state.Job, t Task) bool {
	if job.Ended() || t.Changes != job.Counters.Remade.Changes || t.Again {
		return false
	}
	switch t.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		return job.Stage == pb.JobState_JOB_STATE_PLANNING
	case pb.TaskKind_TASK_KIND_REPORT:
		return job.Reporting()
	}
	if t.Round != job.Rounds.Open.Number || job.Stage != pb.JobState_JOB_STATE_RUNNING || job.Reporting() {
		return false
	}
	if t.Kind == pb.TaskKind_TASK_KIND_STEP {
		return true
	}
	if t.Kind != pb.TaskKind_TASK_KIND_NODE || !jobs.of(job).leaves.valid(t.Tree, t.Node) {
		return false
	}
	_, committed := job.Rounds.Open.Covering(t.Tree, t.Node)
	return !committed
}
