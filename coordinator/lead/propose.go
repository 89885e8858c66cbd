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
	completions chan pendingCompletion
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

// maxCompletions bounds the completions of one entry.
const maxCompletions = 256

// pendingCompletion is a completion on its way into the log.
type pendingCompletion struct {
	completion *pb.Completion
	size       int
	done       chan<- completionResult
}

type completionResult struct {
	verdict pb.Verdict
	err     error
}

// CommitGroups takes the completions that arrived while the last entry was
// committing and commits them as one entry: no timer, and never a write per
// completion under load.
func (c *Log) CommitGroups(ctx context.Context) {
	var left *pendingCompletion // what did not fit the last entry
	for {
		var group []pendingCompletion
		if left != nil {
			group, left = c.gather(*left)
		} else {
			select {
			case first := <-c.completions:
				group, left = c.gather(first)
			case <-ctx.Done():
				return
			}
		}
		c.commitGroup(ctx, group)
	}
}

// gather adds what waits already, up to the limits of one entry.
func (c *Log) gather(first pendingCompletion) (group []pendingCompletion, left *pendingCompletion) {
	group, size := []pendingCompletion{first}, first.size
	for len(group) < maxCompletions {
		select {
		case next := <-c.completions:
			if size += next.size; size > outcome.MaxEntryBytes-1024 {
				return group, &next
			}
			group = append(group, next)
		default:
			return group, nil
		}
	}
	return group, nil
}

func (c *Log) commitGroup(ctx context.Context, group []pendingCompletion) {
	list := make([]*pb.Completion, len(group))
	for i, p := range group {
		list[i] = p.completion
	}
	complete := &pb.CompleteTasks{Completions: list}
	reply, err := c.Propose(ctx, &pb.Command{Body: &pb.Command_Complete{Complete: complete}})
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	for i, p := range group {
		result := completionResult{err: err}
		if err == nil {
			result.verdict = reply.Verdicts[i]
		}
		p.done <- result
	}
}

// Complete commits one completion; it may share its log entry with others.
func (c *Log) Complete(ctx context.Context, completion *pb.Completion) (pb.Verdict, error) {
	done := make(chan completionResult, 1)
	pending := pendingCompletion{completion: completion, size: proto.Size(completion) + 8, done: done}
	if pending.size > outcome.MaxEntryBytes/2 {
		return 0, fmt.Errorf("%w; this completion has %d", outcome.ErrEntryTooBig, pending.size)
	}
	select {
	case c.completions <- pending:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-c.tasks.Stopping():
		return 0, outcome.ErrShutdown
	}
	select {
	case result := <-done:
		return result.verdict, result.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, ctx.Err())
	case <-c.tasks.Stopping():
		return 0, fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, outcome.ErrShutdown)
	}
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
