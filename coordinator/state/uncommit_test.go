package state_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	lost = pb.UncommitReason_UNCOMMIT_REASON_LOST
	lied = pb.UncommitReason_UNCOMMIT_REASON_LIED
)

// takeBack names tasks of job a, as it is.
func takeBack(s state.State, reason pb.UncommitReason, tasks ...*pb.Completion) *pb.Command {
	job, _ := s.Job("a")
	cmd := &pb.Uncommit{JobId: "a", Round: job.Rounds.Open.Number, Changes: job.Counters.Remade.Changes, Reason: reason,
		Message: "an object"}
	for _, c := range tasks {
		cmd.Tasks = append(cmd.Tasks, c.GetId())
	}
	return &pb.Command{NowUnixMs: 1003, Body: &pb.Command_Uncommit{Uncommit: cmd}}
}

// after is a completion of a task that was leased when the job had been changed so often.
func after(changes uint64, c *pb.Completion) *pb.Completion {
	c.Id.Changes = changes
	return c
}

func jobA(s state.State) *state.Job {
	job, _ := s.Job("a")
	return job
}

func planTask() *pb.Completion { return planned("a", 3) }

// twoRounds has closed round 1 with state 7 and committed leaf 0 of round 2.
func twoRounds(t *testing.T) state.State {
	t.Helper()
	s := running(t, 3)
	root := node("a", 1, 0, 2, 0, 12)
	root.Output.Carry = ref(13)
	s = wantVerdict(t, s, root, pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{3}, State: ref(7)}),
		pb.Verdict_VERDICT_ACCEPTED)
	return wantVerdict(t, s, node("a", 2, 0, 0, 0, 20), pb.Verdict_VERDICT_ACCEPTED)
}

// Leaves 0..4; leaf 1 is lost, which is part of node (1,0) by now.
func TestUncommitNodes(t *testing.T) {
	s := running(t, 5)
	pair := node("a", 1, 0, 1, 0, 10)
	pair.Output.Carry = ref(11)
	s = wantVerdict(t, s, pair, pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 2, 12), pb.Verdict_VERDICT_ACCEPTED)
	cmd := takeBack(s, lost, node("a", 1, 0, 0, 1, 0))
	s, _ = run(t, s, cmd)
	job := jobA(s)
	if job.Rounds.Open.Number != 1 || job.Rounds.Open.Covered != 1 ||
		job.Counters.Remade != (state.Remade{Changes: 1, Tasks: 1, Last: "an object"}) {
		t.Fatalf("round %d, %d covered, %+v", job.Rounds.Open.Number, job.Rounds.Open.Covered, job.Counters.Remade)
	}
	job.EachReference(func(o state.ObjectID) {
		if o.SHA256[31] == 10 || o.SHA256[31] == 11 {
			t.Errorf("object %d is still referred to", o.SHA256[31])
		}
	})
	refused(t, s, cmd, state.Conflict, "as the proposer saw it")
	s = wantVerdict(t, s, node("a", 1, 0, 2, 0, 14), pb.Verdict_VERDICT_STALE) // a merge that had read the lost one
	s = wantVerdict(t, s, after(1, node("a", 1, 0, 0, 1, 15)), pb.Verdict_VERDICT_ACCEPTED)
	if got := jobA(s).Rounds.Open.Covered; got != 2 {
		t.Errorf("%d leaves covered", got)
	}
}

// The state of round 1 is lost while round 2 is open: the step is made again from the root, and must make the same
// state.
func TestUncommitReopensTheLastClosedRound(t *testing.T) {
	s, _ := run(t, twoRounds(t), takeBack(twoRounds(t), lost, step("a", 1, nil)))
	job := jobA(s)
	open, records := job.Rounds.Open, len(job.Rounds.Finished)
	if open.Number != 1 || !open.Complete() || open.State.SHA256[31] != 3 || records != 0 ||
		job.Counters.Remade.Reopened != 1 {
		t.Fatalf("round %d, complete %v, %d records, %+v", open.Number, open.Complete(), records, job.Counters.Remade)
	}
	next := func(digest byte) *pb.Completion {
		return after(1, step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{3}, State: ref(digest)}))
	}
	wantVerdict(t, s, next(8), pb.Verdict_VERDICT_VIOLATION)
	s = wantVerdict(t, s, next(7), pb.Verdict_VERDICT_ACCEPTED)
	if open := jobA(s).Rounds.Open; open.Number != 2 || open.Covered != 0 || len(open.CarriesIn(0, 0, 3)) != 1 {
		t.Errorf("round %d, %d covered", open.Number, open.Covered)
	}
	s = wantVerdict(t, s, node("a", 2, 0, 0, 0, 20), pb.Verdict_VERDICT_STALE) // leased before
	wantVerdict(t, s, after(1, node("a", 2, 0, 0, 0, 20)), pb.Verdict_VERDICT_ACCEPTED)
}

