package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A worker on which tasks fail that others then do is at fault itself: a full disk, a missing right, bad memory. A task
// that fails everywhere says nothing of the workers it failed on.
const (
	quarantineFaults = 5 // of tasks that others have done since
	quarantineJobs   = 3 // that these belong to
	quarantineWindow = 10 * time.Minute
)

// charge is a task that failed on a worker, and did not on another.
type charge struct {
	at  time.Duration
	job uint64 // its number
}

// settleFaults forgets the faults of tasks that are done now that t is, and charges the workers that failed where
// another did not.
func (jobs *Jobs) settleFaults(j *jobBoard, job *state.Job, t Task, workerID string, now time.Duration) {
	for key, f := range j.faults { //lint:ordered each is settled by itself
		done := related(f.task, t) && (t.Kind != pb.TaskKind_TASK_KIND_NODE || f.task.Node.Level <= t.Node.Level ||
			covers(job, f.task))
		if !done {
			continue
		}
		delete(j.faults, key)
		for _, blamed := range f.blamed {
			if blamed != workerID {
				jobs.roster.charge(blamed, job.Number, now)
			}
		}
	}
}

func (r *Roster) charge(workerID string, job uint64, now time.Duration) {
	at, found := r.find(workerID)
	if !found {
		return
	}
	w := r.list[at]
	w.charges = slices.DeleteFunc(w.charges, func(c charge) bool { return now-c.at > quarantineWindow })
	w.charges = append(w.charges, charge{now, job})
	var jobs []uint64
	for _, c := range w.charges {
		if !slices.Contains(jobs, c.job) {
			jobs = append(jobs, c.job)
		}
	}
	if len(w.charges) < quarantineFaults || len(jobs) < quarantineJobs || now < w.quarantined ||
		!r.otherAtWork(w, now) {
		return
	}
	w.quarantined = now + quarantineWindow
	w.why = fmt.Sprintf("%s of %s failed on it that other workers have done; see its log",
		protocol.Counted(len(w.charges), "task"), protocol.Counted(len(jobs), "job"))
	w.charges = nil
}

// otherAtWork reports whether there is another worker that is leased tasks: the last is never quarantined.
func (r *Roster) otherAtWork(w *Worker, now time.Duration) bool {
	for other := range r.live(now) {
		if other.ID != w.ID && now >= other.quarantined {
			return true
		}
	}
	return false
}

// Quarantine says why a worker is leased nothing; empty means that it is.
func (w *Worker) Quarantine(now time.Duration) string {
	if now < w.quarantined {
		return w.why
	}
	return ""
}

// shunned reports whether a worker is leased nothing now, while there is another.
func (r *Roster) shunned(workerID string, now time.Duration) bool {
	at, found := r.find(workerID)
	return found && now < r.list[at].quarantined && r.otherAtWork(r.list[at], now)
}
