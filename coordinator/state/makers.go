package state

import (
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// MakersOf are the tasks that made a job object which the open round, or the report, reads: what an Uncommit names
// when the object is lost. There are none for any other object. Equal bytes that one round made are one object, whose
// makers are all of those who made them.
func (j *Job) MakersOf(o ObjectID) []*pb.TaskID {
	m := makers{job: j, of: o}
	if m.is(0, j.Manifest) || m.is(0, j.Plan) || j.Rounds.Open.Base == 0 && m.is(0, j.Rounds.Open.State) {
		m.add(pb.TaskKind_TASK_KIND_PLAN, 0, 0, protocol.Node{})
		return m.tasks
	}
	if m.is(j.Rounds.Open.Number, j.Model) || m.is(j.Rounds.Open.Number, j.Course) {
		m.add(pb.TaskKind_TASK_KIND_STEP, j.Rounds.Open.Number, 0, protocol.Node{})
	}
	if m.is(j.Rounds.Open.Base, j.Rounds.Open.State) {
		m.add(pb.TaskKind_TASK_KIND_STEP, j.Rounds.Open.Base, 0, protocol.Node{})
	}
	for _, r := range j.Rounds.Since() {
		if m.is(r.Number, r.Metrics) {
			m.add(pb.TaskKind_TASK_KIND_STEP, r.Number, 0, protocol.Node{})
		}
	}
	m.round(j.Rounds.Open)
	others := len(m.tasks)
	m.carries(j.Rounds.Open.Base, j.Rounds.Open.Kept)
	if len(m.tasks) > 0 && j.Rounds.last.known() { // the reopened round reads them too; what is kept are its carries
		m.tasks = m.tasks[:others]
		m.round(j.Rounds.last)
	}
	return m.tasks
}

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

// MaxUnreadable bounds the changes with reason UNREADABLE while no new round is opened: a worker may garble several
// nodes of a round. A task that fails of right results fails every time.
const MaxUnreadable = 5

// ReadBy are the tasks that made what a task of the open round, or the report, reads: what an Uncommit names when
// workers cannot make the task of that. They are the nodes below it, and of a report the step; the workers are those
// that committed these nodes, at most three. Where there are none, and the last time, they are the tasks that made the
// round's state and carries. There are no tasks where all that was read is known to be right, or was made again too
// often.
func (j *Job) ReadBy(id *pb.TaskID) (tasks []*pb.TaskID, workers []string) {
	if !j.MayBeUnreadable() || id.GetRound() != j.Rounds.Open.Number || !j.Rounds.Open.known() {
		return nil, nil
	}
	m := makers{job: j}
	if j.Rounds.unreadable == MaxUnreadable-1 && j.Rounds.last.known() {
		m.roundBefore()
		return m.tasks, nil
	}
	below := func(c Commit) bool {
		m.add(pb.TaskKind_TASK_KIND_NODE, j.Rounds.Open.Number, c.Tree, c.Node)
		if c.Worker != "" && len(workers) < 3 && !slices.Contains(workers, c.Worker) {
			workers = append(workers, c.Worker)
		}
		return true
	}
	switch id.GetKind() {
	case pb.TaskKind_TASK_KIND_REPORT:
		m.add(pb.TaskKind_TASK_KIND_STEP, j.Rounds.Open.Number, 0, protocol.Node{})
		j.Rounds.Open.EachCommit(below)
	case pb.TaskKind_TASK_KIND_STEP:
		j.Rounds.Open.EachCommit(below)
	case pb.TaskKind_TASK_KIND_NODE:
		if int(id.GetTree()) >= len(j.Rounds.Open.Trees) || !j.Rounds.Open.Tree(id.GetTree()).Valid(nodeFrom(id)) {
			return nil, nil
		}
		first, end := j.Rounds.Open.Tree(id.GetTree()).Range(nodeFrom(id))
		if j.Rounds.Open.Commits(id.GetTree(), first, end, below); len(m.tasks) == 0 {
			m.roundBefore()
		}
	}
	return m.tasks, workers
}

// roundBefore adds the tasks that made the state and the carries of the open round.
func (m *makers) roundBefore() {
	j := m.job
	if j.Rounds.Open.Base == 0 {
		if !j.Audits.planVerified {
			m.add(pb.TaskKind_TASK_KIND_PLAN, 0, 0, protocol.Node{})
		}
		return
	}
	m.add(pb.TaskKind_TASK_KIND_STEP, j.Rounds.Open.Base, 0, protocol.Node{})
	if j.Rounds.last.known() && j.Rounds.last.Number == j.Rounds.Open.Base {
		j.Rounds.last.EachCommit(func(c Commit) bool {
			m.add(pb.TaskKind_TASK_KIND_NODE, j.Rounds.last.Number, c.Tree, c.Node)
			return true
		})
	}
}

// MayBeUnreadable reports whether what nobody can read may be made again once more. Half of the reopened rounds and of
// the beginnings are left for what the store loses.
func (j *Job) MayBeUnreadable() bool {
	remade := j.Counters.Remade
	return j.Rounds.unreadable < MaxUnreadable && remade.Reopened < MaxReopened/2 && remade.Anew < MaxAnew/2
}
