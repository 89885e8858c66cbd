package lead

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

const (
	// maxCompletions bounds the completions of one entry.
	maxCompletions = 256
	// entryHead is room for what an entry has besides completions.
	entryHead = 1024
)

// pending is completions of one call on their way into the log. They share an entry, with those of other calls.
type pending struct {
	completions []*pb.Completion
	size        int
	done        chan<- committed
}

// committed is what became of pending completions.
type committed struct {
	verdicts []pb.Verdict
	err      error
}

// CommitGroups takes the completions that arrived while the last entry was
// committing and commits them as one entry: no timer, and never a write per
// completion under load.
func (c *Log) CommitGroups(ctx context.Context) {
	var left *pending // what did not fit the last entry
	for {
		var group []pending
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
func (c *Log) gather(first pending) (group []pending, left *pending) {
	group, size, count := []pending{first}, first.size, len(first.completions)
	for count < maxCompletions {
		select {
		case next := <-c.completions:
			size, count = size+next.size, count+len(next.completions)
			if size > outcome.MaxEntryBytes-entryHead || count > maxCompletions {
				return group, &next
			}
			group = append(group, next)
		default:
			return group, nil
		}
	}
	return group, nil
}

func (c *Log) commitGroup(ctx context.Context, group []pending) {
	var list []*pb.Completion
	for _, p := range group {
		list = append(list, p.completions...)
	}
	complete := &pb.CompleteTasks{Completions: list}
	reply, err := c.Propose(ctx, &pb.Command{Body: &pb.Command_Complete{Complete: complete}})
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	verdicts := reply.Verdicts
	for _, p := range group {
		if err != nil {
			p.done <- committed{err: err}
			continue
		}
		n := len(p.completions)
		p.done <- committed{verdicts: verdicts[:n:n]}
		verdicts = verdicts[n:]
	}
}

// Complete commits completions and returns a verdict on each. They may share their log entry with others; it takes
// several entries only where they are too large for one. A completion that is too large for any is invalid. With an
// error the first verdicts may be known: the rest is 0.
func (c *Log) Complete(ctx context.Context, completions ...*pb.Completion) ([]pb.Verdict, error) {
	verdicts := make([]pb.Verdict, len(completions))
	var part pending
	var at []int // where the verdicts of the part belong
	flush := func() error {
		found, err := c.completePart(ctx, part)
		for i, v := range found {
			verdicts[at[i]] = v
		}
		part, at = pending{}, nil
		return err
	}
	for i, completion := range completions {
		size := proto.Size(completion) + 8
		if size > outcome.MaxEntryBytes/2 {
			verdicts[i] = pb.Verdict_VERDICT_INVALID
			continue
		}
		if part.size+size > outcome.MaxEntryBytes-entryHead || len(at) == maxCompletions {
			if err := flush(); err != nil {
				return verdicts, err
			}
		}
		part.completions, part.size, at = append(part.completions, completion), part.size+size, append(at, i)
	}
	return verdicts, flush()
}

func (c *Log) completePart(ctx context.Context, part pending) ([]pb.Verdict, error) {
	if len(part.completions) == 0 {
		return nil, nil
	}
	done := make(chan committed, 1)
	part.done, part.completions = done, slices.Clip(part.completions)
	select {
	case c.completions <- part:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.tasks.Stopping():
		return nil, outcome.ErrShutdown
	}
	select {
	case result := <-done:
		return result.verdicts, result.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, ctx.Err())
	case <-c.tasks.Stopping():
		return nil, fmt.Errorf("%w: %w", outcome.ErrUnknownOutcome, outcome.ErrShutdown)
	}
}
