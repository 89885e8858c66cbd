package lead

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Read returns a state that holds every write acknowledged before the call. This
// member has applied all of earlier terms (the barrier) and answers a write of its
// own term after applying it, so it is enough that it leads still (confirm).
func (c *Leader) Read(ctx context.Context) (state.State, <-chan struct{}, error) {
	lead, err := c.Leadership()
	if err != nil {
		return state.State{}, nil, err
	}
	if err := c.Confirm(ctx, lead); err != nil {
		return state.State{}, nil, readError(ctx, err)
	}
	if now, err := c.Leadership(); err != nil || now != lead {
		return state.State{}, nil, outcome.ErrNotLeader
	}
	view, changed := c.fsm.View()
	return view, changed, nil
}

// readError: a read that was not confirmed has changed nothing, whatever raft says.
func readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, outcome.ErrShutdown):
		return outcome.ErrShutdown
	}
	return fmt.Errorf("%w, as far as it can tell (%v)", outcome.ErrNotLeader, err)
}

// Agree proposes a command; a refusal is an error.
func (c *Leader) Agree(ctx context.Context, cmd *pb.Command) (state.Reply, error) {
	if _, err := c.Leadership(); err != nil {
		return state.Reply{}, err
	}
	reply, err := c.log.Propose(ctx, cmd)
	switch {
	case err != nil:
		return reply, err
	case reply.Err != nil:
		return reply, reply.Err
	}
	return reply, nil
}

// View returns the state as far as this member knows it, and a channel that is closed when it has changed.
func (c *Leader) View() (state.State, <-chan struct{}) { return c.fsm.View() }

// Wall is the time as this member takes it to be.
func (c *Leader) Wall() time.Time { return c.clock.Wall() }

// Admitted is the time that tokens are judged by.
func (c *Leader) Admitted() time.Time { return c.clock.Admitted() }

// Stopping is closed when calls that wait are to end.
func (c *Leader) Stopping() <-chan struct{} { return c.tasks.Stopping() }
