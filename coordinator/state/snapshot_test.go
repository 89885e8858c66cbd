package state_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// reread is a state after it was written and read, as a member has it that begins with the snapshot.
func reread(t interface {
	Helper()
	Fatal(...any)
	Error(...any)
}, s state.State) state.State {
	t.Helper()
	var text bytes.Buffer
	if err := s.Encode(&text); err != nil {
		t.Fatal(err)
	}
	read, err := state.Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if read.Digest() != s.Digest() {
		t.Error("what was read from a snapshot is not what was written")
	}
	return read
}

// seen is what a reader finds in a state, line by line.
func seen(s state.State) (lines []string) {
	add := func(what string, of ...any) { lines = append(lines, what+fmt.Sprintf(" %+v", of)) }
	s.EachJob(func(job *state.Job) bool {
		add("job", job.ID, job.Stage, job.Failure.Proto(), job.Counters, job.Rounds.Finished, job.Outputs)
		add("job", job.ID, job.Rounds.Open.Number, job.Rounds.Open.Covered, job.Audits.Counts, job.Audits.Convicted,
			job.Workers)
		job.EachReference(func(o state.ObjectID) { add("reference", job.ID, o.Round, o.SHA256[31]) })
		job.Audits.Each(func(a *state.Audit) bool {
			add("audit", job.ID, a, a.State, a.Base, a.TreeLeaves, len(a.Pieces), len(a.Carries), a.Makers, a.Opinions)
			return true
		})
		return true
	})
	s.Tokens.Each(func(token state.Token) bool { add("token", token); return true })
	s.EachSchedule(func(sched *state.Schedule) bool {
		add("schedule", sched.ID(), sched.Recent, s.JobsOf(sched.ID()))
		return true
	})
	s.Retired.Each(func(r state.Retired) bool { add("retired", r); return true })
	s.EachAlias(func(a state.Alias) bool { add("alias", a); return true })
	s.Convicted.Each(func(c state.Conviction) { add("convicted", c) })
	for _, id := range []string{"c1", "c2", "c3"} {
		add("removed", id, s.Removed(id))
	}
	return append(lines, fmt.Sprint(s.Now, s.NextJob, s.Epoch, s.HeldSince, s.ClusterID, s.Secret, s.ActiveCount()))
}

// measured opens another round, and has metrics of the closed one.
func measured(trees ...uint32) *pb.Next {
	return &pb.Next{Phase: "count", Trees: trees, State: ref(7), Metrics: ref(8)}
}

// several is a state with at least two of each kind of record that a snapshot has.
func several(t *testing.T) state.State {
	t.Helper()
	s := audited(t, 2, 1) // round 1 is closed, and round 2 has commits too
	leaf := func(worker string, round, tree, index uint32) *pb.Completion {
		c := by(worker, node("a", round, tree, 0, index, byte(10*round+tree+index)))
		c.Output.Carry = ref(byte(100*round + tree + index))
		return c
	}
	for round := uint32(1); round <= 2; round++ {
		for _, n := range [][2]uint32{{0, 0}, {0, 1}, {1, 0}} {
			s = wantVerdict(t, s, leaf("x", round, n[0], n[1]), accepted)
		}
		if round == 1 {
			s = wantVerdict(t, s, by("x", node("a", 1, 0, 1, 0, 15)), accepted)
			s = wantVerdict(t, s, by("x", step("a", 1, measured(2, 1))), accepted)
		}
	}
	for index, liar := range []string{"k", "l"} {
		s = wantVerdict(t, s, by(liar, node("a", 2, 0, 0, uint32(index), 66)), heard)
		s = wantVerdict(t, s, leaf("y", 2, 0, uint32(index)), heard)
	}
	s = finished(t, finished(t, s, "m1"), "m2")
	s = finished(t, finished(t, s, "r1"), "r2")
	for i := range byte(2) {
		n := string('1' + i)
		s, _ = run(t, s, retireByHand("r"+n), setAlias("alias"+n, "m"+n), removeMember("c"+n), putSchedule("n"+n, 3000),
			put(&pb.PutToken{Id: "t" + n, SecretSha256: ref(i).Sha256, Scope: "read"}))
	}
	failure := &pb.Failure{Code: "X", Message: "it failed", Class: pb.FailureClass_FAILURE_CLASS_TASK}
	s, _ = run(t, s, submit("f", "h"),
		&pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: "f", Failure: failure}}})
	s, _ = run(t, s, fire(s, "n1", 4000))
	s, _ = run(t, s, fire(s, "n2", 4000))
	return s
}

