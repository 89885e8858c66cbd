package state

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// review decides which of the results that workers made of one task is right, and has what rests on wrong ones made
// again. A result is right when two workers made it, or when one of two that disagree yields to the other.
type review struct {
	job *Job // a clone, which the methods change
	now int64
}

// add puts an opinion to an audit's. The result that two have stands; a first other one waits for a third worker.
func (r review) add(a *Audit, o Opinion) {
	was := a.Disputed()
	changed := *a
	changed.Opinions = append(slices.Clip(a.Opinions), o)
	if changed.Disputed() && !was {
		r.job.Audits.Counts.Disputed++
	}
	votes := 0
	for _, other := range changed.Opinions {
		if other.Sum == o.Sum {
			votes++
		}
	}
	if votes < 2 {
		r.job.Audits.put(&changed)
		return
	}
	r.job.Audits.drop(a)
	r.settle(&changed, o.Sum, "")
}

// settle ends an audit by the right result. Than names whose it is for those whose result was another; "" means that
// two other workers have it.
func (r review) settle(a *Audit, sum [32]byte, than string) {
	var others []Opinion
	for _, o := range a.Opinions {
		if o.Sum != sum {
			others = append(others, o)
		}
	}
	counts := &r.job.Audits.Counts
	counts.Agreed++
	counts.EndedAt = r.now
	if a.twoSets(sum) {
		counts.OtherSets++
	}
	if a.Kind == pb.TaskKind_TASK_KIND_PLAN &&
		slices.ContainsFunc(others, func(o Opinion) bool { return o.Basis != basisOf(a, sum) }) {
		r.relisted(a, sum)
		return
	}
	tainted := uint64(0)
	if first := a.Opinions[0]; first.Sum == sum {
		r.verified(a)
	} else if !a.judges(first) { // somebody's piece is wrong
		tainted = a.Makers
	}
	wrong := slices.DeleteFunc(others, func(o Opinion) bool { return !a.judges(o) })
	if len(wrong) > 0 || tainted != 0 {
		r.convict(wrong, tainted, a.String(), than)
	}
}

func basisOf(a *Audit, sum [32]byte) [32]byte {
	at := slices.IndexFunc(a.Opinions, func(o Opinion) bool { return o.Sum == sum })
	return a.Opinions[at].Basis
}

// relisted ends the audit of a plan whose makers did not see the same objects. The input may have changed in between,
// so nobody is convicted; but what the job reads is what two workers saw.
func (r review) relisted(a *Audit, sum [32]byte) {
	if a.Opinions[0].Sum == sum {
		r.verified(a)
		return
	}
	r.job.Audits.Counts.Repeated++
	again := retraction{job: r.job, why: "two workers listed other input than the plan's maker", now: r.now}
	again.discard(ReachPlan)
	again.voidAudits(nil, 0)
	if r.job.Counters.Remade.Anew > MaxAnew {
		r.job.failed(Failure{
			Code: string(protocol.CodeInputChanged), Class: protocol.ClassInput, Task: "plan",
			Message: fmt.Sprintf(
				"the input seems to change while the job begins: its plan or first rounds were discarded %d times, "+
					"the last time because two workers listed different objects. Submit the job again when the input "+
					"is complete", r.job.Counters.Remade.Anew),
		}, r.now)
	}
}

// verified notes that two workers made what was committed.
func (r review) verified(a *Audit) {
	switch a.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		r.job.Audits.planVerified = true
	case pb.TaskKind_TASK_KIND_STEP:
		r.job.Rounds.markAudited(a.Round)
	}
}

// convict notes the workers that made another result of a task than two others, and takes back what they had a part in;
// than tells whose result it was, "" for two others'. What the tainted makers had a part in is taken back too: one of
// them was wrong, and nobody can tell which.
func (r review) convict(liars []Opinion, tainted uint64, task, than string) {
	why := fmt.Sprintf("two workers made another result of %s than was folded from pieces of several", task)
	if len(liars) > 0 {
		whose := Conviction{Than: than}.Whose()
		why = fmt.Sprintf("worker %s made another result of %s than %s", liars[0].Worker, task, whose)
	}
	var ids []string
	for _, o := range liars {
		r.job.Audits.note(Conviction{WorkerID: o.WorkerID, Worker: o.Worker, Task: task, JobID: r.job.ID,
			Than: Clip(than, 512), At: r.now})
		ids = append(ids, o.WorkerID)
	}
	retraction{job: r.job, why: why, now: r.now}.disown(ids, tainted)
}
