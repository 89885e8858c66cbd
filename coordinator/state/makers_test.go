package state_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// named are the nodes that a leader names when an object of job a is lost, as "round/tree/level/index".
func named(s state.State, round uint32, digest byte) (nodes []string) {
	for _, id := range jobA(s).Lineage().MakersOf(state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)}) {
		if id.GetKind() != pb.TaskKind_TASK_KIND_NODE {
			nodes = append(nodes, id.GetKind().String())
			continue
		}
		nodes = append(nodes, fmt.Sprint(id.GetRound(), "/", id.GetTree(), "/", id.GetLevel(), "/", id.GetIndex()))
	}
	return nodes
}

// Five leaves are folded as ((0 1)(2 3))4. Round 2 reads what round 1 kept of each node.
func TestACarryNamesItsNode(t *testing.T) {
	for name, nodes := range map[string][][2]uint32{
		"leaves":        {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}},
		"pairs":         {{1, 0}, {1, 1}, {0, 4}},
		"four and one":  {{2, 0}, {0, 4}},
		"all":           {{3, 0}},
		"of both kinds": {{0, 0}, {0, 1}, {1, 1}, {0, 4}},
	} {
		s := running(t, 5)
		for i, n := range nodes {
			c := node("a", 1, 0, n[0], n[1], 10)
			c.Output.Carry = ref(byte(100 + i))
			s = wantVerdict(t, s, c, accepted)
		}
		if !jobA(s).Rounds.Open.Complete() { // then all is there, and the root has no carry of its own
			s = wantVerdict(t, s, node("a", 1, 0, 3, 0, 12), accepted)
		}
		s = wantVerdict(t, s, step("a", 1, count(7, 5)), accepted)
		for i, n := range nodes {
			want := fmt.Sprint([]string{fmt.Sprint("1/0/", n[0], "/", n[1])})
			if got := named(s, 1, byte(100+i)); fmt.Sprint(got) != want {
				t.Errorf("%s: a lost carry names %v, want %s alone", name, got, want)
			}
		}
	}
}

// Round 2 is open: it reads the state and the carry of round 1, and its own partial. Nobody reads the root of round
// 1 as long as neither is lost.
func TestOnlyWhatIsReadHasMakers(t *testing.T) {
	if got := fmt.Sprint(named(running(t, 3), 0, 3)); got != "[TASK_KIND_PLAN]" {
		t.Errorf("the first state is made by %s", got)
	}
	s := twoRounds(t)
	for _, c := range []struct {
		round  uint32
		digest byte
		want   string
	}{
		{0, 1, "[TASK_KIND_PLAN]"}, {0, 2, "[TASK_KIND_PLAN]"}, {1, 7, "[TASK_KIND_STEP]"},
		{1, 13, "[1/0/2/0]"}, {2, 20, "[2/0/0/0]"},
		{1, 12, "[]"}, {2, 7, "[]"}, {1, 20, "[]"}, {0, 3, "[]"},
	} {
		if got := fmt.Sprint(named(s, c.round, c.digest)); got != c.want {
			t.Errorf("object %d of round %d is made by %s, want %s", c.digest, c.round, got, c.want)
		}
	}
}

// Leaves that all come out as the same bytes are one object: when it is lost no more tasks are named than one
// command may take back, and the next one names others.
func TestTheMakersOfOneObjectAreBounded(t *testing.T) {
	const leaves = state.MaxUncommitTasks + 1
	s := running(t, leaves)
	var same []*pb.Completion
	for leaf := range uint32(leaves) {
		same = append(same, node("a", 1, 0, 0, leaf, 10))
	}
	s, _ = run(t, s, completions(same...))
	for _, want := range []int{state.MaxUncommitTasks, 1} {
		tasks := jobA(s).Lineage().MakersOf(state.ObjectID{Round: 1, SHA256: [32]byte(ref(10).Sha256)})
		if len(tasks) != want {
			t.Fatalf("%d tasks are named, want %d", len(tasks), want)
		}
		cmd := takeBack(s, lost)
		cmd.GetUncommit().Tasks = tasks
		s, _ = run(t, s, cmd)
	}
	if job := jobA(s); job.Rounds.Open.Covered != 0 || job.Counters.Remade.Tasks != leaves {
		t.Errorf("%d leaves are committed, %d tasks were taken back", job.Rounds.Open.Covered,
			job.Counters.Remade.Tasks)
	}
}
