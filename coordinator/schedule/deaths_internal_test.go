package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/protocol"
)

// suspicions are of nodes of a tree of eight leaves, with the number of workers lost on each, all of them alone.
func suspicions(t *testing.T, merge bool, lost map[protocol.Node]int) *jobBoard {
	t.Helper()
	j := newJobBoard(jobOfTrees(t, 8))
	for n, count := range lost {
		task := nodeTask(0, n.Level, n.Index)
		at, _ := j.find(task)
		s := &suspect{key: string(taskKey(task)), task: task, losses: make([]loss, count)}
		for i := range s.losses {
			s.losses[i].alone, s.losses[i].merge = true, merge
		}
		j.suspects = slices.Insert(j.suspects, at, s)
	}
	return j
}

// Four workers convict a leaf, or a merge; half of them may have had a node above it. A node that may come in halves is
// not convicted.
func TestWhatFourDeathsConvict(t *testing.T) {
	leaf, above := protocol.Node{Index: 2}, protocol.Node{Level: 1, Index: 1}
	for _, c := range []struct {
		lost  map[protocol.Node]int
		merge bool
		n     protocol.Node
		want  int
	}{
		{map[protocol.Node]int{leaf: 4}, false, leaf, 4},
		{map[protocol.Node]int{leaf: 3}, false, leaf, 0},
		{map[protocol.Node]int{leaf: 2, above: 2}, false, leaf, 4},
		{map[protocol.Node]int{leaf: 1, above: 3}, false, leaf, 0},
		{map[protocol.Node]int{above: 4}, false, above, 0},
		{map[protocol.Node]int{above: 4}, true, above, 4},
		{map[protocol.Node]int{above: 3}, true, above, 0},
	} {
		j := suspicions(t, c.merge, c.lost)
		at, _ := j.find(nodeTask(0, c.n.Level, c.n.Index))
		if got := j.convicted(j.suspects[at], 4); got != c.want {
			t.Errorf("%v, a merge: %v: %d workers convict %v, want %d", c.lost, c.merge, got, c.n, c.want)
		}
	}
}

// What one verdict waits for is no matter of another's, and the earliest is looked at first.
func TestVerdictsWaitByThemselves(t *testing.T) {
	b := boardOf("early", "late")
	b.Roster.list[0].LastSeen, b.Roster.list[1].LastSeen = time.Second, 2*time.Second
	of := func(worker string) *suspect { return &suspect{losses: []loss{{worker: worker}}} }
	now := 3 * time.Second
	if b.Deaths.silent(of("late"), now) || b.Deaths.silent(of("early"), now) || b.Deaths.silent(of("late"), now) {
		t.Error("a worker that was heard of is silent")
	}
	if !b.Deaths.silent(of("gone"), now) {
		t.Error("the verdict on one task waits for the workers of another")
	}
	if want := time.Second + b.cfg.LeaseTTL; b.Deaths.verdict != want {
		t.Errorf("looked at again at %v, want %v", b.Deaths.verdict, want)
	}
}
