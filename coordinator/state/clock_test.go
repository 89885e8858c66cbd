package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

func setClock(now int64) *pb.Command {
	return &pb.Command{NowUnixMs: now, Body: &pb.Command_SetClock{SetClock: &pb.SetClock{NowUnixMs: now}}}
}

// A clock runs ahead by 31 days for a minute: a job ends, one is retired by its true time, a schedule's ticks of a
// month are skipped and one is fired. Set back, all go on as if it had not been, and the early tick has one job.
func TestSetClock(t *testing.T) {
	const ahead = 31 * day
	s := finished(t, state.New(), "done") // at 1002
	s, _ = run(t, s, putSchedule("n", 1500))
	s, _ = run(t, s, fire(s, "n", 2000))
	wrong := retire(2100+ahead, day, "done")
	wrong.GetRetireJobs().NowUnixMs = 2100 // the proposer knows the time; the log does not
	s, reply := run(t, s, putSchedule("late", 2050+ahead), wrong)
	if len(reply.Retired) != 0 || s.Now != 2100+ahead {
		t.Fatalf("%v is retired; the log's time is %d", reply.Retired, s.Now)
	}
	s, _ = run(t, s, skip(s, "n", 3000, 2000+ahead, 99))
	s, _ = run(t, s, fire(s, "n", 5000+ahead))
	early := s
	s, _ = run(t, s, setClock(2500))
	sched, _ := s.Schedule("n")
	if s.Now != 2500 || sched.LastTick != 2500 || sched.Fired != 2 || sched.Skipped != 0 || len(sched.Recent) != 1 {
		t.Errorf("set back: now %d, schedule %+v", s.Now, sched)
	}
	if late, _ := s.Schedule("late"); late.LastTick != 2500 || late.Since != 2500 {
		t.Errorf("a schedule that was made meanwhile: %+v", late)
	}
	wantRefused(t, s, fire(early, "n", 6000+ahead), state.Conflict) // by who has not seen it
	s, _ = run(t, s, fire(s, "n", 3000))
	s, reply = run(t, s, fire(s, "n", 5000+ahead))
	if sched, _ = s.Schedule("n"); reply.Created || sched.Fired != 3 {
		t.Errorf("the tick that was fired early: created %t, %d fired", reply.Created, sched.Fired)
	}
	s, _ = run(t, s, setClock(2600))
	if s, reply = run(t, s, retire(1002+day, day, "done")); len(reply.Retired) != 1 {
		t.Errorf("%v retired in time", reply.Retired)
	}
	for _, bad := range []int64{0, -1, 1<<63 - 1} {
		refused(t, s, setClock(bad), state.Malformed, "cannot be set")
	}
}

// What was fired early and has succeeded is the latest when its tick comes, and not before.
func TestLatestAfterSetClock(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 100))
	var ids []string
	for _, tick := range []int64{200, 90_000} {
		var reply state.Reply
		s, reply = run(t, s, fire(s, "n", tick))
		ids = append(ids, reply.Job.ID)
		s = finishedTick(t, s, reply.Job.ID)
	}
	latest := func(when string, want string, tick int64) {
		t.Helper()
		if sched, _ := s.Schedule("n"); sched.LatestJob != want || sched.LatestTick != tick {
			t.Errorf("%s: the latest is %q of tick %d", when, sched.LatestJob, sched.LatestTick)
		}
	}
	latest("ahead", ids[1], 90_000)
	s, _ = run(t, s, setClock(300))
	latest("set back", ids[0], 200)
	s, _ = run(t, s, fire(s, "n", 90_000))
	latest("in time", ids[1], 90_000)
}

// finishedTick takes the job of a tick to its success.
func finishedTick(t *testing.T, s state.State, id string) state.State {
	t.Helper()
	for _, cmd := range []*pb.Command{
		start(id), completions(planned(id, 1)), completions(node(id, 1, 0, 0, 0, 10)),
		completions(step(id, 1, &pb.Next{Done: true, State: ref(8)})), completions(report(id)),
	} {
		cmd.NowUnixMs = 0
		s, _ = run(t, s, cmd)
	}
	return s
}

// checkClock: after the clock was set nothing lies in the future, and nothing else was lost.
func checkClock(t *rapid.T, before, after state.State, now int64) {
	if now < 1 {
		if after.Digest() != before.Digest() {
			t.Fatalf("a refused clock changed the state")
		}
		return
	}
	if after.Now != now || after.JobCount() != before.JobCount() || after.Retired.Count() != before.Retired.Count() ||
		after.ActiveCount() != before.ActiveCount() {
		t.Fatalf("clock set to %d: %d; %d jobs became %d", now, after.Now, before.JobCount(), after.JobCount())
	}
	after.EachJob(func(job *state.Job) bool {
		if max(job.SubmittedAt, job.StartedAt, job.FinishedAt, job.Rounds.Open.StartedAt) > now {
			t.Fatalf("clock set to %d: job %+v", now, job)
		}
		for _, r := range job.Rounds.Finished {
			if max(r.StartedAt, r.FinishedAt) > now {
				t.Fatalf("clock set to %d: job %s, round %+v", now, job.ID, r)
			}
		}
		return true
	})
	after.EachSchedule(func(sched *state.Schedule) bool {
		old, _ := before.Schedule(sched.ID())
		if max(sched.LastTick, sched.Since, sched.LatestTick) > now || sched.LastTick > old.LastTick ||
			sched.Fired != old.Fired {
			t.Fatalf("clock set to %d: schedule %+v became %+v", now, old, sched)
		}
		return true
	})
}

// What became garbage when a round was taken back is garbage from the time that the clock is set to, not from one that
// is yet to come.
func TestGarbageAfterSetClock(t *testing.T) {
	const ahead = 31 * day
	s := running(t, 1)
	s, _ = run(t, s, &pb.Command{NowUnixMs: ahead, Body: &pb.Command_Checkpoint{Checkpoint: &pb.Checkpoint{}}})
	for round := uint32(1); round <= 2; round++ {
		s = wantVerdict(t, s, node("a", round, 0, 0, 0, byte(10*round)), accepted)
		s = wantVerdict(t, s, step("a", round, count(byte(10*round+1), 1)), accepted)
	}
	s, _ = run(t, s, takeBack(s, lost, node("a", 2, 0, 0, 0, 20)))
	unread := state.ObjectID{Round: 1, SHA256: [32]byte(ref(99).Sha256)}
	if job, _ := s.Job("a"); job.Rounds.Open.Number != 2 || !job.Garbage(ahead).Has(unread) {
		t.Fatalf("round %d is open, and what the first made is not garbage", job.Rounds.Open.Number)
	}
	s, _ = run(t, s, setClock(2500))
	if job, _ := s.Job("a"); !job.Garbage(2500).Has(unread) {
		t.Error("it is not garbage once the clock is right")
	}
}
