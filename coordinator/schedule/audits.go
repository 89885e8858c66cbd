package schedule

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Audits are the tasks that are made a second time, while a worker makes them.
type Audits struct {
	cfg     Config
	roster  *Roster
	jobs    *Jobs
	forlorn bool // a job waits for audits alone
}

// auditWork is the leader's memory of a task that is made a second time.
type auditWork struct {
	lease     *lease         // nil while nobody has it
	failures  map[string]int // of each worker, by its id
	notBefore time.Duration  // after a failure
	hangs     int            // leases taken away because it stood still
	expired   int            // leases that were not renewed
	troubles  int            // failures that are neither the task's nor the input's, as of a store that does not answer
	since     time.Duration  // of the first of these
	input     reporters      // workers that find fault with the input, which the task's maker did not
	corrupt   reporters      // workers that cannot read what the task's maker read
}

// maxAuditPause bounds, as a power of two of delays, how long an audit rests whose workers fall silent: it may be what
// ends them.
const maxAuditPause = 10

// auditTask names an audit as a task: to its worker it is one like any other.
func auditTask(job *state.Job, a *state.Audit) Task {
	return Task{JobID: job.ID, Round: a.Round, Kind: a.Kind, Tree: a.Tree, Node: a.Node,
		Changes: job.Counters.Remade.Changes}
}

// audits grants tasks of the job that others have made, to be made again: those that are chosen, or all.
func (s *search) audits(chosen func(*state.Audit) bool) {
	if s.alone || s.look {
		return
	}
	s.job.Audits.Each(func(a *state.Audit) bool {
		if chosen != nil && !chosen(a) {
			return true
		}
		t := auditTask(s.job, a)
		if !s.mayAudit(a, t) {
			t.Again = true
		}
		if !t.Again || s.mayRepeat(a, t) {
			s.grantAudit(a, t)
		}
		return !s.satisfied()
	})
}

// pressingAudits grants the audits that come before what is left to do. While the same audits are pending it remembers
// that none of them does, for a round may have thousands.
func (s *search) pressingAudits() {
	standing := s.job.Audits.Standing()
	if s.alone || s.look || standing == s.memory.patient {
		return
	}
	some := false
	s.audits(func(a *state.Audit) bool {
		presses := s.pressing(a)
		some = some || presses
		return presses
	})
	if !some {
		s.memory.patient = standing
	}
}

// pressing reports whether an audit comes before what is left to do: one that is disputed, and one that found no idle
// worker in its time. That is the round of a node, and the round after a step, which nothing else waits for. What is
// wrong then costs the open round and the last closed one, and what audits read may be swept soon.
func (s *search) pressing(a *state.Audit) bool {
	last := a.Round
	if a.Kind != pb.TaskKind_TASK_KIND_NODE {
		last++
	}
	return a.Disputed() || last < s.job.Rounds.Open.Number
}

// mayAudit reports whether an audit may be granted to the worker: to one that has no opinion of it yet, and while the
// job goes on to one with another instruction set than its maker's, where there is such a worker.
func (s *search) mayAudit(a *state.Audit, t Task) bool {
	work := s.memory.audits[t]
	if work != nil && (work.lease != nil || s.now < work.notBefore) || a.By(s.worker) {
		return false
	}
	if !s.board.Roster.mayMake(s.worker, a) {
		return false
	}
	if work != nil && work.failures[s.worker] > s.board.Roster.leastFailures(s.job, a, work, s.now) {
		return false // another may be able to make it
	}
	w, known := s.board.Roster.Worker(s.worker)
	maker := a.Opinions[0].Kernels
	if s.job.Reporting() || a.Disputed() || !known || w.Kernels != maker {
		return true
	}
	for other := range s.board.Roster.live(s.now) {
		if other.Kernels != maker && !a.By(other.ID) && other.fits(s.job) && s.now >= other.quarantined {
			return false
		}
	}
	return true
}

func (s *search) grantAudit(a *state.Audit, t Task) {
	l := s.lease(t, a.Pieces)
	s.board.Audits.lease(s.memory, l, a)
	s.grants = append(s.grants, Grant{Task: t, Token: l.token, Pieces: a.Pieces, Audit: a})
}

// lease has a lease begin that is of an audit.
func (au *Audits) lease(memory *jobBoard, l *lease, a *state.Audit) {
	work := memory.audits[l.task]
	if work == nil {
		work = &auditWork{failures: map[string]int{}}
		memory.audits[l.task] = work
	}
	l.audit, l.hangs = a, work.hangs
	work.lease = l
	au.jobs.begun(memory, l)
	au.jobs.earliest = min(au.jobs.earliest, l.deadline)
}

// eachAudit visits the leases of audits, in no order that matters.
func (j *jobBoard) eachAudit(visit func(Task, *auditWork)) {
	for t, work := range j.audits { //lint:ordered sums and minima, and each lease by itself
		if work.lease != nil {
			visit(t, work)
		}
	}
}

