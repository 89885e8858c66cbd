package kernelperceptron

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// evaluatePhase judges the model on held-out records of the input, or on the queries.
type evaluatePhase struct {
	jobs.Phase
	queries bool
}

// Map judges one leaf: a shard of the input, or of the queries.
func (p *evaluatePhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	if p.queries {
		leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
			return leaf.Read(ctx, jobs.Queries, leaf.Index)
		}
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

func everyRecord() func(dataset.Identity) bool {
	return func(dataset.Identity) bool { return true }
}

// evaluation is the round after training.
func (j job) evaluation(plan jobs.Plan) (trees []int) {
	if j.queries {
		return []int{plan.QueryShards}
	}
	return nil
}
