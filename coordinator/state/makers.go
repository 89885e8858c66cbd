package state

import (
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// MakersOf are the tasks that made a job object which the open round, or the report, reads: what an Uncommit names
// when the object is lost. There are none for any other object. Equal bytes that one round made are one object, whose
// makers are all of those who made them.
func (j *Job) MakersOf(o ObjectID) []*pb.TaskID {
	m := makers{job: j, of: o}
	if m.is(0, j.Manifest) || m.is(0, j.Plan) || j.Round.Base == 0 && m.is(0, j.Round.State) {
		m.add(pb.TaskKind_TASK_KIND_PLAN, 0, 0, protocol.Node{})
		return m.tasks
	}
	if m.is(j.Round.Number, j.Model) || m.is(j.Round.Number, j.Course) {
		m.add(pb.TaskKind_TASK_KIND_STEP, j.Round.Number, 0, protocol.Node{})
	}
	if m.is(j.Round.Base, j.Round.State) {
		m.add(pb.TaskKind_TASK_KIND_STEP, j.Round.Base, 0, protocol.Node{})
	}
	for _, r := range j.RoundsSince() {
		if m.is(r.Number, r.Metrics) {
			m.add(pb.TaskKind_TASK_KIND_STEP, r.Number, 0, protocol.Node{})
		}
	}
	m.round(j.Round)
	others := len(m.tasks)
	m.carries(j.Round.Base, j.Round.Kept)
	if len(m.tasks) > 0 && j.last.known() { // the reopened round reads them too; what is kept are its carries
		m.tasks = m.tasks[:others]
		m.round(j.last)
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
