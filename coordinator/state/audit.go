package state

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
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
	Basis                     [32]byte // of a plan: the digest of its manifest; of a node: see the function Basis
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

// Conviction names a worker, and the task of which it made another result than the right one.
type Conviction struct {
	WorkerID, Worker, Task, JobID string
	Than                          string // whose result was another; "" means two other workers
	At                            int64
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

// lot is a number that nobody can tell who does not know the secret.
func lot(secret []byte, jobID, purpose string, numbers ...uint64) uint64 {
	mac := hmac.New(sha256.New, secret)
	for _, text := range []string{purpose, jobID} {
		mac.Write(binary.AppendUvarint(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	for _, n := range numbers {
		mac.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	return binary.BigEndian.Uint64(mac.Sum(nil))
}

const million = 1_000_000

// drawNode decides, when a node is committed, whether it is audited: by its share, or because it holds the leaf that is
// drawn of the first round of each phase. The pieces are what was committed below it.
func (j *Job) drawNode(secret []byte, c Commit, pieces []Commit, by *pb.Completion) {
	if !j.Audits.audited(secret, c.WorkerID) {
		return
	}
	number, shape := j.Rounds.Open.Number, j.Rounds.Open.Tree(c.Tree)
	drawn := lot(secret, j.ID, "node", uint64(number), uint64(c.Tree), uint64(c.Node.Level),
		uint64(c.Node.Index))%million < uint64(j.Audits.PPM)
	first, end := shape.Range(c.Node)
	if last, closed := j.Rounds.lastClosed(); !drawn && (!closed || last.Phase != j.Rounds.Open.Phase) {
		at := lot(secret, j.ID, "phase", uint64(number)) % j.Rounds.Open.Leaves()
		for t := range c.Tree {
			at -= uint64(j.Rounds.Open.Trees[t]) // of an earlier tree: beyond every leaf
		}
		drawn = at >= uint64(first) && at < uint64(end) && !slices.ContainsFunc(pieces, func(p Commit) bool {
			from, to := shape.Range(p.Node)
			return at >= uint64(from) && at < uint64(to)
		})
	}
	if drawn {
		j.Audits.Counts.Drawn++
		j.Audits.Counts.Nodes++
		j.Audits.put(j.auditOfCommit(c, pieces, by))
	}
}

// auditOfCommit has a node made again from what it was made from: its leaves, or the pieces committed below it. Where
// it was folded from others, of before, it is made from its leaves.
func (j *Job) auditOfCommit(c Commit, pieces []Commit, by *pb.Completion) *Audit {
	own := opinionOf(by, false)
	own.Basis = madeFrom(by, pieces)
	switch own.Basis {
	case Basis(pieces):
		return j.nodeAudit(c, pieces, own)
	case Basis(nil):
		return j.nodeAudit(c, nil, own)
	}
	a := j.nodeAudit(c, nil, own)
	a.Opinions[0].Sum, a.Whole = opinionOf(by, true).Sum, true
	return a
}

func (j *Job) nodeAudit(c Commit, pieces []Commit, own Opinion) *Audit {
	open := &j.Rounds.Open
	a := &Audit{
		Kind: pb.TaskKind_TASK_KIND_NODE, Round: open.Number, Tree: c.Tree, Node: c.Node, Phase: open.Phase,
		State: open.State, Base: open.Base, TreeLeaves: open.Trees[c.Tree], Pieces: pieces,
		Makers: c.Makers, Opinions: []Opinion{own},
	}
	shape := open.Tree(c.Tree)
	first, end := shape.Range(c.Node)
	left := end - first
	for _, p := range pieces {
		from, to := shape.Range(p.Node)
		left -= to - from
	}
	if left > 0 { // what is folded from pieces alone reads no carries, of which a large node has very many
		a.Carries = open.CarriesIn(c.Tree, first, end)
	}
	return a
}

// drawStep has the step of the round audited that is open still.
func (j *Job) drawStep(secret []byte, makers uint64, own Opinion) {
	if !j.Audits.audited(secret, own.WorkerID) {
		return
	}
	var roots []Commit
	open := &j.Rounds.Open
	open.EachCommit(func(c Commit) bool {
		roots = append(roots, c)
		return true
	})
	j.Audits.Counts.Drawn++
	j.Audits.put(&Audit{
		Kind: pb.TaskKind_TASK_KIND_STEP, Round: open.Number, Phase: open.Phase, State: open.State, Base: open.Base,
		Pieces: roots, Makers: makers, Opinions: []Opinion{own},
	})
}

func (j *Job) drawPlan(secret []byte, own Opinion) {
	if !j.Audits.audited(secret, own.WorkerID) {
		return
	}
	j.Audits.Counts.Drawn++
	j.Audits.put(&Audit{Kind: pb.TaskKind_TASK_KIND_PLAN, Makers: j.Audits.bitOf(own.WorkerID),
		Opinions: []Opinion{own}})
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