// A carry of round 1 is lost, or a worker lied there: its nodes are made again, and after a lie the state may come
// out otherwise.
func TestUncommitNodesOfTheLastClosedRound(t *testing.T) {
	for reason, want := range map[pb.UncommitReason]pb.Verdict{lost: pb.Verdict_VERDICT_VIOLATION,
		lied: pb.Verdict_VERDICT_ACCEPTED} {
		s := twoRounds(t)
		s, _ = run(t, s, takeBack(s, reason, node("a", 1, 0, 0, 1, 0)))
		if job := jobA(s); job.Rounds.Open.Number != 1 || job.Rounds.Open.Covered != 0 {
			t.Fatalf("round %d, %d covered", job.Rounds.Open.Number, job.Rounds.Open.Covered)
		}
		s = wantVerdict(t, s, after(1, node("a", 1, 0, 2, 0, 30)), pb.Verdict_VERDICT_ACCEPTED)
		wantVerdict(t, s, after(1, step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{3}, State: ref(8)})), want)
	}
}

// A state was lost, and then it comes out that a worker had lied in its round: the state need not come out as it was.
func TestALieEndsWhatALossExpects(t *testing.T) {
	s := twoRounds(t)
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	s, _ = run(t, s, takeBack(s, lied, node("a", 1, 0, 2, 0, 0)))
	s = wantVerdict(t, s, after(2, node("a", 1, 0, 2, 0, 31)), pb.Verdict_VERDICT_ACCEPTED)
	wantVerdict(t, s, after(2, step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{3}, State: ref(8)})),
		pb.Verdict_VERDICT_ACCEPTED)
}

// The model is lost before the report was written.
func TestUncommitTheModel(t *testing.T) {
	s := running(t, 1)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 10), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, step("a", 1, &pb.Next{Done: true, State: ref(8), Course: ref(9)}),
		pb.Verdict_VERDICT_ACCEPTED)
	model := state.ObjectID{Round: 1, SHA256: [32]byte(ref(8).Sha256)}
	if tasks := jobA(s).Lineage().MakersOf(model); len(tasks) != 1 || tasks[0].Kind != pb.TaskKind_TASK_KIND_STEP {
		t.Fatalf("the model was made by %v", tasks)
	}
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	if job := jobA(s); job.Reporting() || !job.Rounds.Open.Complete() || len(job.Rounds.Finished) != 0 {
		t.Fatalf("reporting %v, complete %v", job.Reporting(), job.Rounds.Open.Complete())
	}
	s = wantVerdict(t, s, report("a"), pb.Verdict_VERDICT_STALE)
	wantVerdict(t, s, after(1, step("a", 1, &pb.Next{Done: true, State: ref(99)})), pb.Verdict_VERDICT_VIOLATION)
	s = wantVerdict(t, s, after(1, step("a", 1, &pb.Next{Done: true, State: ref(8)})), pb.Verdict_VERDICT_ACCEPTED)
	wantVerdict(t, s, after(1, report("a")), pb.Verdict_VERDICT_ACCEPTED)
}

// What the last closed round was made from is gone too: the rounds begin anew, under numbers that none had, so that
// nothing a sweep may be deleting is needed again.
func TestUncommitBeginsTheRoundsAnew(t *testing.T) {
	s := twoRounds(t)
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	s, _ = run(t, s, takeBack(s, lied, node("a", 2, 0, 0, 0, 0))) // a round above the open one, that was open before
	job := jobA(s)
	open := job.Rounds.Open
	if open.Number != 3 || open.Base != 0 || open.State.SHA256[31] != 3 || open.Covered != 0 ||
		job.Counters.Remade.Anew != 1 || job.Rounds.Since() != nil {
		t.Fatalf("round %d from round %d, %+v", open.Number, open.Base, job.Counters.Remade)
	}
	garbage := job.Garbage(1003)
	for round, digest := range map[uint32]byte{1: 12, 2: 20} {
		if !garbage.Has(state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)}) {
			t.Errorf("object %d of round %d is no garbage", digest, round)
		}
	}
	if garbage.Has(state.ObjectID{SHA256: [32]byte(ref(3).Sha256)}) {
		t.Error("the first state is garbage")
	}
	wantVerdict(t, s, after(2, step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{3}, State: ref(99)})),
		pb.Verdict_VERDICT_STALE)
	wantVerdict(t, s, after(2, node("a", 3, 0, 2, 0, 12)), pb.Verdict_VERDICT_ACCEPTED)
}

