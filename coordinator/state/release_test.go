package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// rewritten is a state after each job's record in its snapshot was edited, as an older release would have written it.
func rewritten(t *testing.T, s state.State, edit func(*pb.JobRecord)) state.State {
	t.Helper()
	all := records(t, s)
	for _, r := range all {
		if job := r.GetJob(); job != nil {
			edit(job)
		}
	}
	read, err := state.Decode(seal(t, all))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// An older release did not write how the rounds begin. Its jobs go on. If the rounds are to begin anew, the plan is
// made again, since it says how they begin.
func TestAJobOfAReleaseThatKeptNoBeginning(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*pb.JobRecord)
		stage pb.JobState
	}{
		"as written":          {func(*pb.JobRecord) {}, pb.JobState_JOB_STATE_RUNNING},
		"without a beginning": {func(r *pb.JobRecord) { r.First = nil }, pb.JobState_JOB_STATE_PLANNING},
	} {
		s := twoRounds(t)
		s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
		s = wantVerdict(t, s, after(1, step("a", 1, count(7, 3))), accepted)
		s = wantVerdict(t, s, after(1, node("a", 2, 0, 2, 0, 20)), accepted)
		s = wantVerdict(t, s, after(1, step("a", 2, count(8, 3))), accepted)
		s = rewritten(t, s, c.edit)
		near, _ := run(t, s, takeBack(s, lost, step("a", 2, nil)))
		if job := jobA(near); job.Stage != pb.JobState_JOB_STATE_RUNNING || job.Rounds.Open.Number != 2 {
			t.Errorf("%s, the last round's state is lost: %v, round %d", name, job.Stage, job.Rounds.Open.Number)
		}
		s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
		if job := jobA(s); job.Stage != c.stage || job.Counters.Remade.Anew != 1 {
			t.Errorf("%s, an older round's state is lost: %v, begun anew %d times",
				name, job.Stage, job.Counters.Remade.Anew)
		}
		if c.stage == pb.JobState_JOB_STATE_PLANNING {
			s = wantVerdict(t, s, now(s, planTask()), accepted)
		}
		if job := jobA(s); job.Rounds.Open.Number != 4 || job.Rounds.Open.Base != 0 {
			t.Errorf("%s: round %d of what round %d made", name, job.Rounds.Open.Number, job.Rounds.Open.Base)
		}
	}
}

// An older release did not write which round made the state that the open one reads: it was the one before.
func TestAJobOfAReleaseThatKeptNoBase(t *testing.T) {
	s := rewritten(t, twoRounds(t), func(r *pb.JobRecord) { r.StateRound = nil })
	if job := jobA(s); job.Rounds.Open.Number != 2 || job.Rounds.Open.Base != 1 {
		t.Errorf("round %d of what round %d made", job.Rounds.Open.Number, job.Rounds.Open.Base)
	}
	s = rewritten(t, anew(t), func(*pb.JobRecord) {})
	if job := jobA(s); job.Rounds.Open.Number != 3 || job.Rounds.Open.Base != 0 {
		t.Errorf("as written: round %d of what round %d made", job.Rounds.Open.Number, job.Rounds.Open.Base)
	}
}
