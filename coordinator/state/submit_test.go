package state_test

import (
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