func TestUncommitThePlan(t *testing.T) {
	s := twoRounds(t)
	s, _ = run(t, s, takeBack(s, lost, planTask()))
	if job := jobA(s); job.Stage != pb.JobState_JOB_STATE_PLANNING {
		t.Fatalf("stage %v", job.Stage)
	}
	other := after(1, planTask())
	other.Output.Plan = ref(77)
	changed := wantVerdict(t, s, other, pb.Verdict_VERDICT_VIOLATION)
	if f := jobA(changed).Failure; f == nil || f.Code != string(protocol.CodeInputChanged) {
		t.Errorf("another plan: %+v", f)
	}
	s = wantVerdict(t, s, after(1, planTask()), pb.Verdict_VERDICT_ACCEPTED)
	if job := jobA(s); job.Rounds.Open.Number != 3 || job.Rounds.Open.Base != 0 {
		t.Errorf("round %d", job.Rounds.Open.Number)
	}
}

// A store that loses whatever is put there ends the job with a text that says so.
func TestObjectsThatKeepVanishingFailTheJob(t *testing.T) {
	for name, change := range map[string]struct {
		s     state.State
		task  *pb.Completion
		again func(state.State, uint64) state.State
		after int
	}{
		"a node": {running(t, 1), node("a", 1, 0, 0, 0, 1), func(s state.State, _ uint64) state.State { return s },
			state.MaxLostInRound},
		"a plan": {running(t, 3), planTask(), func(s state.State, n uint64) state.State {
			s, _ = run(t, s, completions(after(n, planTask())))
			return s
		}, state.MaxAnew},
		"the model": {modelOf(t), step("a", 1, nil), func(s state.State, n uint64) state.State {
			s, _ = run(t, s, completions(after(n, finalStep())))
			return s
		}, state.MaxReopened},
	} {
		s := change.s
		for n := range change.after {
			s, _ = run(t, s, takeBack(s, lost, change.task))
			if job := jobA(s); job.Ended() {
				t.Fatalf("%s: ended after %d times: %v", name, n+1, job.Failure)
			}
			s = change.again(s, uint64(n)+1)
		}
		s, _ = run(t, s, takeBack(s, lost, change.task))
		if f := jobA(s).Failure; f == nil || f.Code != string(protocol.CodeLost) ||
			!strings.Contains(f.Message, "keep vanishing") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func finalStep() *pb.Completion { return step("a", 1, &pb.Next{Done: true, State: ref(8)}) }

func modelOf(t *testing.T) state.State {
	t.Helper()
	s := wantVerdict(t, running(t, 1), node("a", 1, 0, 0, 0, 10), pb.Verdict_VERDICT_ACCEPTED)
	return wantVerdict(t, s, finalStep(), pb.Verdict_VERDICT_ACCEPTED)
}

func TestUncommitIsRefused(t *testing.T) {
	s := twoRounds(t)
	change := func(edit func(*pb.Uncommit)) *pb.Command {
		cmd := takeBack(s, lost, node("a", 2, 0, 0, 0, 0))
		edit(cmd.GetUncommit())
		return cmd
	}
	refused(t, s, change(func(c *pb.Uncommit) { c.JobId = "b" }), state.NotFound, "no job")
	refused(t, s, change(func(c *pb.Uncommit) { c.Round = 1 }), state.Conflict, "")
	refused(t, s, change(func(c *pb.Uncommit) { c.Changes = 5 }), state.Conflict, "")
	refused(t, s, change(func(c *pb.Uncommit) { c.Tasks = nil }), state.Malformed, "")
	refused(t, s, change(func(c *pb.Uncommit) { c.Reason = 7 }), state.Malformed, "reason")
	refused(t, s, change(func(c *pb.Uncommit) { c.Tasks = make([]*pb.TaskID, state.MaxUncommitTasks+1) }),
		state.Malformed, "")
	for _, odd := range []*pb.Completion{node("b", 2, 0, 0, 0, 0), node("a", 2, 1, 0, 0, 0), node("a", 2, 0, 9, 0, 0),
		node("a", 3, 0, 0, 0, 0), step("a", 2, nil), report("a")} {
		refused(t, s, takeBack(s, lost, odd), state.Malformed, "committed nothing")
	}
	refused(t, finished(t, state.New(), "a"), takeBack(finished(t, state.New(), "a"), lost, finalStep()), state.Ended,
		"has ended")
}
