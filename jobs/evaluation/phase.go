package evaluation

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Name is the phase's name.
const Name = "evaluate"

// Phase judges the model in the state on the test records; it ends the job with that
// very model. A model that gives labels leaves the metrics "evaluation" (a Report), "evaluation.confusion"
// (a Matrix), "evaluation.mistakes" (a list of Mistake) where there are any and, with Costs, "evaluation.cost" (a
// Cost); one that predicts values leaves "evaluation.regression" (a Regression). Weights of records do not count.
type Phase struct {
	// Test says which records to judge on.
	Test jobs.Records
	// Load makes the predictor of a model; it is used by one goroutine.
	Load func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error)
	// Costs of decisions, nil for none.
	Costs Costs
}

// Name is "evaluate".
func (p *Phase) Name() string { return Name }

// Map counts the decisions on one leaf. Only test records reach the predictor. One without a label, or
// whose label is no number where the model predicts numbers, is a fault with its position.
func (p *Phase) Map(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	predictor, err := p.Load(model, ops)
	if err != nil {
		return nil, nil, err
	}
	judged, chosen, test := NewTally(predictor.Answers()), selection{}, p.Test()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		some := chosen.of(block, test)
		if len(some.IDs) == 0 {
			continue
		}
		outcomes, err := predictor.Predict(ctx, some)
		if err != nil {
			return nil, nil, err
		}
		if err := judged.Add(some, outcomes); err != nil {
			return nil, nil, err
		}
	}
	partial := jobs.Arrays{}
	judged.Put(partial)
	return partial, nil, nil
}

// Merge adds the counts and sums of two neighbours.
func (p *Phase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	sum, err := ReadTally(left)
	if err != nil {
		return nil, err
	}
	other, err := ReadTally(right)
	if err != nil {
		return nil, err
	}
	if err := sum.Merge(other); err != nil {
		return nil, err
	}
	partial := jobs.Arrays{}
	sum.Put(partial)
	return partial, nil
}

// Step ends the job with the model it was given.
func (p *Phase) Step(ctx context.Context, model jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	judged, err := ReadTally(only)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics, err := judged.Metrics(p.Costs)
	return jobs.Next{Done: true, State: model, Metrics: metrics}, err
}
