package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// How many leaves there are for each one that is computed again by another kernel set; the worker's first leaf is one
// of those. The generic set is many times slower than the others.
const (
	checkEvery        = 200
	checkEveryGeneric = 2000
)

// selfCheck says which leaves a worker computes twice itself. It finds a vector unit that is broken, not a worker
// that lies.
type selfCheck struct {
	ops    *kernelops.Set // nil where this machine runs one set only
	every  uint64
	leaves atomic.Uint64
}

// newSelfCheck takes the set that is next to the worker's among all that run here, slowest first.
func newSelfCheck(own *kernelops.Set, all []*kernelops.Set) *selfCheck {
	c := &selfCheck{every: checkEvery}
	for i, set := range all {
		switch {
		case set.Name != own.Name:
		case i > 0:
			c.ops = all[i-1]
		case len(all) > 1:
			c.ops = all[1]
		}
	}
	if c.ops != nil && c.ops.Name == kernelops.Generic().Name {
		c.every = checkEveryGeneric
	}
	return c
}

// name is that of the set that leaves are computed with again; "" means that this machine runs one set only.
func (c *selfCheck) name() string {
	if c == nil || c.ops == nil {
		return ""
	}
	return c.ops.Name
}

func (c *selfCheck) due() bool { return c.ops != nil && (c.leaves.Add(1)-1)%c.every == 0 }

// checkLeaf computes a leaf again with another kernel set, now and then: two results are this machine's fault, and the
// task is another's.
func (n *nodeTask) checkLeaf(ctx context.Context, leaf jobs.Leaf, carry, partial, carried jobs.Arrays) error {
	if n.job.check == nil || n.task.GetId().GetAgain() || !n.job.w.checker.due() {
		return nil
	}
	n.checked++
	leaf.Emit, leaf.Memo, leaf.MemoOf = digestOnly, nil, nil // what is remembered is checked, too
	again, carriedAgain, err := n.job.check.Map(ctx, n.task.GetPhase(), n.state, leaf, carry)
	if err != nil {
		return n.placed(err)
	}
	if bytes.Equal(partial.Encode(), again.Encode()) && bytes.Equal(carried.Encode(), carriedAgain.Encode()) {
		return nil
	}
	return protocol.TaskFault(protocol.CodeDeterminism,
		"leaf %d has one result with the kernels %s and another with %s: this machine computes wrongly", leaf.Index,
		n.job.w.cfg.Ops.Name, n.job.w.checker.ops.Name).
		WithHint("Take the worker's machine out of service.")
}

// digestOnly is what emitting a file says, without writing it.
func digestOnly(_ context.Context, name string, data []byte) (jobs.File, error) {
	sum := sha256.Sum256(data)
	return jobs.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}, nil
}

// with returns what computes a task, and what takes its files. A task that is made again is computed with the worker's
// other kernel set; its files are not written, since those of the first time exist.
func (j *job) with(task *pb.Task) (*run.Tasks, jobs.Emit, error) {
	if !task.GetId().GetAgain() {
		return j.tasks, j.output.emit, nil
	}
	if j.check == nil {
		return nil, nil, fmt.Errorf("the coordinator asks for a second kernel set, and this machine runs %s alone",
			j.w.cfg.Ops.Name)
	}
	return j.check, digestOnly, nil
}
