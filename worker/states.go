package worker

import (
	"context"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// heldState is the decoded state of a job's round at work: every task of it loads the same.
type heldState struct {
	named string
	state jobs.Arrays
	size  int64
}

// stateCache bounds the states held by all jobs together. The state that was loaded last
// stays, whatever its size.
type stateCache struct {
	budget int64
	mu     sync.Mutex
	recent []*job // the last loaded last
}

// state returns the decoded state that a task begins with: the round before made it.
func (j *job) state(ctx context.Context, task *pb.Task) (jobs.Arrays, error) {
	ref := task.GetState()
	j.loading.Lock() // so that it is loaded once
	defer j.loading.Unlock()
	name := hex.EncodeToString(ref.GetSha256())
	if held := j.held.Load(); held != nil && held.named == name {
		return held.state, nil
	}
	j.held.Store(nil) // before the next is loaded
	state, err := j.w.getArrays(ctx, j.before(task), ref)
	if err != nil {
		return nil, err
	}
	j.held.Store(&heldState{name, state, ref.GetSize()})
	j.w.states.loaded(j)
	return state, nil
}

// loaded drops the states of the jobs that loaded theirs longest ago, as far as the budget asks.
func (c *stateCache) loaded(j *job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = append(slices.DeleteFunc(c.recent, func(other *job) bool { return other == j }), j)
	total := int64(0)
	for i, other := range slices.Backward(c.recent) {
		if held := other.held.Load(); held != nil {
			total += held.size
		}
		if total > c.budget && i < len(c.recent)-1 {
			c.forget(i + 1)
			return
		}
	}
	c.forget(len(c.recent) - jobsKept)
}

// forget drops the states of the first n jobs.
func (c *stateCache) forget(n int) {
	for _, j := range c.recent[:max(n, 0)] {
		j.held.Store(nil)
	}
	c.recent = slices.Delete(c.recent, 0, max(n, 0))
}

// stateHolder is a job's place for its state.
type stateHolder struct {
	loading sync.Mutex
	held    atomic.Pointer[heldState]
}
