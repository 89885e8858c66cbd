package state_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
)

// A cluster has MaxSchedules schedules at most; existing ones may change all the same.
func TestSchedulesAreBounded(t *testing.T) {
	s := state.New()
	for i := range state.MaxSchedules {
		s, _ = run(t, s, putSchedule(fmt.Sprint("n", i), 1))
	}
	wantRefused(t, s, putSchedule("more", 1), state.Exhausted)
	other := putSchedule("n7", 1)
	other.GetPutSchedule().Cron, other.GetPutSchedule().Replace = "0 3 * * *", true
	if _, reply := run(t, s, other); reply.Created {
		t.Error("a changed schedule was made anew")
	}
}

// Pausing a paused schedule, or resuming one that is not paused, is no change: a decision that was made before stands.
func TestPausingTwiceChangesNothing(t *testing.T) {
	s, made := run(t, state.New(), putSchedule("n", 1000))
	revision := made.Schedule.Revision
	for i, c := range []struct {
		paused  bool
		now     int64
		changes bool
		since   int64
	}{
		{false, 2000, false, 1000}, {true, 3000, true, 1000}, {true, 4000, false, 1000},
		{false, 5000, true, 5000}, {false, 6000, false, 5000},
	} {
		var reply state.Reply
		s, reply = run(t, s, pause("n", c.paused, c.now))
		sched, _ := s.Schedule("n")
		changed := sched.Revision > revision
		if sched.Paused != c.paused || changed != c.changes || sched.Since != c.since || reply.Schedule != sched {
			t.Errorf("change %d: paused %v, revision %d after %d, ticks since %d",
				i, sched.Paused, sched.Revision, revision, sched.Since)
		}
		revision = sched.Revision
	}
}
