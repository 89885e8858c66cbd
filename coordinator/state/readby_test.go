package state_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const unreadable = pb.UncommitReason_UNCOMMIT_REASON_UNREADABLE

// readBy names the tasks that made what a task of job a reads.
func readBy(s state.State, c *pb.Completion) (names []string, workers []string) {
	tasks, workers := jobA(s).Lineage().ReadBy(c.GetId())
	for _, id := range tasks {
		names = append(names, fmt.Sprintf("%v %d: %d/%d", id.GetKind(), id.GetRound(), id.GetLevel(), id.GetIndex()))
	}
	return names, workers
}

func TestWhatATaskReads(t *testing.T) {
	fresh, closed := running(t, 5), twoRounds(t)
	pairs := running(t, 5)
	pairs = wantVerdict(t, pairs, node("a", 1, 0, 1, 0, 10), pb.Verdict_VERDICT_ACCEPTED)
	pairs = wantVerdict(t, pairs, node("a", 1, 0, 0, 4, 11), pb.Verdict_VERDICT_ACCEPTED)
	ended := running(t, 1)
	ended = wantVerdict(t, ended, node("a", 1, 0, 0, 0, 10), pb.Verdict_VERDICT_ACCEPTED)
	ended = wantVerdict(t, ended, step("a", 1, &pb.Next{Done: true, State: ref(8)}), pb.Verdict_VERDICT_ACCEPTED)
	before := []string{"TASK_KIND_STEP 1: 0/0", "TASK_KIND_NODE 1: 2/0"}
	pieces := []string{"TASK_KIND_NODE 1: 1/0", "TASK_KIND_NODE 1: 0/4"}
	modelAndRoot := []string{"TASK_KIND_STEP 1: 0/0", "TASK_KIND_NODE 1: 0/0"}
	for name, c := range map[string]struct {
		of    state.State
		task  *pb.Completion
		reads []string
	}{
		"a leaf, of the plan alone":        {fresh, node("a", 1, 0, 0, 0, 0), []string{"TASK_KIND_PLAN 0: 0/0"}},
		"a node, of those below it":        {pairs, node("a", 1, 0, 2, 0, 0), []string{"TASK_KIND_NODE 1: 1/0"}},
		"the root":                         {pairs, node("a", 1, 0, 3, 0, 0), pieces},
		"a leaf, of the round before":      {closed, node("a", 2, 0, 0, 1, 0), before},
		"a leaf of a round that is closed": {closed, node("a", 1, 0, 0, 1, 0), nil},
		"a step":                           {closed, step("a", 2, nil), []string{"TASK_KIND_NODE 2: 0/0"}},
		"a report":                         {ended, reportOf(1), modelAndRoot},
		"a node that no tree has":          {fresh, node("a", 1, 0, 9, 0, 0), nil},
		"a tree that is not there":         {fresh, node("a", 1, 1, 0, 0, 0), nil},
	} {
		if names, _ := readBy(c.of, c.task); !slices.Equal(names, c.reads) {
			t.Errorf("%s: reads what was made by %v, want %v", name, names, c.reads)
		}
	}
}

// Those that committed what a task reads are named, at most three and each once; without names there are none.
func TestWhoMadeWhatATaskReads(t *testing.T) {
	s := running(t, 6)
	for i, worker := range []string{"w1", "", "w2", "w1", "w3", "w4"} {
		leaf := node("a", 1, 0, 0, uint32(i), byte(10+i))
		leaf.Worker = worker
		s = wantVerdict(t, s, leaf, pb.Verdict_VERDICT_ACCEPTED)
	}
	if _, workers := readBy(s, node("a", 1, 0, 1, 0, 0)); !slices.Equal(workers, []string{"w1"}) {
		t.Errorf("of the first two leaves: %q", workers)
	}
	if _, workers := readBy(s, node("a", 1, 0, 3, 0, 0)); !slices.Equal(workers, []string{"w1", "w2", "w3"}) {
		t.Errorf("of all: %q", workers)
	}
}

// Several nodes of a round may turn out to be unreadable in turn. Each has its pieces made again; the last time, what
// the round itself reads is made again. In the first round that is the plan's, which a fold does not read.
func TestManyUnreadableNodesOfARound(t *testing.T) {
	first := running(t, 3)
	for round, s := range map[uint32]state.State{1: first, 2: twoRounds(t)} {
		for time := range state.MaxUnreadable {
			for leaf := range uint32(2) {
				c := now(s, node("a", round, 0, 0, leaf, byte(40+2*time)+byte(leaf)))
				if next, reply := state.Apply(s, completions(c)); reply.Verdicts[0] == accepted {
					s = next
				}
			}
			fold := now(s, node("a", round, 0, 1, 0, 0))
			tasks, _ := jobA(s).Lineage().ReadBy(fold.GetId())
			reach, ok := jobA(s).Lineage().Reach(tasks)
			want := state.ReachNodes
			if round == 2 && time == state.MaxUnreadable-1 {
				want = state.ReachClosed
			}
			if !ok || reach != want {
				t.Fatalf("round %d, time %d: takes back reach %v of %v, want %v", round, time+1, reach, tasks, want)
			}
			s, _ = run(t, s, uncommitted(s, unreadable, tasks))
		}
	}
}

