package state_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func ref(b byte) *pb.ObjectRef {
	return &pb.ObjectRef{Sha256: append(make([]byte, 31), b), Size: int64(b)}
}

func submit(id, hash string) *pb.Command {
	return &pb.Command{NowUnixMs: 1000,
		Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, Kind: "K", SpecHash: hash}}}
}

func start(id string) *pb.Command {
	return &pb.Command{NowUnixMs: 1001, Body: &pb.Command_Start{Start: &pb.StartJob{Id: id}}}
}

func completions(list ...*pb.Completion) *pb.Command {
	return &pb.Command{NowUnixMs: 1002, Body: &pb.Command_Complete{Complete: &pb.CompleteTasks{Completions: list}}}
}

func planned(job string, trees ...uint32) *pb.Completion {
	return &pb.Completion{
		Id: &pb.TaskID{JobId: job, Kind: pb.TaskKind_TASK_KIND_PLAN},
		Output: &pb.TaskOutput{Manifest: ref(1), Plan: ref(2),
			Next: &pb.Next{Phase: "count", Trees: trees, State: ref(3)}},
		Worker: "w1", Kernels: "generic",
	}
}

func node(job string, round, tree, level, index uint32, digest byte) *pb.Completion {
	return &pb.Completion{
		Id: &pb.TaskID{JobId: job, Round: round, Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Level: level,
			Index: index},
		Output: &pb.TaskOutput{Object: ref(digest)}, Worker: "w1",
	}
}

func step(job string, round uint32, next *pb.Next) *pb.Completion {
	return &pb.Completion{
		Id:     &pb.TaskID{JobId: job, Round: round, Kind: pb.TaskKind_TASK_KIND_STEP},
		Output: &pb.TaskOutput{Next: next}, Worker: "w2",
	}
}

func report(job string) *pb.Completion {
	return &pb.Completion{
		Id: &pb.TaskID{JobId: job, Kind: pb.TaskKind_TASK_KIND_REPORT},
		Output: &pb.TaskOutput{Files: []*pb.OutputFile{{Name: "model.safetensors", Uri: "mem://x",
			Sha256: ref(9).Sha256, Size: 9}}},
	}
}

// run applies commands and fails the test on a refusal.
func run(t *testing.T, s state.State, commands ...*pb.Command) (state.State, state.Reply) {
	t.Helper()
	var reply state.Reply
	for i, cmd := range commands {
		if s, reply = state.Apply(s, cmd); reply.Err != nil {
			t.Fatalf("command %d (%v): %v", i, cmd, reply.Err)
		}
	}
	return s, reply
}

func running(t *testing.T, trees ...uint32) state.State {
	t.Helper()
	s, _ := run(t, state.New(), submit("a", "h"), start("a"), completions(planned("a", trees...)))
	return s
}

func wantVerdict(t *testing.T, s state.State, c *pb.Completion, want pb.Verdict) state.State {
	t.Helper()
	next, reply := state.Apply(s, completions(c))
	if got := reply.Verdicts[0]; got != want {
		t.Fatalf("%v: verdict %v, want %v", c.Id, got, want)
	}
	return next
}

func TestJobFromSubmitToSuccess(t *testing.T) {
	s := running(t, 3)
	s = wantVerdict(t, s, node("a", 1, 0, 1, 0, 10), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, step("a", 1, &pb.Next{Done: true, State: ref(7)}), pb.Verdict_VERDICT_STALE)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 2, 11), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 2, 0, 12), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, step("a", 1, &pb.Next{Phase: "more", Trees: []uint32{1, 1}, State: ref(7)}),
		pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 13), pb.Verdict_VERDICT_STALE)
	s = wantVerdict(t, s, node("a", 2, 0, 0, 0, 14), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 2, 1, 0, 0, 14), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, step("a", 2, &pb.Next{Done: true, State: ref(8)}), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, report("a"), pb.Verdict_VERDICT_ACCEPTED)
	job, _ := s.Job("a")
	if job.Stage != pb.JobState_JOB_STATE_SUCCEEDED || len(job.Rounds.Finished) != 2 || len(job.Outputs) != 1 {
		t.Fatalf("stage %v, %d rounds, %d outputs", job.Stage, len(job.Rounds.Finished), len(job.Outputs))
	}
	if s.ActiveCount() != 0 {
		t.Error("an ended job is still active")
	}
}

func TestSubmitIsIdempotentAndConflictsOnAnotherSpec(t *testing.T) {
	s, first := run(t, state.New(), submit("a", "h"))
	s, again := run(t, s, submit("a", "h"))
	if !first.Created || again.Created || again.Job.Number != first.Job.Number {
		t.Errorf("created %v then %v", first.Created, again.Created)
	}
	if _, reply := state.Apply(s, submit("a", "other")); reply.Err == nil || reply.Err.Reason != state.Conflict {
		t.Errorf("another spec under the same id: %v", reply.Err)
	}
	if _, reply := state.Apply(s, submit("../x", "h")); reply.Err == nil || reply.Err.Reason != state.Malformed {
		t.Errorf("a job id that would leave its prefix: %v", reply.Err)
	}
}

