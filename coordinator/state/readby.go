package state

import (
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// MaxUnreadable bounds the changes with reason UNREADABLE while no new round is opened: a worker may garble several
// nodes of a round. A task that fails of right results fails every time.
const MaxUnreadable = 5

// ReadBy are the tasks that made what a task of the open round, or the report, reads: what an Uncommit names when
// workers cannot make the task of that. They are the nodes below it, and of a report the step; the workers are those
// that committed these nodes, at most three. Where there are none, and the last time, they are the tasks that made the
// round's state and carries. There are no tasks where all that was read is known to be right, or was made again too
// often.
func (j *Job) ReadBy(id *pb.TaskID) (tasks []*pb.TaskID, workers []string) {
	if !j.MayBeUnreadable() || id.GetRound() != j.Round.Number || !j.Round.known() {
		return nil, nil
	}
	m := makers{job: j}
	if j.unreadable == MaxUnreadable-1 && j.last.known() {
		m.roundBefore()
		return m.tasks, nil
	}
	below := func(c Commit) bool {
		m.add(pb.TaskKind_TASK_KIND_NODE, j.Round.Number, c.Tree, c.Node)
		if c.Worker != "" && len(workers) < 3 && !slices.Contains(workers, c.Worker) {
			workers = append(workers, c.Worker)
		}
		return true
	}
	switch id.GetKind() {
	case pb.TaskKind_TASK_KIND_REPORT:
		m.add(pb.TaskKind_TASK_KIND_STEP, j.Round.Number, 0, protocol.Node{})
		j.Round.EachCommit(below)
	case pb.TaskKind_TASK_KIND_STEP:
		j.Round.EachCommit(below)
	case pb.TaskKind_TASK_KIND_NODE:
		if int(id.GetTree()) >= len(j.Round.Trees) || !j.Round.Tree(id.GetTree()).Valid(nodeFrom(id)) {
			return nil, nil
		}
		first, end := j.Round.Tree(id.GetTree()).Range(nodeFrom(id))
		if j.Round.Commits(id.GetTree(), first, end, below); len(m.tasks) == 0 {
			m.roundBefore()
		}
	}
	return m.tasks, workers
}

// roundBefore adds the tasks that made the state and the carries of the open round.
func (m *makers) roundBefore() {
	j := m.job
	if j.Round.Base == 0 {
		if !j.planVerified {
			m.add(pb.TaskKind_TASK_KIND_PLAN, 0, 0, protocol.Node{})
		}
		return
	}
	m.add(pb.TaskKind_TASK_KIND_STEP, j.Round.Base, 0, protocol.Node{})
	if j.last.known() && j.last.Number == j.Round.Base {
		j.last.EachCommit(func(c Commit) bool {
			m.add(pb.TaskKind_TASK_KIND_NODE, j.last.Number, c.Tree, c.Node)
			return true
		})
	}
}

// MayBeUnreadable reports whether what nobody can read may be made again once more. Half of the reopened rounds and of
// the beginnings are left for what the store loses.
func (j *Job) MayBeUnreadable() bool {
	remade := j.Counters.Remade
	return j.unreadable < MaxUnreadable && remade.Reopened < MaxReopened/2 && remade.Anew < MaxAnew/2
}
