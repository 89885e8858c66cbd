package state

import (
	"math/bits"
	"slices"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Lineage tells of which tasks a job's objects come, and how far back taking tasks back reaches. It reads the job as it
// is at each call, and changes nothing.
type Lineage struct{ job *Job }

// Lineage is that of the job.
func (j *Job) Lineage() Lineage { return Lineage{job: j} }

// MakersOf returns the tasks that made a job object which the open round, or the report, reads: those that an Uncommit
// names when the object is lost. It returns none for any other object. Equal bytes of one round are one object, made by
// all the tasks that made them.
func (l Lineage) MakersOf(o ObjectID) []*pb.TaskID {
	j, rounds, open := l.job, &l.job.Rounds, &l.job.Rounds.Open
	m := makers{job: j, of: o}
	if m.is(0, j.Manifest) || m.is(0, j.Plan) || open.Base == 0 && m.is(0, open.State) {
		m.add(pb.TaskKind_TASK_KIND_PLAN, 0, 0, protocol.Node{})
		return m.tasks
	}
	if m.is(open.Number, j.Model) || m.is(open.Number, j.Course) {
		m.add(pb.TaskKind_TASK_KIND_STEP, open.Number, 0, protocol.Node{})
	}
	if m.is(open.Base, open.State) {
		m.add(pb.TaskKind_TASK_KIND_STEP, open.Base, 0, protocol.Node{})
	}
	for _, r := range rounds.Since() {
		if m.is(r.Number, r.Metrics) {
			m.add(pb.TaskKind_TASK_KIND_STEP, r.Number, 0, protocol.Node{})
		}
	}
	m.round(*open)
	others := len(m.tasks)
	m.carries(open.Base, open.Kept)
	if len(m.tasks) > 0 && rounds.last.known() { // the reopened round reads them too; what is kept are its carries
		m.tasks = m.tasks[:others]
		m.round(rounds.last)
	}
	return m.tasks
}

// ReadBy returns the tasks to take back when no worker can make a task of the open round, or the report, from what it
// reads: the nodes below it, and for the report the step too. The workers are those that committed these nodes, at most
// three. If the task reads no node, or at the last attempt, ReadBy returns the tasks that made the round's state and
// carries. It returns no tasks if all that was read is known to be right, or was made again too often.
func (l Lineage) ReadBy(id *pb.TaskID) (tasks []*pb.TaskID, workers []string) {
	rounds, open := &l.job.Rounds, &l.job.Rounds.Open
	if !l.job.MayBeUnreadable() || id.GetRound() != open.Number || !open.known() {
		return nil, nil
	}
	m := makers{job: l.job}
	if rounds.unreadable == MaxUnreadable-1 && rounds.last.known() {
		m.roundBefore()
		return m.tasks, nil
	}
	below := func(c Commit) bool {
		m.add(pb.TaskKind_TASK_KIND_NODE, open.Number, c.Tree, c.Node)
		if c.Worker != "" && len(workers) < 3 && !slices.Contains(workers, c.Worker) {
			workers = append(workers, c.Worker)
		}
		return true
	}
	switch id.GetKind() {
	case pb.TaskKind_TASK_KIND_REPORT:
		m.add(pb.TaskKind_TASK_KIND_STEP, open.Number, 0, protocol.Node{})
		open.EachCommit(below)
	case pb.TaskKind_TASK_KIND_STEP:
		open.EachCommit(below)
	case pb.TaskKind_TASK_KIND_NODE:
		if int(id.GetTree()) >= len(open.Trees) || !open.Tree(id.GetTree()).Valid(nodeFrom(id)) {
			return nil, nil
		}
		first, end := open.Tree(id.GetTree()).Range(nodeFrom(id))
		if open.Commits(id.GetTree(), first, end, below); len(m.tasks) == 0 {
			m.roundBefore()
		}
	}
	return m.tasks, workers
}

// Reach is how far a change reaches back.
type Reach int

// From the least to the farthest.
const (
	ReachNodes  Reach = iota // nodes of the open round
	ReachModel               // the last step, whose model waits for its report
	ReachClosed              // the last closed round
	ReachRounds              // all rounds
	ReachPlan                // the plan too
)

// Reach is how far taking back tasks reaches; ok is false unless all of them may have committed something.
func (l Lineage) Reach(tasks []*pb.TaskID) (reach Reach, ok bool) {
	for _, id := range tasks {
		one, ok := l.reachOf(id)
		if !ok {
			return 0, false
		}
		reach = max(reach, one)
	}
	return reach, len(tasks) > 0
}

// reachOf is how far taking back one task reaches; ok is false for a task that cannot have committed anything.
func (l Lineage) reachOf(id *pb.TaskID) (reach Reach, ok bool) {
	if id.GetJobId() != l.job.ID {
		return 0, false
	}
	rounds, open := &l.job.Rounds, &l.job.Rounds.Open
	node := nodeFrom(id)
	valid := func(r Round) bool {
		return r.known() && int(id.GetTree()) < len(r.Trees) && r.Tree(id.GetTree()).Valid(node)
	}
	closed := rounds.last.known() && id.GetRound() == rounds.last.Number
	switch kind := id.GetKind(); {
	case kind == pb.TaskKind_TASK_KIND_PLAN:
		return ReachPlan, true
	case kind != pb.TaskKind_TASK_KIND_NODE && kind != pb.TaskKind_TASK_KIND_STEP:
		return 0, false
	case id.GetRound() == open.Number && kind == pb.TaskKind_TASK_KIND_STEP:
		return ReachModel, l.job.Reporting()
	case id.GetRound() == open.Number && l.job.Reporting():
		return ReachModel, valid(*open)
	case id.GetRound() == open.Number:
		return ReachNodes, valid(*open)
	case closed && kind == pb.TaskKind_TASK_KIND_NODE:
		return ReachClosed, valid(rounds.last)
	case closed:
		return ReachClosed, true
	}
	return ReachRounds, id.GetRound() >= 1 && id.GetRound() <= max(rounds.top, open.Number)
}

// reachOfMakers is how far back one of the makers had a part in what the job stands on; some is false where they had
// none.
func (l Lineage) reachOfMakers(mask uint64, plan bool) (reach Reach, some bool) {
	last, open := &l.job.Rounds.last, &l.job.Rounds.Open
	switch {
	case plan:
		return ReachPlan, true
	case open.Inherited&mask != 0 && last.known() && last.Inherited&mask == 0:
		return ReachClosed, true
	case open.Inherited&mask != 0:
		return ReachRounds, true
	case l.job.Reporting() && l.job.Audits.modelMakers&mask != 0:
		return ReachModel, true
	}
	open.EachCommit(func(c Commit) bool {
		some = c.Makers&mask != 0
		return !some
	})
	return ReachNodes, some
}

// makers collects the tasks that made something of a job: an object, or what a task reads.
type makers struct {
	job   *Job
	of    ObjectID
	tasks []*pb.TaskID
}

func (m *makers) is(round uint32, ref Ref) bool {
	return !ref.IsZero() && m.of == ObjectID{round, ref.SHA256}
}

func (m *makers) add(kind pb.TaskKind, round, tree uint32, n protocol.Node) {
	if len(m.tasks) < MaxUncommitTasks {
		m.tasks = append(m.tasks, &pb.TaskID{
			JobId: m.job.ID, Round: round, Kind: kind, Tree: tree, Level: uint32(n.Level), Index: uint32(n.Index),
			Changes: m.job.Counters.Remade.Changes,
		})
	}
}

// round adds the nodes of a round whose partial or carry the object is.
func (m *makers) round(r Round) {
	if m.of.Round != r.Number {
		return
	}
	r.EachCommit(func(c Commit) bool {
		if m.is(r.Number, c.Object) {
			m.add(pb.TaskKind_TASK_KIND_NODE, r.Number, c.Tree, c.Node)
		}
		return true
	})
	m.carries(r.Number, r.carries)
}

// carries adds the nodes whose carry the object is.
func (m *makers) carries(round uint32, carries *iradix.Tree[Carry]) {
	carries.Root().Walk(func(_ []byte, c Carry) bool {
		if m.is(round, c.Object) {
			m.add(pb.TaskKind_TASK_KIND_NODE, round, c.Tree, nodeOver(c.First, c.End))
		}
		return false
	})
}

// nodeOver returns the node that covers exactly the leaves [first, end) of a tree, as a carry's node does. A node's
// name is canonical, so its right half has a leaf, and its level follows from how many leaves it has.
func nodeOver(first, end uint32) protocol.Node {
	level := bits.Len32(end - first - 1)
	return protocol.Node{Level: level, Index: int(first >> level)}
}

// roundBefore adds the tasks that made the state and the carries of the open round.
func (m *makers) roundBefore() {
	last, base := &m.job.Rounds.last, m.job.Rounds.Open.Base
	if base == 0 {
		if !m.job.Audits.planVerified {
			m.add(pb.TaskKind_TASK_KIND_PLAN, 0, 0, protocol.Node{})
		}
		return
	}
	m.add(pb.TaskKind_TASK_KIND_STEP, base, 0, protocol.Node{})
	if last.known() && last.Number == base {
		last.EachCommit(func(c Commit) bool {
			m.add(pb.TaskKind_TASK_KIND_NODE, last.Number, c.Tree, c.Node)
			return true
		})
	}
}
