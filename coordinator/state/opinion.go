package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// opinionOf is what a completion says of its task.
func opinionOf(c *pb.Completion, whole bool) Opinion {
	out := c.GetOutput()
	o := Opinion{WorkerID: Clip(c.GetWorkerId(), 128), Worker: Clip(c.GetWorker(), 256),
		Kernels: Clip(c.GetKernels(), 64)}
	refs := []*pb.ObjectRef{out.GetObject()}
	var next *pb.Next
	switch c.GetId().GetKind() {
	case pb.TaskKind_TASK_KIND_NODE:
		if !whole {
			refs = append(refs, out.GetCarry())
		}
	case pb.TaskKind_TASK_KIND_PLAN:
		refs, next = []*pb.ObjectRef{out.GetManifest(), out.GetPlan()}, out.GetNext()
		manifest, _ := refFrom(out.GetManifest())
		o.Basis = manifest.SHA256
	case pb.TaskKind_TASK_KIND_STEP:
		refs, next = nil, out.GetNext()
	}
	o.Sum = resultSum(refs, next)
	return o
}

// resultSum is a digest of the digests in a result. A course is not part of it: it tells of times.
func resultSum(refs []*pb.ObjectRef, next *pb.Next) [32]byte {
	var all []byte
	for _, r := range append(slices.Clone(refs), next.GetState(), next.GetMetrics()) {
		ref, _ := refFrom(r)
		all = binary.BigEndian.AppendUint64(append(all, ref.SHA256[:]...), uint64(ref.Size))
	}
	done := uint64(0)
	if next.GetDone() {
		done = 1
	}
	all = binary.BigEndian.AppendUint64(all, done)
	all = append(append(all, next.GetPhase()...), 0)
	for _, n := range next.GetTrees() {
		all = binary.BigEndian.AppendUint32(all, n)
	}
	return sha256.Sum256(all)
}

// second takes a result of a task that is audited for another opinion; taken is false for a task that is not audited.
func (j *Job) second(c *pb.Completion, now int64) (taken bool) {
	a, ok := j.Audits.named(c.GetId())
	if !ok || a.Opinions[0].WorkerID == c.GetWorkerId() || !wellFormed(c) || !j.committed(a) {
		return false
	}
	if a.By(c.GetWorkerId()) {
		return true // it has said so before
	}
	o := opinionOf(c, a.Whole)
	if a.Kind == pb.TaskKind_TASK_KIND_NODE {
		o.Basis = madeFrom(c, a.Pieces)
	}
	if !a.judges(o) {
		return false
	}
	before := j.Audits.Counts.Disputed
	j.Audits.tally(c, a)
	j.add(a, o, now)
	if a.Kind != pb.TaskKind_TASK_KIND_PLAN || o.Basis == a.Opinions[0].Basis {
		// Plans of different lists are no violation: the input may have changed in between.
		j.Counters.Violations += j.Audits.Counts.Disputed - before
	}
	return true
}

// dispute has a committed node made by another worker, since a second result differs from the commit.
func (j *Job) dispute(winner Commit, c *pb.Completion, now int64) {
	task := &Audit{Kind: pb.TaskKind_TASK_KIND_NODE, Round: j.Rounds.Open.Number, Tree: winner.Tree, Node: winner.Node}
	own := Opinion{WorkerID: winner.WorkerID, Worker: winner.Worker,
		Sum: resultSum([]*pb.ObjectRef{winner.Object.Proto()}, nil)}
	other := opinionOf(c, true)
	other.Basis = madeFrom(c, nil)
	if !j.Audits.alone(winner) {
		own.Basis = foreign
	}
	a := j.nodeAudit(winner, nil, own)
	a.Whole = true
	was, drawn := j.Audits.named(c.GetId())
	switch {
	case own.WorkerID == "" || other.WorkerID == "": // of an older release, which failed the job
		j.violated(task.String(), winner.Worker, winner.Object, refOf(c.GetOutput().GetObject()), c, now)
		return
	case own.WorkerID == other.WorkerID && a.judges(own) && a.judges(other): // it contradicts itself
		j.Audits.Counts.Disputed++
		j.convict([]Opinion{other}, 0, task.String(), "its own before", now)
		return
	case drawn && was.Whole:
		return // others make it from its leaves already
	case !drawn:
		j.Audits.Counts.Drawn++
		j.Audits.Counts.Nodes++
	}
	if own.WorkerID == other.WorkerID {
		j.Audits.put(a)
		return
	}
	j.add(a, other, now)
}

