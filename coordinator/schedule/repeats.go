package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
)

// Standoff is how an audit on which two workers disagree can go on.
type Standoff int

const (
	AThirdDecides Standoff = iota // a third worker makes it
	BothRepeat                    // without a third worker, each makes it again with its other kernel set
	BothInsist                    // both have made it again, which decided nothing
	NoOtherSet                    // one of them is gone, has one kernel set only, or fails to make it again
)

// Standoff returns how an audit on which two workers disagree can go on.
func (au *Audits) Standoff(job *state.Job, a *state.Audit, now time.Duration) Standoff {
	t := auditTask(job, a)
	for w := range au.roster.live(now) {
		if !a.By(w.ID) && w.fits(job) && now >= w.quarantined && au.failures(job, t, w.ID) < maxAuditFailures {
			return AThirdDecides
		}
	}
	if !a.Split() {
		return NoOtherSet
	}
	t.Again = true
	how := BothInsist
	for _, o := range a.Opinions {
		if o.Repeated() {
			continue
		}
		if !au.canRepeat(job, t, o.WorkerID, now) {
			return NoOtherSet
		}
		how = BothRepeat
	}
	return how
}

// canRepeat reports whether a worker is there that can make its task again with another kernel set.
func (au *Audits) canRepeat(job *state.Job, again Task, workerID string, now time.Duration) bool {
	w, known := au.roster.Worker(workerID)
	live := known && now-w.LastSeen < au.cfg.LeaseTTL
	return live && w.Other != "" && now >= w.quarantined && au.failures(job, again, workerID) < maxAuditFailures
}

// failures is how often a worker failed to make an audited task.
func (au *Audits) failures(job *state.Job, t Task, workerID string) int {
	found, known := au.jobs.find(job.Number) // not of, which adds the job to the board: readers ask, too
	if !known || au.jobs.list[found].audits[t] == nil {
		return 0
	}
	return au.jobs.list[found].audits[t].failures[workerID]
}

// mayRepeat reports whether the worker is to make a task again with its other kernel set: another worker has another
// result, and there is no third worker. One of the two does so at a time.
func (s *search) mayRepeat(a *state.Audit, t Task) bool {
	if !a.Split() {
		return false
	}
	o, mine := a.Opinion(s.worker)
	work := s.memory.audits[t]
	if !mine || o.Repeated() || work != nil && (work.lease != nil || s.now < work.notBefore) {
		return false
	}
	return s.board.Audits.Standoff(s.job, a, s.now) == BothRepeat
}

// asked returns the audit of a task if it still waits for this worker to make the task, or to make it again.
func asked(job *state.Job, t Task, workerID string) (a *state.Audit, ok bool) {
	a, pending := job.Audits.Of(t.Round, t.Kind, t.Tree, t.Node)
	if !pending || t.Changes != job.Counters.Remade.Changes {
		return nil, false
	}
	o, said := a.Opinion(workerID)
	if t.Again {
		return a, said && a.Split() && !o.Repeated()
	}
	return a, !said
}
