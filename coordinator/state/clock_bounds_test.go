package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// at has a command come at a time.
func at(now int64, cmd *pb.Command) *pb.Command {
	cmd.NowUnixMs = now
	return cmd
}

// The clock is set to whatever nanoseconds since 1970 can say in 63 bits, from a millisecond on.
func TestTimesThatAreSet(t *testing.T) {
	const last = (1<<63 - 1) / 1_000_000
	for _, good := range []int64{1, last} {
		if s, _ := run(t, state.New(), setClock(good)); s.Now != good {
			t.Errorf("set to %d: %d", good, s.Now)
		}
	}
	for _, bad := range []int64{0, last + 1} {
		refused(t, state.New(), setClock(bad), state.Malformed, "cannot be set")
	}
}

// A clock that is set to what it shows changes nothing. A tick that was decided ahead of its time is taken back by it
// all the same, also by one that is set ahead, but not as far.
func TestSetClockToWhatItShows(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	s, _ = run(t, s, fire(s, "n", 2000))
	if same, _ := run(t, s, setClock(2000)); same.Digest() != s.Digest() {
		t.Error("the state has changed")
	}
	s, _ = run(t, s, at(2000, fire(s, "n", 9000)))
	for now, last := range map[int64]int64{1500: 1500, 2000: 2000, 5000: 5000, 9000: 9000, 9999: 9000} {
		set, _ := run(t, s, setClock(now))
		if sched, _ := set.Schedule("n"); sched.LastTick != last || sched.Fired != 2 {
			t.Errorf("set to %d: %+v", now, sched)
		}
	}
}

// A schedule that has met no time after the new one is left alone: what was decided of it on the way stands.
func TestSchedulesOfThePastAreLeftAlone(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("past", 1000))
	s, _ = run(t, s, fire(s, "past", 2000), putSchedule("ahead", 2001))
	onTheWay := []*pb.Command{fire(s, "past", 3000), fire(s, "ahead", 3000)}
	s, _ = run(t, s, setClock(2000))
	wantRefused(t, s, onTheWay[1], state.Conflict)
	if _, reply := run(t, s, onTheWay[0]); !reply.Created {
		t.Error("a decision by the right time was refused")
	}
}

// What was skipped from the new time on is decided anew; a skip that begins with it, or before, was right.
func TestSkipsAroundTheNewTime(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 100))
	s, _ = run(t, s, fire(s, "n", 200))
	s, _ = run(t, s, skip(s, "n", 300, 500, 3))
	for now, want := range map[int64]struct {
		skipped uint64
		records int
	}{299: {0, 1}, 300: {3, 2}, 301: {3, 2}} {
		back, _ := run(t, s, setClock(now))
		sched, _ := back.Schedule("n")
		if sched.Skipped != want.skipped || len(sched.Recent) != want.records || sched.LastTick != now ||
			sched.Fired != 1 {
			t.Errorf("set to %d: %+v", now, sched)
		}
	}
}

// Of several ticks that have succeeded the latest up to the new time is the schedule's latest, whichever id its job
// has.
func TestTheLatestUpToTheNewTime(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 100))
	ids := make(map[int64]string)
	for tick := int64(200); tick <= 1200; tick += 100 {
		var reply state.Reply
		s, reply = run(t, s, fire(s, "n", tick))
		ids[tick] = reply.Job.ID
		s = finishedTick(t, s, reply.Job.ID)
	}
	for now, want := range map[int64]int64{1200: 1200, 1199: 1100, 1000: 1000, 999: 900, 200: 200, 199: 0} {
		back, _ := run(t, s, setClock(now))
		if sched, _ := back.Schedule("n"); sched.LatestTick != want || sched.LatestJob != ids[want] {
			t.Errorf("set to %d: the latest is %q of tick %d", now, sched.LatestJob, sched.LatestTick)
		}
	}
}

// Times of retired jobs, tokens and aliases that are yet to come are moved to the new one; earlier ones stay.
func TestTheRestAfterSetClock(t *testing.T) {
	s := state.New()
	for _, id := range []string{"old", "new", "model"} {
		s = finished(t, s, id)
	}
	token := func(id string) *pb.Command {
		return put(&pb.PutToken{Id: id, SecretSha256: ref(1).Sha256, Scope: "read"})
	}
	s, _ = run(t, s, at(2000, retireByHand("old")), token("old"), setAlias("old", "model"))
	s, _ = run(t, s, at(9000, retireByHand("new")), token("new"), setAlias("new", "model"))
	s, _ = run(t, s, setClock(5000))
	for id, want := range map[string]int64{"old": 2000, "new": 5000} {
		gone, known := s.Retired.Get(id)
		token, valid := s.Tokens.Get(id)
		alias, named := s.Alias(id)
		if !known || !valid || !named || gone.RetiredAt != want || token.CreatedAt != want || alias.SetAt != want {
			t.Errorf("%s: %+v, %+v, %+v; want %d", id, gone, token, alias, want)
		}
	}
}

// A job is moved by each of its times alone.
func TestJobsAfterSetClock(t *testing.T) {
	s, _ := run(t, state.New(), submit("a", "h"), at(2000, start("a")), at(3000, completions(planned("a", 1))))
	next := &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(4)}
	for round, now := range []int64{4000, 5000} {
		number := uint32(round) + 1
		s, _ = run(t, s, at(now-1, completions(node("a", number, 0, 0, 0, 1))),
			at(now, completions(step("a", number, next))))
	}
	s, _ = run(t, s, at(6000, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}}))
	for _, now := range []int64{500, 1000, 1500, 2500, 3500, 4500, 5500, 6000} {
		back, _ := run(t, s, setClock(now))
		job := auditedJob(t, back)
		got := []int64{
			job.SubmittedAt, job.StartedAt, job.Rounds.Finished[0].StartedAt, job.Rounds.Finished[0].FinishedAt,
			job.Rounds.Finished[1].StartedAt, job.Rounds.Finished[1].FinishedAt, job.Rounds.Open.StartedAt,
			job.FinishedAt,
		}
		for i, was := range []int64{1000, 2000, 3000, 4000, 4000, 5000, 5000, 6000} {
			if got[i] != min(was, now) {
				t.Errorf("set to %d: time %d of the job, %d, became %d", now, i, was, got[i])
			}
		}
	}
}
