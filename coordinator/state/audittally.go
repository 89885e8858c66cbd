package state

import (
	"slices"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Auditor is a worker that made tasks of a job a second time.
type Auditor struct {
	WorkerID, Worker, Kernels string
	Tasks                     uint64
	OtherSets                 uint64 // whose first maker has another kernel set
}

const (
	maxAuditors    = 64 // of a job; the last one counts, without a name, all that come after the others
	maxWaivedTasks = 16
)

// maxSpent bounds how long a result may have kept its worker, in microseconds: ten days. The worker itself reports it,
// and a sum must not overflow.
const maxSpent = 10 * 24 * 3600 * million

// spend adds what a worker says that a result took, and which leaves it computed with two kernel sets.
func (au *Auditing) spend(c *pb.Completion) (us uint64) {
	us = min(c.GetSpentUs(), maxSpent)
	au.Counts.WorkUs += us
	au.Counts.SelfChecked += uint64(c.GetOutput().GetSelfChecked())
	return us
}

// tally notes which worker has made an audited task, and how long it took; a is nil for a task that its own worker made
// again.
func (au *Auditing) tally(c *pb.Completion, a *Audit) {
	au.Counts.SpentUs += au.spend(c)
	if a == nil {
		return
	}
	w := Auditor{WorkerID: Clip(c.GetWorkerId(), 128), Worker: Clip(c.GetWorker(), 256),
		Kernels: Clip(c.GetKernels(), 64)}
	at := slices.IndexFunc(au.Auditors, func(known Auditor) bool { return known.WorkerID == w.WorkerID })
	au.Auditors = slices.Clone(au.Auditors)
	switch {
	case at >= 0:
	case len(au.Auditors) < maxAuditors:
		au.Auditors, at = append(au.Auditors, w), len(au.Auditors)
	default:
		at = maxAuditors - 1
		au.Auditors[at].WorkerID, au.Auditors[at].Worker, au.Auditors[at].Kernels = "", "", ""
	}
	au.Auditors[at].Tasks++
	if otherSets(a.Opinions[0].Kernels, w.Kernels) {
		au.Auditors[at].OtherSets++
	}
}

// otherSets reports whether two kernel sets are known, and differ.
func otherSets(a, b string) bool { return a != "" && b != "" && a != b }

// twoSets reports whether the results with this sum were made with different kernel sets.
func (a *Audit) twoSets(sum [32]byte) bool {
	var sets []string
	for _, o := range a.Opinions {
		if o.Sum == sum {
			sets = append(sets, o.Kernels)
		}
		if o.Again == sum {
			sets = append(sets, o.AgainKernels)
		}
	}
	return slices.ContainsFunc(sets, func(set string) bool { return otherSets(sets[0], set) })
}

// waive ends an audit that nobody makes; failed means that every worker that could make it failed to.
func (au *Auditing) waive(a *Audit, failed bool, now int64) {
	au.drop(a)
	au.Counts.Waived++
	au.Counts.EndedAt = now
	if !failed {
		return
	}
	au.Counts.Failed++
	if len(au.WaivedTasks) < maxWaivedTasks {
		au.WaivedTasks = append(slices.Clip(au.WaivedTasks), a.String())
	}
}

// applyWaive ends audits that nobody disputes: those it names, or all of a job that waits for nothing else.
func applyWaive(s State, cmd *pb.WaiveAudits) (State, Reply) {
	job, ok := s.Job(cmd.GetId())
	if !ok {
		return s, reject(NotFound, "no job %q", Clip(cmd.GetId(), 64))
	}
	all := len(cmd.GetTasks()) == 0
	if job.Ended() || all && !job.Reporting() {
		return s, Reply{Job: job}
	}
	job = job.clone()
	var waived []*Audit
	job.Audits.Each(func(a *Audit) bool {
		named := func(id *pb.TaskID) bool { return a.is(id, job.Counters.Remade.Changes) }
		if !a.Disputed() && (all || slices.ContainsFunc(cmd.GetTasks(), named)) {
			waived = append(waived, a)
		}
		return true
	})
	for _, a := range waived {
		job.Audits.waive(a, !all, s.Now)
	}
	return s.putJob(job), Reply{Job: job}
}