// Leaves 0..4. A commit is accepted iff neither the node nor an ancestor is committed.
func TestCommitRule(t *testing.T) {
	s := running(t, 5)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 1, 1), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 1, 1), pb.Verdict_VERDICT_DUPLICATE)
	s = wantVerdict(t, s, node("a", 1, 0, 1, 0, 2), pb.Verdict_VERDICT_ACCEPTED) // above 1: leaf 1 is dropped
	s = wantVerdict(t, s, node("a", 1, 0, 0, 1, 9), pb.Verdict_VERDICT_SUPERSEDED)
	// leaf 4 by a name that is not canonical
	s = wantVerdict(t, s, node("a", 1, 0, 2, 1, 3), pb.Verdict_VERDICT_INVALID)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 4, 3), pb.Verdict_VERDICT_ACCEPTED)
	job, _ := s.Job("a")
	if job.Rounds.Open.Covered != 3 || job.Rounds.Open.Complete() {
		t.Errorf("covered %d of 5, complete %v", job.Rounds.Open.Covered, job.Rounds.Open.Complete())
	}
	s = wantVerdict(t, s, node("a", 1, 0, 3, 0, 4), pb.Verdict_VERDICT_ACCEPTED)
	job, _ = s.Job("a")
	count := 0
	job.Rounds.Open.EachCommit(func(state.Commit) bool { count++; return true })
	if count != 1 || job.Rounds.Open.Covered != 5 || !job.Rounds.Open.Complete() {
		t.Errorf("after the root: %d commits, covered %d", count, job.Rounds.Open.Covered)
	}
}

func TestTwoDigestsForOneNodeFailTheJob(t *testing.T) {
	s := running(t, 2)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 1), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 2), pb.Verdict_VERDICT_VIOLATION)
	job, _ := s.Job("a")
	if job.Failure == nil || job.Failure.Code != string(protocol.CodeDeterminism) || job.Counters.Violations != 1 {
		t.Fatalf("failure %+v, counters %+v", job.Failure, job.Counters)
	}
}

func TestCarriesReachTheNextRoundOfTheSamePhase(t *testing.T) {
	s := running(t, 4)
	carrying := func(round, level, index uint32, digest byte) *pb.Completion {
		c := node("a", round, 0, level, index, digest)
		c.Output.Carry = ref(digest + 100)
		return c
	}
	s = wantVerdict(t, s, carrying(1, 1, 0, 1), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, carrying(1, 0, 2, 2), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, carrying(1, 0, 3, 3), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 2, 0, 4), pb.Verdict_VERDICT_ACCEPTED) // a merge keeps the carries below it
	s = wantVerdict(t, s, step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{4}, State: ref(5)}),
		pb.Verdict_VERDICT_ACCEPTED)
	job, _ := s.Job("a")
	got := job.Rounds.Open.CarriesIn(0, 1, 3)
	if len(got) != 2 || got[0].First != 0 || got[0].End != 2 || got[1].First != 2 || got[1].End != 3 {
		t.Errorf("carries of leaves 1..2: %+v", got)
	}
}

// A long message of characters of several bytes is cut between two of them:
// anything else could not be written to a snapshot.
func TestLongFailuresCanBeEncoded(t *testing.T) {
	long := strings.Repeat("\u00e9", 5000)
	for shift := range 2 {
		f := &pb.Failure{Code: long, Message: "x"[:shift] + long, Task: long, Worker: long}
		s, _ := run(t, state.New(), submit("a", "h"),
			&pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: "a", Failure: f}}})
		job, _ := s.Job("a")
		if err := s.Encode(io.Discard); err != nil || len(job.Failure.Message) > state.MaxFailureBytes ||
			len(job.Failure.Message) < state.MaxFailureBytes-1 {
			t.Errorf("a message of %d bytes: %v", len(job.Failure.Message), err)
		}
	}
}

// The jobs that a job needs are there before it, so that no circle of them can wait without end.
func TestNeedsNameJobsThatAreThere(t *testing.T) {
	needing := func(id string, needs ...string) *pb.Command {
		return &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, SpecHash: "h", Needs: needs}}}
	}
	s := state.New()
	for _, cmd := range []*pb.Command{needing("a", "b"), needing("a", "a")} {
		if _, reply := state.Apply(s, cmd); reply.Err == nil || reply.Err.Reason != state.NotFound {
			t.Errorf("%v: %+v", cmd, reply)
		}
	}
	s, _ = state.Apply(s, needing("b"))
	s, _ = state.Apply(s, needing("a", "b"))
	if job, ok := s.Job("a"); !ok || len(job.Needs) != 1 || job.Needs[0] != "b" {
		t.Errorf("job %+v", job)
	}
	if _, reply := state.Apply(s, needing("a", "b")); reply.Err != nil || reply.Created {
		t.Errorf("the same again: %+v", reply)
	}
	if _, reply := state.Apply(s, needing("many", make([]string, 17)...)); reply.Err == nil {
		t.Error("a job needs 17 others")
	}
}

// The queue is bounded: beyond it a submit is refused for want of room, and taken again when a job has ended.
func TestQueueIsBounded(t *testing.T) {
	s := state.New()
	submit := func(id string) *pb.Command {
		return &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, SpecHash: "h"}}}
	}
	for i := range state.MaxActiveJobs {
		s, _ = state.Apply(s, submit(fmt.Sprint("j", i)))
	}
	if _, reply := state.Apply(s, submit("more")); reply.Err == nil || reply.Err.Reason != state.Exhausted {
		t.Errorf("one more: %+v", reply)
	}
	if _, reply := state.Apply(s, submit("j7")); reply.Err != nil {
		t.Errorf("one that is there: %v", reply.Err)
	}
	s, _ = state.Apply(s, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "j7"}}})
	if _, reply := state.Apply(s, submit("more")); !reply.Created {
		t.Errorf("after one has ended: %+v", reply)
	}
}
