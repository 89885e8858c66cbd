package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Load is how much work there is, and who is there to do it.
type Load struct {
	Workers, Slots int // live
	Leased         int // tasks, speculative copies among them
	// Waiting are the tasks that a worker could begin now: plans, steps and reports, and leaves that are
	// neither committed nor leased, each taken as a task. Merges count as one while nothing else is left.
	Waiting int
	// Wanted is how many slots would be busy if there were enough: what to scale workers on. A job
	// counts with as many as its max_workers can bring.
	Wanted int
}

// Load counts the work of the jobs that were admitted.
func (b *Board) Load(view state.State, now time.Duration) Load {
	var l Load
	widest := 1
	for w := range b.Roster.live(now) {
		l.Workers++
		l.Slots += w.Slots
		widest = max(widest, w.Slots)
	}
	view.EachActive(func(job *state.Job) bool {
		if job.Stage == pb.JobState_JOB_STATE_QUEUED {
			return true
		}
		waiting := b.Jobs.waiting(job) // before the leases are counted: those of a round that is over end with it
		leased := b.Jobs.Leased(job.ID, "")
		l.Leased += leased
		l.Waiting += waiting
		wanted := leased + waiting
		if job.MaxWorkers > 0 {
			wanted = min(wanted, job.MaxWorkers*widest)
		}
		l.Wanted += wanted
		return true
	})
	return l
}

// waiting counts the tasks of a job that nobody holds.
func (jobs *Jobs) waiting(job *state.Job) int {
	memory := jobs.of(job)
	single := job.Stage == pb.JobState_JOB_STATE_PLANNING || job.Reporting() || job.Rounds.Open.Complete()
	switch {
	case !single && memory.leaves.count > 0:
		return memory.leaves.count
	case memory.leases.Len() == 0:
		return 1 // the plan, a merge, the step or the report
	}
	return 0
}
