package state_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// objects are what a state refers to, as "what round/digest", until most are visited.
func objects(s state.State, most int) (all []string) {
	s.EachObject(func(o state.Object) bool {
		all = append(all, fmt.Sprint(o.What, " ", o.Round, "/", o.Ref.SHA256[31]))
		return len(all) < most
	})
	return all
}

// A job that goes on reads what its open round is made from, the report is made of the same: when it has succeeded
// its outputs are all that is left, and people may look at what the report was made of.
func TestWhatAJobRefersTo(t *testing.T) {
	s := twoRounds(t)
	open := []string{"manifest 0/1", "plan 0/2", "state 1/7", "partial 2/20", "carry 1/13"}
	for most := 1; most <= len(open); most++ {
		if got := objects(s, most); !slices.Equal(got, open[:most]) {
			t.Errorf("round 2 is open, up to %d objects: %q, want %q", most, got, open[:most])
		}
	}
	s = wantVerdict(t, s, node("a", 2, 0, 2, 0, 21), accepted)
	s = wantVerdict(t, s, step("a", 2, &pb.Next{Done: true, State: ref(30), Course: ref(31), Metrics: ref(32)}),
		accepted)
	reporting := []string{
		"manifest 0/1", "plan 0/2", "state 1/7", "model 2/30", "timeline 2/31", "partial 2/21", "carry 1/13",
		"metrics 2/32",
	}
	if got := objects(s, 99); !slices.Equal(got, reporting) {
		t.Errorf("the report is due: %q, want %q", got, reporting)
	}
	if !refersTo(s, 1, 7) {
		t.Error("nobody refers to the state that the open round reads")
	}
	s = wantVerdict(t, s, report("a"), accepted)
	if got := objects(s, 99); !slices.Equal(got, []string{"model.safetensors 0/9"}) {
		t.Errorf("it has succeeded: %q", got)
	}
	if refersTo(s, 1, 7) || !refersTo(s, 2, 30) {
		t.Error("the state of the last round is referred to still, or the model is not")
	}
}
