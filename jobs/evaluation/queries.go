package evaluation

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// OnQueries has a phase read the records of spec.queries in place of those of spec.input.
type OnQueries struct{ jobs.Phase }

// Map gives the phase the shard of queries whose number is the leaf's.
func (p OnQueries) Map(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return leaf.Read(ctx, jobs.Queries, leaf.Index)
	}
	return p.Phase.Map(ctx, model, leaf, carry, ops)
}

// Over is a phase that judges a model, over spec.queries where there are any.
func Over(spec protocol.JobSpec, phase jobs.Phase) jobs.Phase {
	if spec.Spec.Queries == nil {
		return phase
	}
	return OnQueries{phase}
}

// Judged says whether a spec has records to judge a model on, those that its split holds out or
// all of its queries, and which they are. Both at once are a *protocol.Fault of CodeSpecInvalid.
func Judged(spec protocol.JobSpec) (judged bool, test jobs.Records, err error) {
	split, queries := spec.Spec.Input.Split.Test > 0, spec.Spec.Queries != nil
	switch {
	case split && queries:
		return false, nil, protocol.SpecFault(
			"spec.queries and spec.input.split both give records to judge the model on; leave one out")
	case queries:
		return true, everyRecord, nil
	}
	return split, jobs.TestRecords(spec), nil
}

func everyRecord() func(dataset.Identity) bool {
	return func(dataset.Identity) bool { return true }
}

// After begins the evaluation: the round after that of a step, over the shards of queries where there are any.
func After(next jobs.Next, plan jobs.Plan) jobs.Next {
	next.Done, next.Phase, next.Trees = false, Name, nil
	if plan.QueryShards > 0 {
		next.Trees = []int{plan.QueryShards}
	}
	return next
}
