package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
)

// Standoff is what can become of a task that two workers made otherwise.
type Standoff int

const (
	AThirdDecides Standoff = iota // a third worker is there to make it
	BothRepeat                    // there is none: each makes it again with its other kernel set
	BothInsist                    // they have, and it decided nothing
	NoOtherSet                    // one of them is gone, has one kernel set only, or fails to make it again
)

// Standoff tells how an audit on which two workers disagree can go on.
func (b *Board) Standoff(job *state.Job, a *state.Audit, now time.Duration) Standoff {
	for w := range b.live(now) {
		if !a.By(w.ID) && w.fits(job) && now >= w.quarantined && b.failedAudit(job, auditTask(job, a), w.ID) < maxAuditFailures {
			return AThirdDecides
		}
	}
	if !a.Split() {
		return NoOtherSet
	}
	again := auditTask(job, a)
	again.Again = true
	insist := true
	for _, o := range a.Opinions {
		if o.Repeated() {
			continue
		}
		insist = false
		w, known := b.Worker(o.WorkerID)
		if !known || now-w.LastSeen >= b.cfg.LeaseTTL || w.Other == "" || now < w.quarantined || b.failedAudit(job, again, w.ID) >= maxAuditFailures {
			return NoOtherSet
		}
	}
	if insist {
		return BothInsist
	}
	return BothRepeat
}

// failedAudit is how often a worker failed to make an audited task.
func (b *Board) failedAudit(job *state.Job, t Task, workerID string) int {
	found, known := b.findJob(job.Number) // asked by readers too: it remembers nothing
	if !known || b.jobs[found].audits[t] == nil {
		return 0
	}
	return b.jobs[found].audits[t].failures[workerID]
}

// mayRepeat reports whether the worker is to make a task again with its other kernel set: another made it otherwise, and
// there is no third worker. One of the two does so at a time.
func (s *search) mayRepeat(a *state.Audit, t Task) bool {
	if !a.Split() {
		return false
	}
	o, mine := a.Opinion(s.worker)
	work := s.memory.audits[t]
	if !mine || o.Repeated() || work != nil && (work.lease != nil || s.now < work.notBefore) {
		return false
	}
	return s.board.Standoff(s.job, a, s.now) == BothRepeat
}

// asked reports whether an audited task still waits for this worker to make it, or to make it again.
func asked(job *state.Job, t Task, workerID string) bool {
	a, pending := job.AuditOf(t.Round, t.Kind, t.Tree, t.Node)
	if !pending || t.Changes != job.Counters.Remade.Changes {
		return false
	}
	o, said := a.Opinion(workerID)
	if t.Again {
		return said && a.Split() && !o.Repeated()
	}
	return !said
}