// auditBy is the audit that a worker holds.
func (j *jobBoard) auditBy(t Task, workerID string) (*auditWork, bool) {
	work := j.audits[t]
	return work, work != nil && work.lease != nil && work.lease.worker == workerID
}

// renew renews the lease of an audit; it is not the worker's, or not needed any more, where that fails.
func (au *Audits) renew(job *state.Job, h Held, workerID string, now time.Duration) bool {
	memory := au.jobs.of(job)
	work, held := memory.auditBy(h.Task, workerID)
	if !held {
		return false
	}
	a, pending := job.Audits.Of(h.Task.Round, h.Task.Kind, h.Task.Tree, h.Task.Node)
	still := memory.hung(work.lease, h.Progress, now)
	if still {
		work.hangs++
		work.notBefore = now + au.cfg.RetryDelay<<min(work.hangs, maxAuditPause)
	}
	if !pending || h.Task.Again && !a.Split() || still {
		au.end(memory, h.Task, pb.TimelineOutcome_TIMELINE_OUTCOME_IN_VAIN, now)
		return false
	}
	work.lease.deadline = now + au.cfg.LeaseTTL
	return true
}

// Done takes note that a worker has reported an audit, and of the workers that were convicted by it.
func (au *Audits) Done(job *state.Job, t Task, workerID string, now time.Duration) (convicted []state.Conviction) {
	memory := au.jobs.of(job)
	if _, held := memory.auditBy(t, workerID); held {
		au.end(memory, t, pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED, now)
		if _, pending := job.Audits.Of(t.Round, t.Kind, t.Tree, t.Node); !pending {
			delete(memory.audits, t)
		}
	}
	if memory.told < len(job.Audits.Convicted) {
		convicted = job.Audits.Convicted[memory.told:]
		memory.told = len(job.Audits.Convicted)
	}
	for _, c := range convicted {
		memory.course.tell(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_WORKER_CONVICTED, c.Worker, c.Task)
	}
	return convicted
}

func (au *Audits) end(j *jobBoard, t Task, outcome pb.TimelineOutcome, now time.Duration) {
	work := j.audits[t]
	au.jobs.took(j, work.lease, now, outcome)
	work.lease = nil
}

// Waivers returns the commands that end the audits which nobody can make: of jobs that wait for nothing else, where one
// worker is all there is. Disputed ones wait for another worker.
func (au *Audits) Waivers(view state.State, now time.Duration) (commands []*pb.Command) {
	au.forlorn = false
	view.EachActive(func(job *state.Job) bool {
		if !job.Reporting() || job.Audits.Pending() == 0 || au.jobs.Holding(job, now) {
			return true
		}
		au.forlorn = true // who is live changes with time alone
		only, count := "", 0
		for w := range au.roster.live(now) {
			able := slices.ContainsFunc(audits(job), func(a *state.Audit) bool { return au.roster.mayMake(w.ID, a) })
			if _, lied := view.Convicted.Get(w.ID); !lied && able && w.fits(job) && now >= w.quarantined {
				only, count = w.ID, count+1
			}
		}
		hopeless := count == 1
		job.Audits.Each(func(a *state.Audit) bool {
			hopeless = hopeless && (a.Disputed() || a.By(only))
			return hopeless
		})
		if hopeless && slices.ContainsFunc(audits(job), func(a *state.Audit) bool { return !a.Disputed() }) {
			commands = append(commands, waive(job.ID, nil))
		}
		return true
	})
	return commands
}

// mayMake reports whether a worker is of a release that can make an audited task: a step may have pieces to fold.
func (r *Roster) mayMake(workerID string, a *state.Audit) bool {
	w, known := r.Worker(workerID)
	return !known || w.FoldsInSteps || a.Kind != pb.TaskKind_TASK_KIND_STEP || !a.InParts()
}

func audits(job *state.Job) (all []*state.Audit) {
	job.Audits.Each(func(a *state.Audit) bool {
		all = append(all, a)
		return true
	})
	return all
}

// quarantineConvicted quarantines the workers that were convicted, by whatever leader: they are leased nothing for
// good.
func (r *Roster) quarantineConvicted(view state.State) {
	if view.Convicted.Count() == 0 {
		return
	}
	for _, w := range r.list {
		if c, lied := view.Convicted.Get(w.ID); lied {
			w.quarantined = math.MaxInt64
			w.why = fmt.Sprintf(
				"it made another result of %s of job %s than %s; look at the machine, then start it again",
				c.Task, c.JobID, c.Whose())
		}
	}
}

// holds reports whether a task that a worker says it holds is an audit, and takes that as leased to it unless it
// is leased already.
func (au *Audits) holds(job *state.Job, workerID string, h Held, now time.Duration) bool {
	a, ok := asked(job, h.Task, workerID)
	if !ok || job.Ended() {
		return false
	}
	memory := au.jobs.of(job)
	if work := memory.audits[h.Task]; work != nil && work.lease != nil {
		return true
	}
	au.lease(memory, au.jobs.takenOver(h, workerID, now), a)
	return true
}
