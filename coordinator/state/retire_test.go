package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// canceled is a state with n jobs that have ended, and their ids.
func canceled(t *testing.T, n int) (s state.State, ids []string) {
	t.Helper()
	s = state.New()
	for i := range n {
		ids = append(ids, fmt.Sprintf("j%03d", i))
		s, _ = run(t, s, submit(ids[i], "h"), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: ids[i]}}})
	}
	return s, ids
}

func markSwept(ended, retired []string) *pb.Command {
	return &pb.Command{Body: &pb.Command_MarkSwept{MarkSwept: &pb.MarkSwept{Ended: ended, Retired: retired}}}
}

// One entry retires, or marks as swept, MaxUpkeep jobs at most.
func TestUpkeepIsBounded(t *testing.T) {
	const most = state.MaxUpkeep
	s, ids := canceled(t, most+1)
	refused(t, s, retire(1<<40, 1), state.Malformed, "retires 1 to 256 jobs")
	refused(t, s, retire(1<<40, 1, ids...), state.Malformed, "this one has 257")
	refused(t, s, markSwept(nil, nil), state.Malformed, "marks 1 to 256 jobs")
	refused(t, s, markSwept(ids, nil), state.Malformed, "not 257")
	refused(t, s, markSwept(ids[:most], ids[most:]), state.Malformed, "not 257")
	byHand := retire(1<<40, 1, ids[:2]...)
	byHand.GetRetireJobs().ByHand = true
	refused(t, s, byHand, state.Malformed, "by hand one")
	run(t, s, markSwept(ids[:most], nil))
	s, reply := run(t, s, retire(1<<40, 1, ids[:most]...))
	if len(reply.Retired) != most || s.JobCount() != 1 {
		t.Fatalf("%d jobs are retired, %d are left", len(reply.Retired), s.JobCount())
	}
	s, _ = run(t, s, markSwept(ids[most:], ids[:1])) // one of each
	if gone, _ := s.Retired.Get(ids[0]); !gone.Swept {
		t.Error("the retired job is not marked")
	}
	if job, _ := s.Job(ids[most]); !job.Swept {
		t.Error("the ended job is not marked")
	}
	run(t, s, markSwept(ids[most:], ids[:most-1]))
}

// More retired jobs than one entry may forget are due at once: the next entry forgets the rest.
func TestOneEntryForgetsABoundedNumber(t *testing.T) {
	const most = state.MaxUpkeep
	s, ids := canceled(t, most+3)
	s, _ = run(t, s, retire(5000, 1, ids[:most]...), retire(5000, 1, ids[most:]...),
		markSwept(nil, ids[:most]), markSwept(nil, ids[most:most+2]))
	for i, want := range []int{3, 1, 1} { // the last was not swept
		if s, _ = run(t, s, retire(5001+30*day, 1, "none")); s.Retired.Count() != want {
			t.Errorf("entry %d leaves %d retired jobs, want %d", i+1, s.Retired.Count(), want)
		}
	}
	if _, known := s.Retired.Get(ids[most+2]); !known {
		t.Error("a job was forgotten before it was swept")
	}
}

// A member's id has 1 to 128 bytes.
func TestRemovedIDsAreBounded(t *testing.T) {
	longest := strings.Repeat("c", 128)
	if s, _ := run(t, state.New(), removeMember(longest), removeMember("c")); !s.Removed(longest) || !s.Removed("c") {
		t.Error("a member with a long id, or a short one, is not removed")
	}
	refused(t, state.New(), removeMember(longest+"c"), state.Malformed, "1 to 128 bytes")
	refused(t, state.New(), removeMember(""), state.Malformed, "1 to 128 bytes")
}
