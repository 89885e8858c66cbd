package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// opinion is what the completion says of its task.
func (c completion) opinion(whole bool) Opinion {
	out := c.GetOutput()
	o := Opinion{WorkerID: c.workerID(), Worker: Clip(c.GetWorker(), 256),
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

// second takes the result of a task that is audited for another opinion; taken is false for a task that is not audited.
func (c completion) second() (taken bool) {
	j := c.job
	a, ok := j.Audits.named(c.GetId())
	if !ok || a.Opinions[0].WorkerID == c.GetWorkerId() || !c.wellFormed() || !j.committed(a) {
		return false
	}
	if a.By(c.GetWorkerId()) {
		return true // it has said so before
	}
	o := c.opinion(a.Whole)
	switch a.Kind {
	case pb.TaskKind_TASK_KIND_NODE:
		o.Basis = c.madeFrom(a.Pieces)
	case pb.TaskKind_TASK_KIND_STEP:
		o.Basis = c.madeFrom(nil)
	}
	if !a.judges(o) {
		return false
	}
	before := j.Audits.Counts.Disputed
	j.Audits.tally(c.Completion, a)
	c.review().add(a, o)
	if a.Kind != pb.TaskKind_TASK_KIND_PLAN || o.Basis == a.Opinions[0].Basis {
		// Plans of different lists are no violation: the input may have changed in between.
		j.Counters.Violations += j.Audits.Counts.Disputed - before
	}
	return true
}

// dispute has a committed node made by another worker, since a second result differs from the commit.
func (c completion) dispute(winner Commit) {
	j := c.job
	task := &Audit{Kind: pb.TaskKind_TASK_KIND_NODE, Round: j.Rounds.Open.Number, Tree: winner.Tree, Node: winner.Node}
	own := Opinion{WorkerID: winner.WorkerID, Worker: winner.Worker,
		Sum: resultSum([]*pb.ObjectRef{winner.Object.Proto()}, nil)}
	other := c.opinion(true)
	other.Basis = c.madeFrom(nil)
	if !j.Audits.alone(winner) {
		own.Basis = foreign
	}
	a := j.Rounds.Open.auditOf(winner, nil, own)
	a.Whole = true
	was, drawn := j.Audits.named(c.GetId())
	switch {
	case own.WorkerID == "" || other.WorkerID == "": // of an older release, which failed the job
		c.violated(task.String(), winner.Worker, winner.Object, refOf(c.GetOutput().GetObject()))
		return
	case own.WorkerID == other.WorkerID && a.judges(own) && a.judges(other): // it contradicts itself
		j.Audits.Counts.Disputed++
		c.review().convict([]Opinion{other}, 0, task.String(), "its own before")
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
	c.review().add(a, other)
}

// wellFormed reports whether the result has what its task is to make; another would be refused of a first commit too.
func (c completion) wellFormed() bool {
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

// repeated takes what one of two workers that disagree on a task made of it again; taken is false if nobody asks for
// it.
func (c completion) repeated() (taken bool) {
	j := c.job
	a, ok := j.Audits.named(c.GetId())
	if !ok || !a.Split() || !c.wellFormed() || !j.committed(a) {
		return false
	}
	at := slices.IndexFunc(a.Opinions, func(o Opinion) bool { return o.WorkerID == c.GetWorkerId() })
	if at < 0 || a.Opinions[at].Repeated() || c.GetKernels() == "" || c.GetKernels() == a.Opinions[at].Kernels {
		return false
	}
	changed := *a
	changed.Opinions = slices.Clone(a.Opinions)
	again := c.opinion(a.Whole)
	changed.Opinions[at].Again, changed.Opinions[at].AgainKernels = again.Sum, again.Kernels
	j.Audits.Counts.Again++
	j.Audits.tally(c.Completion, nil)
	right, wrong, decided := changed.yielded()
	if !decided {
		j.Audits.put(&changed)
		return true
	}
	j.Audits.drop(a)
	than := fmt.Sprintf("worker %s, and than its own with the kernels %s", right.Worker, wrong.AgainKernels)
	c.review().settle(&changed, right.Sum, than)
	return true
}