// uncommitted takes back tasks of job a.
func uncommitted(s state.State, reason pb.UncommitReason, tasks []*pb.TaskID) *pb.Command {
	job := jobA(s)
	return &pb.Command{NowUnixMs: 1003, Body: &pb.Command_Uncommit{Uncommit: &pb.Uncommit{
		JobId: "a", Round: job.Rounds.Open.Number, Changes: job.Counters.Remade.Changes,
		Tasks: tasks, Reason: reason, Message: "an object",
	}}}
}

// A plan that was lost, or could not be read, may come out as it was: what it made is not garbage in between.
func TestAForgottenPlanIsNoGarbage(t *testing.T) {
	for name, reason := range map[string]pb.UncommitReason{"lost": lost, "unreadable": unreadable} {
		s := twoRounds(t)
		for r := uint32(2); r <= 3; r++ {
			s = wantVerdict(t, s, node("a", r, 0, 2, 0, 20+byte(r)), accepted)
			next := &pb.Next{Phase: "count", Trees: []uint32{3}, State: ref(30 + byte(r))}
			s = wantVerdict(t, s, step("a", r, next), accepted)
		}
		s, _ = run(t, s, takeBack(s, reason, planTask()))
		plan := state.ObjectID{Round: 0, SHA256: [32]byte(ref(2).Sha256)}
		if jobA(s).Garbage(1 << 40).Has(plan) {
			t.Errorf("%s: the plan's object is garbage", name)
		}
		s = wantVerdict(t, s, after(1, planned("a", 3)), accepted)
		needed := false
		jobA(s).EachReference(func(o state.ObjectID) { needed = needed || o == plan })
		if !needed {
			t.Errorf("%s: the plan's object is not referred to", name)
		}
	}
}

// What could not be read does not use up what losses are allowed.
func TestUnreadableWorkLeavesRoomForLosses(t *testing.T) {
	s := running(t, 3)
	for time := uint64(1); jobA(s).MayBeUnreadable(); time++ {
		s, _ = run(t, s, takeBack(s, unreadable, planTask()))
		s = wantVerdict(t, s, after(time, planned("a", 3)), accepted)
	}
	s, _ = run(t, s, takeBack(s, lost, planTask()))
	if f := jobA(s).Failure; f != nil {
		t.Errorf("after one loss: %s: %s", f.Code, f.Message)
	}
}

func reportOf(round uint32) *pb.Completion {
	c := report("a")
	c.Id.Round = round
	return c
}

// What cannot be read is made again and may come out otherwise, the plan too; and three times in a round, which a
// snapshot does not forget.
func TestUnreadableWorkIsMadeAgain(t *testing.T) {
	s := running(t, 1)
	for time := range state.MaxUnreadable {
		s = wantVerdict(t, s, after(uint64(time), node("a", 1, 0, 0, 0, byte(20+time))), pb.Verdict_VERDICT_ACCEPTED)
		s, _ = run(t, s, takeBack(s, unreadable, node("a", 1, 0, 0, 0, 0)))
		if job := jobA(s); job.Rounds.Open.Covered != 0 || job.Ended() {
			t.Fatalf("time %d: %d leaves, ended %v", time+1, job.Rounds.Open.Covered, job.Ended())
		}
		s = reread(t, s)
	}
	s = wantVerdict(t, s, after(state.MaxUnreadable, node("a", 1, 0, 0, 0, 30)), pb.Verdict_VERDICT_ACCEPTED)
	refused(t, s, takeBack(s, unreadable, node("a", 1, 0, 0, 0, 0)), state.Conflict, "too often")
	if names, _ := readBy(s, step("a", 1, nil)); len(names) != 0 {
		t.Errorf("%v is to be made again once more", names)
	}
	next := &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(7)}
	s = wantVerdict(t, s, after(state.MaxUnreadable, step("a", 1, next)), pb.Verdict_VERDICT_ACCEPTED)
	if names, _ := readBy(s, node("a", 2, 0, 0, 0, 0)); len(names) != 2 {
		t.Errorf("in a new round %v is to be made again", names)
	}
}

func TestAnUnreadablePlanIsMadeAgain(t *testing.T) {
	s := running(t, 3)
	s, _ = run(t, s, takeBack(s, unreadable, planTask()))
	if job := jobA(s); job.Stage != pb.JobState_JOB_STATE_PLANNING || job.Ended() {
		t.Fatalf("stage %v", job.Stage)
	}
	otherwise := after(1, planned("a", 4))
	otherwise.Output.Plan = ref(77)
	s = wantVerdict(t, s, otherwise, pb.Verdict_VERDICT_ACCEPTED)
	if job := jobA(s); job.Ended() || job.Rounds.Open.Leaves() != 4 {
		t.Errorf("ended %v, %d leaves", job.Ended(), job.Rounds.Open.Leaves())
	}
}
