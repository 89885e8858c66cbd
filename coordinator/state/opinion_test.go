package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A node is committed and a second result differs. If both name their workers, a third worker decides. Results of an
// older release do not name them: one is wrong, and nobody knows which.
func TestTwoResultsOfOneNode(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		fails         bool
	}{"both named": {"x", "y", false}, "the first unnamed": {"", "y", true}, "the second unnamed": {"x", "", true}} {
		s := running(t, 2)
		s = wantVerdict(t, s, by(c.first, node("a", 1, 0, 0, 0, 10)), accepted)
		s = wantVerdict(t, s, by(c.second, node("a", 1, 0, 0, 0, 66)), pb.Verdict_VERDICT_VIOLATION)
		job := jobA(s)
		failed := job.Failure != nil
		if failed != c.fails || failed && job.Failure.Code != string(protocol.CodeDeterminism) {
			t.Errorf("%s: failure %+v", name, job.Failure)
		}
		want := state.AuditCounts{Drawn: 1, Disputed: 1, Nodes: 1}
		if !c.fails && (job.Audits.Pending() != 1 || job.Audits.Counts != want || job.Counters.Violations != 1) {
			t.Errorf("%s: %d audits pending, %+v, %d violations",
				name, job.Audits.Pending(), job.Audits.Counts, job.Counters.Violations)
		}
	}
}

// A worker that makes two results of one node needs no judge: it is convicted, and its commit made again.
func TestAWorkerThatContradictsItself(t *testing.T) {
	s := running(t, 2)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 0, 10)), accepted)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 1, 11)), accepted)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 1, 66)), pb.Verdict_VERDICT_VIOLATION)
	job := jobA(s)
	const task = "round 1, tree 0, node 0/1"
	if len(job.Audits.Convicted) != 1 || job.Audits.Convicted[0].WorkerID != "l" ||
		job.Audits.Convicted[0].Task != task {
		t.Errorf("convicted: %+v", job.Audits.Convicted)
	}
	want := state.AuditCounts{Disputed: 1, Repeated: 1}
	if job.Ended() || job.Rounds.Open.Covered != 1 || job.Audits.Counts != want || job.Counters.Violations != 1 {
		t.Errorf("ended %v, %d leaves, %+v, %d violations",
			job.Ended(), job.Rounds.Open.Covered, job.Audits.Counts, job.Counters.Violations)
	}
}

// Every dispute is one violation, however many opinions follow.
func TestADisputeIsOneViolation(t *testing.T) {
	s := audited(t, 2)
	for i, c := range []struct {
		worker     string
		leaf       uint32
		digest     byte
		verdict    pb.Verdict
		violations uint64
	}{
		{"x", 0, 10, accepted, 0}, {"l", 0, 66, heard, 1}, {"y", 0, 77, heard, 1}, {"z", 0, 10, heard, 1},
		{"x", 1, 11, accepted, 1}, {"y", 1, 11, stale, 1}, {"k", 1, 66, heard, 2}, {"z", 1, 11, heard, 2},
	} {
		s = wantVerdict(t, s, now(s, by(c.worker, node("a", 1, 0, 0, c.leaf, c.digest))), c.verdict)
		if got := jobA(s).Counters.Violations; got != c.violations {
			t.Errorf("result %d, of worker %s: %d violations, want %d", i, c.worker, got, c.violations)
		}
	}
	if got := jobA(s).Audits.Counts; got.Disputed != 2 || got.Agreed != 2 {
		t.Errorf("%+v", got)
	}
}

// Two workers saw other input than the plan's maker, over and over: the plan is made again as often as a beginning
// may be lost, then the job fails and says that its input changes.
func TestInputThatKeepsChanging(t *testing.T) {
	s := audited(t, 1)
	for n := range byte(state.MaxAnew + 1) {
		if job := jobA(s); job.Ended() || job.Audits.Counts.Repeated != uint64(n) ||
			job.Counters.Remade.Anew != uint32(n) {
			t.Fatalf("changed %d times: %v, %+v, %+v", n, job.Failure, job.Audits.Counts, job.Counters.Remade)
		}
		for _, worker := range []string{"x", "y"} {
			s = wantVerdict(t, s, now(s, by(worker, listed(100+n))), heard)
		}
		if n < state.MaxAnew {
			s = wantVerdict(t, s, now(s, by("p", listed(10+n))), accepted)
		}
	}
	f := jobA(s).Failure
	if f == nil || f.Code != string(protocol.CodeInputChanged) || len(jobA(s).Audits.Convicted) != 0 {
		t.Errorf("changed %d times: %+v", state.MaxAnew+1, f)
	}
}

// listed is a plan made of the input that a manifest lists.
func listed(manifest byte) *pb.Completion {
	c := planned("a", 1)
	c.Output.Manifest = ref(manifest)
	return c
}

// A round's record says whether two workers made its step.
func TestAnAgreedStepIsNotedInItsRound(t *testing.T) {
	for agreed := range 3 {
		s := audited(t, 1)
		for round := uint32(1); round <= 3; round++ {
			s = oneRound(t, s, round, "x", "x", byte(10*round))
		}
		round := uint32(agreed + 1)
		s = wantVerdict(t, s, by("y", step("a", round, count(byte(10*round+1), 1))), heard)
		for i, r := range jobA(s).Rounds.Finished {
			if r.Audited != (i == agreed) {
				t.Errorf("the step of round %d was made twice; the record of round %d says %v", round, r.Number,
					r.Audited)
			}
		}
	}
}

// A worker makes another state of a round that is closed. If two workers have made the state, the third is convicted.
// If only one has, or the third has no name, nobody knows which is right, and what the state was made from is gone.
func TestAnotherStateOfAClosedRound(t *testing.T) {
	closing := func(worker string, digest byte) *pb.Completion {
		return by(worker, step("a", 1, count(digest, 1)))
	}
	for name, c := range map[string]struct {
		twice     bool // two workers have made it
		worker    string
		convicted bool
	}{"made twice": {true, "l", true}, "made twice, no name": {true, "", false}, "made once": {false, "l", false}} {
		s := running(t, 1)
		if c.twice {
			s = audited(t, 1)
		}
		s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 0, 10)), accepted)
		s = wantVerdict(t, s, closing("x", 11), accepted)
		if c.twice {
			s = wantVerdict(t, s, closing("y", 11), heard)
		}
		s = wantVerdict(t, s, closing("z", 11), pb.Verdict_VERDICT_DUPLICATE)
		s = wantVerdict(t, s, closing(c.worker, 66), pb.Verdict_VERDICT_VIOLATION)
		if job := jobA(s); (len(job.Audits.Convicted) == 1) != c.convicted || (job.Failure == nil) != c.convicted {
			t.Errorf("%s: convicted %v, failure %v", name, job.Audits.Convicted, job.Failure)
		}
	}
}

// An audit knows what each of its workers made, and of no other's result.
func TestWhoseOpinionItIs(t *testing.T) {
	a := leaf0(t, split(t))
	for _, want := range a.Opinions {
		if got, said := a.Opinion(want.WorkerID); !said || got != want {
			t.Errorf("worker %s made %+v (%v), want %+v", want.WorkerID, got, said, want)
		}
	}
	if got, said := a.Opinion("z"); said || got != (state.Opinion{}) {
		t.Errorf("a worker that made nothing of it made %+v", got)
	}
}
