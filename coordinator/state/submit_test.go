package state_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A spec and the jobs it needs are bounded: at the bound a job is accepted, one beyond it is not.
func TestSubmitsAreBounded(t *testing.T) {
	s, _ := run(t, state.New(), submit("b", "h"))
	sized := func(bytes, needs int) *pb.Command {
		cmd := submit("a", "h")
		cmd.GetSubmit().SpecJson, cmd.GetSubmit().Needs = make([]byte, bytes), slices.Repeat([]string{"b"}, needs)
		return cmd
	}
	run(t, s, sized(protocol.MaxSpecBytes, protocol.MaxNeeds))
	refused(t, s, sized(protocol.MaxSpecBytes+1, 0), state.Malformed, "has 65537 bytes; at most 65536")
	refused(t, s, sized(0, protocol.MaxNeeds+1), state.Malformed, "needs 17 jobs; at most 16")
}

// One token takes its nine tenths, another the rest. What is refused then says why: for the first token it is its share, for
// all when nothing is left that the queue is full.
func TestARefusalForWantOfRoomSaysWhy(t *testing.T) {
	s := state.New()
	of := func(id, token string) *pb.Command {
		cmd := submit(id, "h")
		cmd.GetSubmit().SubmittedBy = token
		return cmd
	}
	room := func(greedy, others, nobody int) {
		t.Helper()
		if g, o, n := s.Room("greedy"), s.Room("other"), s.Room(""); g != greedy || o != others || n != nobody {
			t.Errorf("of %d jobs there is room for %d, %d and %d more, want %d, %d and %d", s.ActiveCount(), g, o, n, greedy, others, nobody)
		}
	}
	room(900, 900, 1000)
	for i := range state.MaxActiveOfToken {
		s, _ = run(t, s, of(fmt.Sprint("g", i), "greedy"))
	}
	room(0, 100, 100)
	refused(t, s, of("more", "greedy"), state.Exhausted, "900 jobs of this token have not ended, and the last 100 places are for others")
	for i := range state.MaxActiveJobs - state.MaxActiveOfToken - 1 {
		s, _ = run(t, s, of(fmt.Sprint("o", i), "other"))
	}
	room(0, 1, 1)
	s, _ = run(t, s, of("last", ""))
	room(0, 0, 0)
	for _, token := range []string{"greedy", "other", ""} {
		refused(t, s, of("more", token), state.Exhausted, "1000 jobs have not ended")
	}
}
