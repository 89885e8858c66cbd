package schedule

import (
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// share grants tasks of the jobs of the highest priority first.
func (b *Board) share(view state.State, workerID string, want int, now time.Duration) []Grant {
	var jobs []*state.Job
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED && !b.Holding(job, now) {
			jobs = append(jobs, job)
		}
		return true
	})
	inTurn(jobs)
	var grants []Grant
	for len(jobs) > 0 && len(grants) < want {
		equals := 1
		for equals < len(jobs) && jobs[equals].Priority == jobs[0].Priority {
			equals++
		}
		grants = append(grants, b.takeTurns(jobs[:equals], workerID, want-len(grants), now)...)
		jobs = jobs[equals:]
	}
	return grants
}

// turn is a job that may have tasks left, and how many of its tasks are leased.
type turn struct {
	job    *state.Job
	leased int
}

// takeTurns grants tasks of the job with the fewest leases, of equals the first accepted, until it is no
// longer that one.
func (b *Board) takeTurns(jobs []*state.Job, workerID string, want int, now time.Duration) (grants []Grant) {
	turns := make([]turn, len(jobs))
	for i, job := range jobs {
		turns[i] = turn{job, b.jobBoard(job).leases.Len()} // a backup counts for nothing
	}
	for len(turns) > 0 && len(grants) < want {
		least, second := fewest(turns)
		share := want - len(grants)
		if second >= 0 {
			lead := turns[second].leased - turns[least].leased
			if least < second { // the next is its as well when they are equal
				lead++
			}
			share = min(share, max(lead, 1))
		}
		got := b.leaseJob(turns[least].job, workerID, share, now)
		grants = append(grants, got...)
		if turns[least].leased += len(got); len(got) < share {
			turns = slices.Delete(turns, least, least+1)
		}
	}
	return grants
}

// fewest finds the jobs with the fewest leases and the fewest but one; second is -1 where there is no other.
func fewest(turns []turn) (least, second int) {
	second = -1
	for i := 1; i < len(turns); i++ {
		switch {
		case turns[i].leased < turns[least].leased:
			least, second = i, least
		case second < 0 || turns[i].leased < turns[second].leased:
			second = i
		}
	}
	return least, second
}

// mayWork reports whether a worker may be leased tasks of a job: the job wants no fewer workers, and its
// state fits the worker's memory.
func (b *Board) mayWork(job *state.Job, workerID string) bool {
	w, known := b.Worker(workerID)
	if known && !w.fits(job) {
		return false
	}
	return job.MaxWorkers == 0 || b.jobBoard(job).admits(workerID, job.MaxWorkers)
}

// takes is the least that a task of the job must keep in memory: the state of its round, or the model.
func takes(job *state.Job) int64 { return max(job.Round.State.Size, job.Model.Size) }

func (w *Worker) fits(job *state.Job) bool { return w.Memory == 0 || takes(job) <= w.Memory }

// admits reports whether a worker is among those at work on the job, or they are fewer than limit.
func (j *jobBoard) admits(workerID string, limit int) bool {
	var others []string
	own := false
	j.each(func(l *lease) {
		own = own || l.worker == workerID
		if !slices.Contains(others, l.worker) {
			others = append(others, l.worker)
		}
	})
	return own || len(others) < limit
}

// TooBig reports whether no live worker has the memory for a job's state, and what it takes and the
// largest has.
func (b *Board) TooBig(job *state.Job, now time.Duration) (need, largest int64, tooBig bool) {
	need, tooBig = takes(job), true
	for w := range b.live(now) {
		largest = max(largest, w.Memory)
		tooBig = tooBig && !w.fits(job)
	}
	return need, largest, tooBig && largest > 0
}
