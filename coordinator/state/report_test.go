package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What a report tells of a job stands still while it is made: two attempts write the same bytes, whichever is the
// last to write and whichever is committed.
func TestCountersStandStillForTheReport(t *testing.T) {
	s := running(t, 1)
	done := step("a", 1, &pb.Next{Done: true, State: ref(8)})
	s, _ = run(t, s, completions(node("a", 1, 0, 0, 0, 10)), completions(done))
	before, _ := s.Job("a")
	if !before.Reporting() {
		t.Fatal("the report is not due")
	}
	late := node("a", 1, 0, 0, 0, 10)
	for _, c := range []*pb.Completion{done, late, node("a", 1, 0, 0, 0, 11)} {
		c.SpeculativeCopies = &pb.SpeculativeCopies{Launched: 1, Wasted: 1}
		s, _ = run(t, s, completions(c))
	}
	after, _ := s.Job("a")
	if before.Counters != after.Counters {
		t.Errorf("counters %+v became %+v", before.Counters, after.Counters)
	}
	end := report("a")
	end.SpeculativeCopies = &pb.SpeculativeCopies{Launched: 1, Won: 1}
	var ended *state.Job
	s, _ = run(t, s, completions(end))
	if ended, _ = s.Job("a"); ended.Counters.Committed != before.Counters.Committed+1 ||
		ended.Counters.SpeculativeWon != 1 {
		t.Errorf("with the report: %+v", ended.Counters)
	}
}
