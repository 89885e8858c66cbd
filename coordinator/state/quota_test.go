package state_test

import (
	"fmt"
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
		s, reply = state.Apply(s, &pb.Command{NowUnixMs: 1, Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, SpecHash: "h", SubmittedBy: token}}})
		return reply.Err
	}
	for i := range state.MaxActiveOfToken {
		if refused := submit(fmt.Sprint("greedy-", i), "greedy"); refused != nil {
			t.Fatalf("job %d: %v", i, refused)
		}
	}
	if room := s.Room("greedy"); room != 0 {
		t.Errorf("room for %d more", room)
	}
	if refused := submit("one-more", "greedy"); refused == nil || refused.Reason != state.Exhausted {
		t.Errorf("one more job of the same token: %v", refused)
	}
	if refused := submit("greedy-0", "greedy"); refused != nil { // a repetition makes no job
		t.Errorf("a repeated call: %v", refused)
	}
	define := &pb.PutSchedule{Id: "s", JobJson: []byte("{}"), Cron: "* * * * *", TimeZone: "UTC", Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW,
		CatchUp: pb.CatchUp_CATCH_UP_NONE, SubmittedBy: "greedy"}
	s, reply := state.Apply(s, &pb.Command{NowUnixMs: 1, Body: &pb.Command_PutSchedule{PutSchedule: define}})
	if reply.Err != nil {
		t.Fatal(reply.Err)
	}
	fire := &pb.FireSlot{ScheduleId: "s", Revision: reply.Schedule.Revision, AfterUnixMs: reply.Schedule.LastSlot, SlotUnixMs: 60000, Job: &pb.SubmitJob{SpecHash: "h"}}
	if _, reply := state.Apply(s, &pb.Command{NowUnixMs: 60000, Body: &pb.Command_FireSlot{FireSlot: fire}}); reply.Err == nil || reply.Err.Reason != state.Exhausted {
		t.Errorf("a slot of the token's schedule: %v", reply.Err)
	}
	for i := range state.MaxActiveJobs - state.MaxActiveOfToken {
		if refused := submit(fmt.Sprint("other-", i), "other"); refused != nil {
			t.Fatalf("job %d of another token: %v", i, refused)
		}
	}
	if refused := submit("too-many", "third"); refused == nil || refused.Reason != state.Exhausted {
		t.Errorf("a job beyond all: %v", refused)
	}
}
