package clustertest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// garblingPhase makes results, when lies says so, that no other task can read.
type garblingPhase struct {
	jobs.Phase
	lies func() bool
}

func (p garblingPhase) garbled(a jobs.Arrays) jobs.Arrays {
	if len(a) == 0 || !p.lies() {
		return a
	}
	garbage := jobs.Arrays{}
	jobs.PutScalar(garbage, "garbage", int64(1))
	return garbage
}

func (p garblingPhase) Map(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (jobs.Arrays, jobs.Arrays, error) {
	partial, carried, err := p.Phase.Map(ctx, state, leaf, carry, ops)
	return p.garbled(partial), carried, err
}

func (p garblingPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	next, err := p.Phase.Step(ctx, state, round)
	if !next.Done {
		next.State = p.garbled(next.State)
	}
	return next, err
}

// Now and then a worker makes what nobody can read. That is made again, and the model is right, with audits and
// without.
func TestWhatNobodyCanReadIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, audit := range []string{"0", "0.01"} {
		t.Run(audit, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 12)
			lies := oneIn(6) // of all jobs: a job alone has some six tasks for each worker
			b.KindsWith(withPhases(pairsKind(), func(p jobs.Phase) jobs.Phase { return garblingPhase{p, lies} }))
			b.Work(t, "liar", 1, kernelops.Generic())
			b.KindsWith(pairsKind())
			for i := range 2 {
				b.Work(t, fmt.Sprint("w", i), 1, kernelops.Generic())
			}
			remade := uint64(0)
			for i := 0; i < 3 || i < 30 && remade == 0 && audit == "0"; i++ {
				remade += b.succeeds(t, fmt.Sprint("j", i), audit).GetCounters().GetRemade().GetTasks()
			}
			if remade == 0 && audit == "0" { // audits may convict the liar before anybody reads what it made
				t.Error("nothing was made again")
			}
		})
	}
}

// A fold that cannot be made of right results either fails its job, by the reason that the workers gave.
func TestWhatCanNeverBeReadFailsTheJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	b.KindsWith(withPhases(pairsKind(), func(p jobs.Phase) jobs.Phase { return garblingPhase{p, always} }))
	for i := range 2 {
		b.Work(t, fmt.Sprint("w", i), 1, kernelops.Generic())
	}
	b.Submit(t, "a", auditSpec(5, "0"))
	job := b.Wait(t, "a")
	if job.GetState() != pb.JobState_JOB_STATE_FAILED || job.GetFailure().GetCode() != "CORRUPT" {
		t.Errorf("%v, %v", job.GetState(), job.GetFailure())
	}
	if n := job.GetCounters().GetRemade().GetChanges(); n != state.MaxUnreadable {
		t.Errorf("made again %d times", n)
	}
}
