package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// Audit is a committed task that is made a second time, with all that it was made from. It is never changed: commands
// put a changed copy.
type Audit struct {
	Kind       pb.TaskKind
	Round      uint32
	Tree       uint32
	Node       protocol.Node
	Phase      string
	State      Ref
	Base       uint32 // the round that made State and Carries
	TreeLeaves uint32
	Pieces     []Commit // that it was folded from
	Carries    []Carry
	Makers     uint64    // that had a part in it, as bits
	Whole      bool      // what it was folded from is not known any more: it is made from its leaves
	Opinions   []Opinion // the first is that of who committed it
}

// Opinion is what a worker made of an audited task.
type Opinion struct {
	WorkerID, Worker, Kernels string
	Sum                       [32]byte
	Basis                     [32]byte // of a plan: the digest of its manifest; of others: see the function Basis
	Again                     [32]byte // the sum of what it made again with AgainKernels; zero before
	AgainKernels              string
}

// Disputed reports whether there are two results.
func (a *Audit) Disputed() bool {
	for _, o := range a.Opinions[1:] {
		if o.Sum != a.Opinions[0].Sum {
			return true
		}
	}
	return false
}

// By reports whether a worker has made the task already.
func (a *Audit) By(workerID string) bool {
	return slices.ContainsFunc(a.Opinions, func(o Opinion) bool { return o.WorkerID == workerID })
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

// InParts reports whether a step was made from parts of its round's roots: pieces of one tree follow each other.
func (a *Audit) InParts() bool {
	for i := 1; i < len(a.Pieces); i++ {
		if a.Pieces[i].Tree == a.Pieces[i-1].Tree {
			return true
		}
	}
	return false
}

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

// Auditing is what a job's audits need.
type Auditing struct {
	PPM          uint32 // share of the nodes, in millionths; 0 means no audits
	Counts       AuditCounts
	Auditors     []Auditor // in order of their first audit, at most maxAuditors
	WaivedTasks  []string  // the first of those that every worker failed to make
	Convicted    []Conviction
	makers       []string // ids of the workers with a bit of their own, at most 63
	modelMakers  uint64
	planMaker    string
	planVerified bool
	pending      *iradix.Tree[*Audit] // pending; nil without any
}

// AuditCounts count a job's audits. Repeated are the commits that were taken back.
type AuditCounts struct {
	Drawn, Agreed, Waived, Disputed, Repeated uint64
	Nodes                                     uint64 // of those drawn
	Again                                     uint64 // results that their own worker made again
	OtherSets                                 uint64 // agreed by workers with different kernel sets
	Failed                                    uint64 // of those waived: every worker that could make them failed to
	SelfChecked                               uint64 // leaves that their own worker computed with two kernel sets
	SpentUs, WorkUs                           uint64 // microseconds of workers at audits, and at all tasks
	EndedAt                                   int64  // when the last ended; 0 before
}

// sharedBit stands for all workers beyond those with a bit of their own.
const sharedBit = 63

// bitOf is a worker's bit among a job's makers.
func (au *Auditing) bitOf(workerID string) uint64 {
	if at := slices.Index(au.makers, workerID); at >= 0 {
		return 1 << at
	}
	return 1 << sharedBit
}

// maker gives a worker its bit.
func (au *Auditing) maker(workerID string) uint64 {
	if !slices.Contains(au.makers, workerID) && len(au.makers) < sharedBit {
		au.makers = append(slices.Clip(au.makers), workerID)
	}
	return au.bitOf(workerID)
}

// eachObject visits what pending audits read. Where it is lost an audit is waived, and nothing made again.
func (au *Auditing) eachObject(visit func(round uint32, ref Ref)) {
	au.Each(func(a *Audit) bool {
		if !a.State.IsZero() {
			visit(a.Base, a.State)
		}
		for _, c := range a.Pieces {
			visit(a.Round, c.Object)
		}
		for _, c := range a.Carries {
			visit(a.Base, c.Object)
		}
		return true
	})
}

// Pending is how many tasks wait to be made a second time.
func (au *Auditing) Pending() int {
	if au.pending == nil {
		return 0
	}
	return au.pending.Len()
}

// PendingAudits stands for the audits that a job waits for: equal values are of the same audits. The zero value stands
// for none.
type PendingAudits struct{ tree *iradix.Tree[*Audit] }

// Standing is the value that stands for the pending audits.
func (au *Auditing) Standing() PendingAudits { return PendingAudits{au.pending} }

// Each visits the pending audits in order of round, until visit returns false.
func (au *Auditing) Each(visit func(*Audit) bool) {
	if au.pending != nil {
		au.pending.Root().Walk(func(_ []byte, a *Audit) bool { return !visit(a) })
	}
}

// Of is the pending audit of a task.
func (au *Auditing) Of(round uint32, kind pb.TaskKind, tree uint32, n protocol.Node) (*Audit, bool) {
	if au.pending == nil {
		return nil, false
	}
	return au.pending.Get(auditKey(round, kind, tree, n))
}

func (au *Auditing) named(id *pb.TaskID) (*Audit, bool) {
	return au.Of(id.GetRound(), id.GetKind(), id.GetTree(), nodeFrom(id))
}

// nodeFrom reads a node from the wire. It may be one that no tree has.
func nodeFrom(id interface {
	GetLevel() uint32
	GetIndex() uint32
}) protocol.Node {
	return protocol.Node{Level: int(min(id.GetLevel(), 63)), Index: int(id.GetIndex())}
}

// is reports whether an id names the audited task, and not the task as it was before something was taken back.
func (a *Audit) is(id *pb.TaskID, changes uint64) bool {
	key := auditKey(id.GetRound(), id.GetKind(), id.GetTree(), nodeFrom(id))
	return id.GetChanges() == changes && bytes.Equal(a.key(), key)
}

func (a *Audit) key() []byte { return auditKey(a.Round, a.Kind, a.Tree, a.Node) }

func auditKey(round uint32, kind pb.TaskKind, tree uint32, n protocol.Node) []byte {
	if kind == pb.TaskKind_TASK_KIND_PLAN {
		round = 0 // there is one
	}
	key := binary.BigEndian.AppendUint32(nil, round)
	key = binary.BigEndian.AppendUint32(append(key, byte(kind)), tree)
	key = binary.BigEndian.AppendUint64(key, uint64(n.Index))
	return append(key, byte(n.Level))
}

func (au *Auditing) put(a *Audit) {
	if au.pending == nil {
		au.pending = iradix.New[*Audit]()
	}
	au.pending, _, _ = au.pending.Insert(a.key(), a)
}

func (au *Auditing) drop(a *Audit) {
	if au.pending != nil {
		au.pending, _, _ = au.pending.Delete(a.key())
	}
}

// audited reports whether a result is of a job whose tasks are audited, and tells who made it: those of an older
// release do not.
func (au *Auditing) audited(secret []byte, workerID string) bool {
	return au.PPM > 0 && len(secret) > 0 && workerID != ""
}

// committed reports whether what an audited task made still counts.
func (j *Job) committed(a *Audit) bool {
	running := j.Stage == pb.JobState_JOB_STATE_RUNNING
	switch {
	case a.Kind == pb.TaskKind_TASK_KIND_PLAN:
		return running
	case a.Round < j.Rounds.Open.Number:
		return true
	case a.Kind == pb.TaskKind_TASK_KIND_STEP:
		return j.Reporting()
	case a.Round > j.Rounds.Open.Number || !running:
		return false
	}
	_, covered := j.Rounds.Open.Covering(a.Tree, a.Node)
	return covered
}
