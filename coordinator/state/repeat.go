package state

import (
	"fmt"
	"slices"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Split reports whether two workers have made the task, with two results. Without a third worker, each makes it again
// with another kernel set.
func (a *Audit) Split() bool { return len(a.Opinions) == 2 && a.Disputed() }

// Opinion returns what a worker made of the task.
func (a *Audit) Opinion(workerID string) (Opinion, bool) {
	at := slices.IndexFunc(a.Opinions, func(o Opinion) bool { return o.WorkerID == workerID })
	if at < 0 {
		return Opinion{}, false
	}
	return a.Opinions[at], true
}

// Repeated reports whether the worker has made the task again.
func (o Opinion) Repeated() bool { return o.Again != [32]byte{} }

// Insists reports whether it came to the same result again.
func (o Opinion) Insists() bool { return o.Again == o.Sum }

// repeated takes what one of two workers that disagree on a task made of it again; taken is false if nobody asks for
// it.
func (j *Job) repeated(c *pb.Completion, now int64) (taken bool) {
	a, ok := j.Audits.named(c.GetId())
	if !ok || !a.Split() || !wellFormed(c) || !j.committed(a) {
		return false
	}
	at := slices.IndexFunc(a.Opinions, func(o Opinion) bool { return o.WorkerID == c.GetWorkerId() })
	if at < 0 || a.Opinions[at].Repeated() || c.GetKernels() == "" || c.GetKernels() == a.Opinions[at].Kernels {
		return false
	}
	changed := *a
	changed.Opinions = slices.Clone(a.Opinions)
	again := opinionOf(c, a.Whole)
	changed.Opinions[at].Again, changed.Opinions[at].AgainKernels = again.Sum, again.Kernels
	j.Audits.Counts.Again++
	j.Audits.tally(c, nil)
	right, wrong, decided := changed.yielded()
	if !decided {
		j.Audits.put(&changed)
		return true
	}
	j.Audits.drop(a)
	than := fmt.Sprintf("worker %s, and than its own with the kernels %s", right.Worker, wrong.AgainKernels)
	review{j, now}.settle(&changed, right.Sum, than)
	return true
}

// yielded finds the worker whose second result is the other's, while the other insists. Nothing is decided before both
// have made the task again: if both yield, a kernel set is wrong, and no worker.
func (a *Audit) yielded() (right, wrong Opinion, decided bool) {
	first, second := a.Opinions[0], a.Opinions[1]
	switch {
	case first.Insists() && second.Again == first.Sum:
		return first, second, true
	case second.Insists() && first.Again == second.Sum:
		return second, first, true
	}
	return Opinion{}, Opinion{}, false
}
