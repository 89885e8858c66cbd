package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The last tenth of the active jobs is not one token's to take, by whichever road its jobs come.
func TestOneTokenLeavesRoomForOthers(t *testing.T) {
	s := state.New()
	submit := func(id, token string) *state.Rejection {
		t.Helper()
		var reply state.Reply
		s, reply = state.Apply(s, &pb.Command{NowUnixMs: 1,
			Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, SpecHash: "h", SubmittedBy: token}}})
		return reply.Err
	}
	room := func(greedy, other, nobody int) {
		t.Helper()
		if g, o, n := s.Room("greedy"), s.Room("other"), s.Room(""); g != greedy || o != other || n != nobody {
			t.Errorf("with %d jobs there is room for %d, %d and %d more, want %d, %d and %d",
				s.ActiveCount(), g, o, n, greedy, other, nobody)
		}
	}
	room(900, 900, 1000)
	for i := range state.MaxActiveOfToken {
		if refused := submit(fmt.Sprint("greedy-", i), "greedy"); refused != nil {
			t.Fatalf("job %d: %v", i, refused)
		}
	}
	room(0, 100, 100)
	const share = "900 jobs of this token have not ended, and the last 100 places are for others"
	refused := submit("one-more", "greedy")
	if refused == nil || refused.Reason != state.Exhausted || !strings.Contains(refused.Message, share) {
		t.Errorf("one more job of the same token: %v", refused)
	}
	if refused := submit("greedy-0", "greedy"); refused != nil { // a repetition makes no job
		t.Errorf("a repeated call: %v", refused)
	}
	define := &pb.PutSchedule{Id: "s", JobJson: []byte("{}"), Cron: "* * * * *", TimeZone: "UTC",
		Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW,
		CatchUp: pb.CatchUp_CATCH_UP_NONE, SubmittedBy: "greedy"}
	s, reply := state.Apply(s, &pb.Command{NowUnixMs: 1, Body: &pb.Command_PutSchedule{PutSchedule: define}})
	if reply.Err != nil {
		t.Fatal(reply.Err)
	}
	fire := &pb.FireTick{ScheduleId: "s", Revision: reply.Schedule.Revision, AfterUnixMs: reply.Schedule.LastTick,
		TickUnixMs: 60000, Job: &pb.SubmitJob{SpecHash: "h"}}
	if _, reply := state.Apply(s, &pb.Command{NowUnixMs: 60000,
		Body: &pb.Command_FireTick{FireTick: fire}}); reply.Err == nil || reply.Err.Reason != state.Exhausted {
		t.Errorf("a tick of the token's schedule: %v", reply.Err)
	}
	for i := range state.MaxActiveJobs - state.MaxActiveOfToken {
		if refused := submit(fmt.Sprint("other-", i), "other"); refused != nil {
			t.Fatalf("job %d of another token: %v", i, refused)
		}
	}
	room(0, 0, 0)
	const full = "1000 jobs have not ended"
	for _, token := range []string{"third", "greedy", ""} {
		refused := submit("too-many", token)
		if refused == nil || refused.Reason != state.Exhausted || !strings.Contains(refused.Message, full) {
			t.Errorf("a job beyond all, of token %q: %v", token, refused)
		}
	}
}
