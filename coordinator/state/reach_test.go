package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Round 4 is open, of trees of 3 and 1 leaves as those before it. How far a lost object takes the job back is told
// by who made it.
func TestReach(t *testing.T) {
	s := running(t, 3, 1)
	for round := uint32(1); round <= 3; round++ {
		s = wantVerdict(t, s, node("a", round, 0, 2, 0, 10), accepted)
		s = wantVerdict(t, s, node("a", round, 1, 0, 0, 11), accepted)
		s = wantVerdict(t, s, step("a", round, count(7, 3, 1)), accepted)
	}
	leaf := node("a", 4, 0, 0, 0, 0)
	const nowhere = state.Reach(-1)
	for _, c := range []struct {
		name  string
		tasks []*pb.Completion
		want  state.Reach
	}{
		{"no task", nil, nowhere},
		{"the plan", []*pb.Completion{planTask()}, state.ReachPlan},
		{"a report", []*pb.Completion{report("a")}, nowhere},
		{"a node of the open round", []*pb.Completion{node("a", 4, 0, 0, 2, 0)}, state.ReachNodes},
		{"a node of its last tree", []*pb.Completion{node("a", 4, 1, 0, 0, 0)}, state.ReachNodes},
		{"of a tree beyond", []*pb.Completion{node("a", 4, 2, 0, 0, 0)}, nowhere},
		{"of a leaf beyond", []*pb.Completion{node("a", 4, 0, 0, 3, 0)}, nowhere},
		{"the step of the open round", []*pb.Completion{step("a", 4, nil)}, nowhere},
		{"the last closed round's step", []*pb.Completion{step("a", 3, nil)}, state.ReachClosed},
		{"a node of it", []*pb.Completion{node("a", 3, 0, 2, 0, 0)}, state.ReachClosed},
		{"a leaf that it has not", []*pb.Completion{node("a", 3, 0, 0, 3, 0)}, nowhere},
		{"an older round's step", []*pb.Completion{step("a", 2, nil)}, state.ReachRounds},
		{"a node of the first round", []*pb.Completion{node("a", 1, 0, 2, 0, 0)}, state.ReachRounds},
		{"the first round's step", []*pb.Completion{step("a", 1, nil)}, state.ReachRounds},
		{"a round before the first", []*pb.Completion{step("a", 0, nil)}, nowhere},
		{"a round that never was", []*pb.Completion{step("a", 5, nil)}, nowhere},
		{"another job's node", []*pb.Completion{node("b", 4, 0, 0, 0, 0)}, nowhere},
		{"the farthest of several", []*pb.Completion{leaf, step("a", 3, nil), leaf}, state.ReachClosed},
		{"one that made nothing among others", []*pb.Completion{step("a", 3, nil), step("a", 5, nil)}, nowhere},
	} {
		var tasks []*pb.TaskID
		for _, one := range c.tasks {
			tasks = append(tasks, one.GetId())
		}
		if got, ok := jobA(s).Lineage().Reach(tasks); ok != (c.want != nowhere) || ok && got != c.want {
			t.Errorf("%s: reaches %d, %v; want %d", c.name, got, ok, c.want)
		}
	}
}

// While the report is due the open round's results are in the model: taking one of them back takes the model back.
func TestReachOfAFinishedModel(t *testing.T) {
	s := modelOf(t)
	for name, c := range map[string]struct {
		task *pb.Completion
		ok   bool
	}{
		"its step": {step("a", 1, nil), true}, "its leaf": {node("a", 1, 0, 0, 0, 0), true},
		"a leaf beyond": {node("a", 1, 0, 0, 1, 0), false},
	} {
		got, ok := jobA(s).Lineage().Reach([]*pb.TaskID{c.task.GetId()})
		if ok != c.ok || ok && got != state.ReachModel {
			t.Errorf("%s: reaches %d, %v", name, got, ok)
		}
	}
}