// wellFormed reports whether a result has what its task is to make; another would be refused of a first commit too.
func wellFormed(c *pb.Completion) bool {
	out := c.GetOutput()
	ref := out.GetObject()
	switch c.GetId().GetKind() {
	case pb.TaskKind_TASK_KIND_PLAN:
		ref = out.GetPlan()
	case pb.TaskKind_TASK_KIND_STEP:
		ref = out.GetNext().GetState()
	}
	_, ok := refFrom(ref)
	return ok
}

func refOf(r *pb.ObjectRef) Ref {
	ref, _ := refFrom(r)
	return ref
}

// add puts an opinion to an audit's. The result that two have stands; a first other one waits for a third worker.
func (j *Job) add(a *Audit, o Opinion, now int64) {
	was := a.Disputed()
	changed := *a
	changed.Opinions = append(slices.Clip(a.Opinions), o)
	if changed.Disputed() && !was {
		j.Audits.Counts.Disputed++
	}
	votes := 0
	for _, other := range changed.Opinions {
		if other.Sum == o.Sum {
			votes++
		}
	}
	if votes < 2 {
		j.Audits.put(&changed)
		return
	}
	j.Audits.drop(a)
	j.settle(&changed, o.Sum, "", now)
}

// settle ends an audit by the right result. Than names whose it is for those whose result was another; "" means that
// two other workers have it.
func (j *Job) settle(a *Audit, sum [32]byte, than string, now int64) {
	var others []Opinion
	for _, o := range a.Opinions {
		if o.Sum != sum {
			others = append(others, o)
		}
	}
	j.Audits.Counts.Agreed++
	j.Audits.Counts.EndedAt = now
	if a.twoSets(sum) {
		j.Audits.Counts.OtherSets++
	}
	if a.Kind == pb.TaskKind_TASK_KIND_PLAN &&
		slices.ContainsFunc(others, func(o Opinion) bool { return o.Basis != basisOf(a, sum) }) {
		j.relisted(a, sum, now)
		return
	}
	tainted := uint64(0)
	if first := a.Opinions[0]; first.Sum == sum {
		j.verified(a)
	} else if !a.judges(first) { // somebody's piece is wrong
		tainted = a.Makers
	}
	wrong := slices.DeleteFunc(others, func(o Opinion) bool { return !a.judges(o) })
	if len(wrong) > 0 || tainted != 0 {
		j.convict(wrong, tainted, a.String(), than, now)
	}
}

func basisOf(a *Audit, sum [32]byte) [32]byte {
	at := slices.IndexFunc(a.Opinions, func(o Opinion) bool { return o.Sum == sum })
	return a.Opinions[at].Basis
}

// relisted ends the audit of a plan whose makers did not see the same objects. The input may have changed in between,
// so nobody is convicted; but what the job reads is what two workers saw.
func (j *Job) relisted(a *Audit, sum [32]byte, now int64) {
	if a.Opinions[0].Sum == sum {
		j.verified(a)
		return
	}
	j.Audits.Counts.Repeated++
	j.takenBack(ReachPlan, "two workers listed other input than the plan's maker", now)
	j.voidAudits(nil, 0)
	if j.Counters.Remade.Anew > MaxAnew {
		j.failed(Failure{
			Code: string(protocol.CodeInputChanged), Class: protocol.ClassInput, Task: "plan",
			Message: fmt.Sprintf(
				"no two workers found the same input before and after, %d times: it changes while the job begins. Submit the job again when it is complete", MaxAnew),
		}, now)
	}
}

// verified notes that two workers made what was committed.
func (j *Job) verified(a *Audit) {
	switch a.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		j.Audits.planVerified = true
	case pb.TaskKind_TASK_KIND_STEP:
		j.Rounds.markAudited(a.Round)
	}
}

// String names the task for people.
func (a *Audit) String() string {
	switch a.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		return "plan"
	case pb.TaskKind_TASK_KIND_STEP:
		return fmt.Sprintf("round %d, step", a.Round)
	}
	return fmt.Sprintf("round %d, tree %d, node %d/%d", a.Round, a.Tree, a.Node.Level, a.Node.Index)
}