// What is read from a snapshot is what was written: every record of each kind.
func TestASnapshotHoldsAll(t *testing.T) {
	s := several(t)
	if job := jobA(s); job.Audits.Pending() < 2 || s.Convicted.Count() != 2 || s.Retired.Count() != 2 ||
		s.JobCount() != 6 {
		t.Fatalf("%d audits pending, %d convicted, %d retired, %d jobs",
			job.Audits.Pending(), s.Convicted.Count(), s.Retired.Count(), s.JobCount())
	}
	want, got := seen(s), seen(reread(t, s))
	for i := range max(len(want), len(got)) {
		if i == min(len(want), len(got)) || got[i] != want[i] {
			t.Fatalf("%d of %d lines were read, and these differ:\n%v\nwant:\n%v", len(got), len(want), got[i:],
				want[i:])
		}
	}
}

// lossesAndLies takes job "a" through a closed round, a lost state, a lost carry, new beginnings and a lost plan to
// its end.
func lossesAndLies() []*pb.Command {
	var list []*pb.Command
	changes := uint64(0)
	do := func(cs ...*pb.Completion) {
		for _, c := range cs {
			list = append(list, completions(after(changes, c)))
		}
	}
	closing := func(round uint32) {
		root := node("a", round, 0, 1, 0, 12)
		root.Output.Carry = ref(13)
		do(root, step("a", round, measured(2)))
	}
	lose := func(open uint32, reason pb.UncommitReason, c *pb.Completion) {
		list = append(list, &pb.Command{NowUnixMs: 1003, Body: &pb.Command_Uncommit{Uncommit: &pb.Uncommit{
			JobId: "a", Round: open, Changes: changes, Reason: reason, Message: "gone", Tasks: []*pb.TaskID{c.GetId()},
		}}})
		changes++
	}
	list = append(list, submit("a", "h"), start("a"))
	do(planned("a", 2))
	closing(1)
	closing(2)
	lose(3, lost, step("a", 2, nil))
	do(step("a", 2, measured(2)), node("a", 3, 0, 0, 1, 20))
	lose(3, lost, node("a", 2, 0, 1, 0, 0))
	closing(2)
	lose(3, lied, node("a", 1, 0, 1, 0, 0)) // the rounds begin anew, as round 4
	closing(4)
	lose(5, lost, planTask())
	do(planned("a", 2))
	closing(6)
	do(node("a", 7, 0, 1, 0, 30), step("a", 7, &pb.Next{Done: true, State: ref(31), Course: ref(32)}))
	lose(7, lost, step("a", 7, nil))
	do(step("a", 7, &pb.Next{Done: true, State: ref(31), Course: ref(32)}), report("a"))
	return list
}

// A member that begins with a snapshot decides as one that has seen all entries, whichever entry the snapshot was taken
// after.
func TestGoingOnFromASnapshot(t *testing.T) {
	commands := lossesAndLies()
	for cut := range commands {
		s, _ := run(t, state.New(), commands[:cut]...)
		other := reread(t, s)
		for i, cmd := range commands[cut:] {
			var one, two state.Reply
			s, one = state.Apply(s, cmd)
			other, two = state.Apply(other, cmd)
			if fmt.Sprint(one.Err, one.Verdicts) != fmt.Sprint(two.Err, two.Verdicts) || s.Digest() != other.Digest() {
				t.Fatalf("a snapshot after %d entries, and %d more: %v %v, want %v %v",
					cut, i+1, two.Err, two.Verdicts, one.Err, one.Verdicts)
			}
		}
		if job := jobA(s); job.Stage != pb.JobState_JOB_STATE_SUCCEEDED || job.Counters.Remade.Changes != 5 {
			t.Fatalf("the job is %v after %+v", job.Stage, job.Counters.Remade)
		}
		if one, two := jobA(s).Counters, jobA(other).Counters; one != two {
			t.Fatalf("a snapshot after %d entries counts %+v, want %+v", cut, two, one)
		}
	}
}
