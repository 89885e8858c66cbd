package evaluation

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Name names the phase that judges.
const Name = "evaluate"

// Load makes the predictor of a model; it is used by one goroutine.
type Load func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error)

// Judge judges a job's model on the records that its split holds out, or on all of its queries; on none where the spec
// has neither. A model that gives labels leaves the metrics "evaluation" (a Report), "evaluation.confusion" (a Matrix),
// "evaluation.mistakes" (a list of Mistake) where there are any and, with costs, "evaluation.cost" (a Cost); one that
// predicts values leaves "evaluation.regression" (a Regression). Weights of records do not count.
type Judge struct {
	test    jobs.Records // nil where there is no record to judge on
	queries bool         // the records are those of spec.queries
	load    Load
	costs   Costs // nil for none
}

// JudgeOf returns the judge of a spec. A split and queries at once are a *protocol.Fault of CodeSpecInvalid.
func JudgeOf(spec protocol.JobSpec, load Load, costs Costs) (Judge, error) {
	split, queries := spec.Spec.Input.Split.Test > 0, spec.Spec.Queries != nil
	j := Judge{queries: queries, load: load, costs: costs}
	switch {
	case split && queries:
		return Judge{}, protocol.SpecFault(
			"spec.queries and spec.input.split both give records to judge the model on; leave one out")
	case queries:
		j.test = everyRecord
	case split:
		j.test = jobs.TestRecords(spec)
	}
	return j, nil
}

func everyRecord() func(dataset.Identity) bool {
	return func(dataset.Identity) bool { return true }
}

// Judges reports whether there are records to judge on.
func (j Judge) Judges() bool { return j.test != nil }

// Test says which records to judge on; nil for none.
func (j Judge) Test() jobs.Records { return j.test }

// End ends the training with the model in next.State: the job ends, or its model is judged.
func (j Judge) End(next jobs.Next, plan jobs.Plan) jobs.Next {
	if !j.Judges() {
		next.Done = true
		return next
	}
	next.Phase = Name
	if plan.QueryShards > 0 {
		next.Trees = []int{plan.QueryShards}
	}
	return next
}

// Phases returns the phase that judges, or none. It ends the job with the model it was given.
func (j Judge) Phases() []jobs.Phase {
	if !j.Judges() {
		return nil
	}
	return []jobs.Phase{jobs.MapReduce[jobs.Arrays, *Tally]{
		Name: Name, State: jobs.Itself, Partial: func() *Tally { return new(Tally) },
		Map: j.Count, Merge: (*Tally).Plus, Step: j.Finish,
	}.Phase()}
}

// Count counts the decisions on one leaf. Only test records reach the predictor. One without a label, or
// whose label is no number where the model predicts numbers, is a fault with its position.
func (j Judge) Count(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*Tally, error) {
	predictor, err := j.load(model, ops)
	if err != nil {
		return nil, err
	}
	judged, chosen, test := NewTally(predictor.Answers()), selection{}, j.test()
	for block, err := range j.blocks(ctx, leaf) {
		if err != nil {
			return nil, err
		}
		some := chosen.of(block, test)
		if len(some.IDs) == 0 {
			continue
		}
		outcomes, err := predictor.Predict(ctx, some)
		if err != nil {
			return nil, err
		}
		if err := judged.Add(some, outcomes); err != nil {
			return nil, err
		}
	}
	return judged, nil
}

func (j Judge) blocks(ctx context.Context, leaf jobs.Leaf) iter.Seq2[*dataset.Block, error] {
	if j.queries {
		return leaf.Read(ctx, jobs.Queries, leaf.Index)
	}
	return leaf.Blocks(ctx)
}

// Finish ends the job with the model it was given.
func (j Judge) Finish(_ context.Context, model jobs.Arrays, judged *Tally, _ jobs.Round) (jobs.Next, error) {
	metrics, err := judged.Metrics(j.costs)
	return jobs.Next{Done: true, State: model, Metrics: metrics}, err
}

// Loading returns the judge with another way to load the model.
func (j Judge) Loading(load Load) Judge {
	j.load = load
	return j
}
