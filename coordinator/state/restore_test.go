package state_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

func removeMember(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_RemoveMember{RemoveMember: &pb.RemoveMember{Id: id}}}
}

func release() *pb.Command {
	return &pb.Command{Body: &pb.Command_ReleaseSchedules{ReleaseSchedules: &pb.ReleaseSchedules{}}}
}

// checkRestored: no entry of the log makes an epoch or holds ticks, none is decided while they are
// held, and a removed member stays removed.
func checkRestored(t *rapid.T, before, after state.State) {
	if after.Epoch != before.Epoch || !before.Held() && after.Held() {
		t.Fatalf("epoch %d became %d, held since %d since %d", before.Epoch, after.Epoch, before.HeldSince,
			after.HeldSince)
	}
	for _, id := range jobIDs {
		if before.Removed(id) && !after.Removed(id) {
			t.Fatalf("member %q is not removed any more", id)
		}
	}
	if !after.Held() {
		return
	}
	after.EachSchedule(func(sched *state.Schedule) bool {
		if old, ok := before.Schedule(sched.ID()); ok && old.Number == sched.Number && old.LastTick < sched.LastTick {
			t.Fatalf("tick %d of %s was decided while ticks are held", sched.LastTick, sched.ID())
		}
		return true
	})
}

// A restored state holds what was decided, in a new epoch, and decides on no tick before its release.
func TestRestoredState(t *testing.T) {
	s := running(t, 5)
	s, _ = run(t, s, putSchedule("nightly", 100), removeMember("c3"),
		&pb.Command{Body: &pb.Command_PutToken{PutToken: &pb.PutToken{
			Id: "admin", SecretSha256: ref(1).GetSha256(), Scope: "admin",
		}}})
	restored := s.Restored()
	if _, known := restored.Tokens.Get("admin"); known || restored.Removed("c3") || restored.ClusterID != "" ||
		restored.Epoch != 1 || !restored.Held() {
		t.Errorf("restored: %+v", restored)
	}
	if again := restored.Restored(); again.Epoch != 2 {
		t.Errorf("restored twice: epoch %d", again.Epoch)
	}
	if _, ok := restored.Job("a"); !ok || restored.JobCount() != s.JobCount() || !restored.SameSchedules(s) {
		t.Error("jobs or schedules differ")
	}
	if s.Held() || !s.Removed("c3") {
		t.Error("the old state has changed")
	}
	wantRefused(t, restored, fire(restored, "nightly", 200), state.Conflict)
	restored, reply := run(t, restored, release())
	if !reply.Created || restored.Held() {
		t.Error("not released")
	}
	if _, reply = run(t, restored, release()); reply.Created {
		t.Error("released twice")
	}
	if _, reply = run(t, restored, fire(restored, "nightly", 200)); reply.Job == nil {
		t.Error("no job for a tick after the release")
	}
}

// The newest ids of removed members are kept.
func TestRemovedMembersAreBounded(t *testing.T) {
	s := state.New()
	for i := range state.MaxRemoved + 2 {
		s, _ = run(t, s, removeMember(fmt.Sprint("c", i)))
	}
	s, _ = run(t, s, removeMember("c2"))
	if s.Removed("c0") || s.Removed("c1") || !s.Removed("c2") || !s.Removed(fmt.Sprint("c", state.MaxRemoved+1)) {
		t.Error("other members than the oldest were forgotten")
	}
	wantRefused(t, s, removeMember(""), state.Malformed)
}
