package lead

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"
)

// Log is how commands get into the log.
type Log struct {
	member      *node.Member
	fsm         *node.FSM
	tasks       *life.Tasks
	clock       *Clock
	trails      audit.Trails
	commits     prometheus.Observer // seconds from proposing to applying
	timeout     time.Duration       // of one proposal
	lowDisk     *atomic.Bool        // the data directory's disk is nearly full
	completions chan pending
}

// Propose puts a command in the log and returns what state made of it. The
// proposer's clock enters here and nowhere else.
func (c *Log) Propose(ctx context.Context, cmd *pb.Command) (state.Reply, error) {
	t, decision := audit.TrailOf(ctx), false
	if t == nil { // nobody called: this leader decided it
		t, decision = &audit.Trail{}, true
		ctx = audit.With(ctx, t)
	}
	reply, err := c.proposeOn(ctx, cmd)
	if decision {
		c.trails.Decided(cmd, reply, t.Index, err)
	}
	return reply, err
}

func (c *Log) proposeOn(ctx context.Context, cmd *pb.Command) (state.Reply, error) {
	if err := c.roomFor(cmd); err != nil {
		return state.Reply{}, err
	}
	cmd.NowUnixMs = c.clock.Wall().UnixMilli()
	entry, err := proto.Marshal(cmd)
	if err != nil {
		return state.Reply{}, fmt.Errorf("encode command: %w", err)
	}
	if len(entry) > outcome.MaxEntryBytes {
		return state.Reply{}, fmt.Errorf("%w; this one has %d", outcome.ErrEntryTooBig, len(entry))
	}
	began := time.Now()
	future := c.member.Raft.Apply(entry, c.timeout)
	if err := c.Await(ctx, future); err != nil {
		return state.Reply{}, err
	}
	c.commits.Observe(time.Since(began).Seconds())
	reply, ok := future.Response().(state.Reply)
	if !ok {
		return state.Reply{}, fmt.Errorf("state machine answered %T", future.Response())
	}
	return reply, nil
}

// Await waits for a raft future, but not longer than the context and the apply timeout.
func (c *Log) Await(ctx context.Context, future raft.Future) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	done := make(chan error, 1)
	if !c.tasks.Go(func() { done <- future.Error() }) {
		return fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, outcome.ErrShutdown)
	}
	select {
	case err := <-done:
		if entry, ok := future.(raft.IndexFuture); ok && err == nil {
			audit.TrailOf(ctx).Entered(entry.Index())
		}
		return raftError(err)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, context.Cause(ctx))
	}
}

func raftError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress),
		errors.Is(err, raft.ErrEnqueueTimeout):
		return fmt.Errorf("%w: %w", outcome.ErrNotLeader, err)
	case errors.Is(err, raft.ErrRaftShutdown):
		return fmt.Errorf("%w: %w", outcome.ErrShutdown, err)
	}
	return fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, err)
}

// roomFor refuses what makes a new job while the disk is nearly full; what was accepted before, and
// everything else, goes on.
func (c *Log) roomFor(cmd *pb.Command) error {
	submit := cmd.GetSubmit()
	if submit == nil || !c.lowDisk.Load() {
		return nil
	}
	if view, _ := c.fsm.View(); view.ClusterID != "" {
		if _, known := view.Job(submit.GetId()); known {
			return nil
		}
	}
	return outcome.Refuse(state.Exhausted, "no new jobs: the coordinator's disk is nearly full; free space in its "+
		"data directory, then submit again")
}
