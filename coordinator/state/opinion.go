package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

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
	review{j, now}.add(a, o)
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
		review{j, now}.convict([]Opinion{other}, 0, task.String(), "its own before")
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
	review{j, now}.add(a, other)
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
