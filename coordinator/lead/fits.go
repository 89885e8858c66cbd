package lead

import (
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Fits refuses a new job that is known to be larger than the memory of every worker there is. Without workers
// it is accepted; what shows only when the input was read, the job waits for, and in the end fails by.
func (c *Leader) Fits(cmd *pb.SubmitJob) error {
	lead, err := c.Leadership()
	if err != nil || c.cfg.LeastState == nil {
		return err
	}
	if view, _ := c.fsm.View(); known(view, cmd.GetId()) {
		return nil // a repeated call
	}
	spec, err := protocol.ParseSpec(cmd.GetSpecJson())
	if err != nil {
		return err
	}
	least := c.cfg.LeastState(spec)
	lead.mu.Lock()
	largest, tooMuch := lead.board.Fit.TooMuch(least, c.clock.Mono())
	lead.mu.Unlock()
	if !tooMuch {
		return nil
	}
	return outcome.Refuse(state.Exhausted, "the model of this job takes at least %d MiB, and the largest worker "+
		"plans with %d: start a worker with more memory (--memory) first, or make the model smaller",
		least>>20, largest>>20)
}

func known(view state.State, id string) bool {
	_, ok := view.Job(id)
	return ok
}
