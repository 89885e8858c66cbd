package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// crumb is how many leases there are for each one that jobs of lower priority get while others want all. Without it
// they would starve.
const crumb = 16

// share grants tasks of the jobs of the highest priority first, and now and then one of the others'.
func (b *Board) share(view state.State, workerID string, want int, now time.Duration) []Grant {
	var jobs []*state.Job
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED && !b.Jobs.Holding(job, now) {
			jobs = append(jobs, job)
		}
		return true
	})
	inTurn(jobs)
	var grants []Grant
	for len(jobs) > 0 && len(grants) < want {
		equals := equalsOf(jobs)
		rest, free := jobs[equals:], want-len(grants)
		if len(rest) > 0 {
			free = min(free, crumb-1-b.ahead)
		}
		got := b.takeTurns(jobs[:equals], workerID, free, now)
		grants = append(grants, got...)
		if len(got) < free || len(rest) == 0 {
			jobs = rest // these want no more
			continue
		}
		if b.ahead += len(got); b.ahead >= crumb-1 && len(grants) < want {
			grants = append(grants, b.takeTurns(rest, workerID, 1, now)...)
			b.ahead = 0
		}
	}
	return grants
}

// equalsOf is how many jobs share the priority of the first.
func equalsOf(jobs []*state.Job) int {
	equals := 1
	for equals < len(jobs) && jobs[equals].Priority == jobs[0].Priority {
		equals++
	}
	return equals
}

// turn is a job that may have tasks left, and how many of its tasks are leased, audits too.
type turn struct {
	job    *state.Job
	leased int
}

// takeTurns grants tasks of the job with the fewest leases, of equals the first accepted, until it is no
// longer that one.
func (b *Board) takeTurns(jobs []*state.Job, workerID string, want int, now time.Duration) (grants []Grant) {
	turns := make([]turn, len(jobs))
	for i, job := range jobs {
		memory := b.Jobs.of(job)
		turns[i] = turn{job, memory.leases.Len()} // a speculative copy counts for nothing
		memory.eachAudit(func(Task, *auditWork) { turns[i].leased++ })
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

// Fit is which workers may work on which jobs, and how long a job waits for one.
type Fit struct {
	cfg      Config
	roster   *Roster
	jobs     *Jobs
	patience time.Duration // when a job has waited long enough for a larger worker; 0 means none waits
}

// mayWork reports whether a worker may be leased tasks of a job: the job wants no fewer workers, and its
// state fits the worker's memory.
func (f *Fit) mayWork(job *state.Job, workerID string) bool {
	w, known := f.roster.Worker(workerID)
	if known && !w.fits(job) {
		return false
	}
	return job.MaxWorkers == 0 || f.jobs.of(job).admits(workerID, job.MaxWorkers)
}

// takes is the least that a task of the job must keep in memory: the state of its round, or the model.
func takes(job *state.Job) int64 { return max(job.Rounds.Open.State.Size, job.Model.Size) }

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
	j.eachAudit(func(_ Task, work *auditWork) {
		own = own || work.lease.worker == workerID
		if !slices.Contains(others, work.lease.worker) {
			others = append(others, work.lease.worker)
		}
	})
	return own || len(others) < limit
}

// TooBig reports whether no live worker has the memory for a job's state, and what it takes and the
// largest has.
func (f *Fit) TooBig(job *state.Job, now time.Duration) (need, largest int64, tooBig bool) {
	need = takes(job)
	largest, tooBig = f.TooMuch(need, now)
	return need, largest, tooBig
}

// TooMuch reports whether there are workers, and all of them have less memory than that; and what the largest has.
func (f *Fit) TooMuch(bytes int64, now time.Duration) (largest int64, tooMuch bool) {
	some := false
	for w := range f.roster.live(now) {
		if w.Memory == 0 || bytes <= w.Memory {
			return 0, false
		}
		largest, some = max(largest, w.Memory), true
	}
	return largest, some
}

// Misfits returns the commands that fail the jobs whose state has not fitted any worker for so long: a larger
// worker may come, but they hold a place that others could have. The time begins anew with each round, and each leader.
func (f *Fit) Misfits(view state.State, now time.Duration) (commands []*pb.Command) {
	f.patience = 0
	view.EachActive(func(job *state.Job) bool {
		if job.Stage == pb.JobState_JOB_STATE_QUEUED || takes(job) == 0 || f.cfg.FitPatience == 0 {
			return true
		}
		memory := f.jobs.of(job)
		need, largest, tooBig := f.TooBig(job, now)
		switch {
		case !tooBig:
			memory.misfit = 0
		case memory.misfit == 0:
			memory.misfit = now + f.cfg.FitPatience
		}
		if memory.misfit != 0 && memory.misfit <= now {
			commands = append(commands, failJob(job, misfit(need, largest, f.cfg.FitPatience)))
		} else {
			f.patience = sooner(f.patience, memory.misfit)
		}
		return true
	})
	return commands
}

func misfit(need, largest int64, waited time.Duration) *pb.Failure {
	return &pb.Failure{
		Code: string(protocol.CodeNoWorkerFits), Class: pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE,
		Message: fmt.Sprintf("its state takes %d MiB, and for %v no worker has planned with more than %d: start a worker with more memory (--memory), or make the model smaller, and submit it again",
			need>>20, waited, largest>>20),
	}
}
