package kernelperceptron

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/protocol"
)

// spacePhase finds the space of the training records and begins with f = 0.
type spacePhase struct {
	jobs.Phase
	job
}

// Bounds of what is learned: support vectors are dense, sparse records are filled up.
const (
	maxSparseWidth = 1 << 17
	maxClasses     = 1 << 12
)

// Step checks the parameters that name labels, and what the records are.
func (p *spacePhase) Step(ctx context.Context, begin jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	next, err := p.Phase.Step(ctx, begin, round)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := features.ReadSpace(next.State)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := p.check(space); err != nil {
		return jobs.Next{}, err
	}
	kernel, err := p.params.Of(space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	s := newState(space, kernels.NewFunction(kernel, space), p.params)
	next.State, next.Trees = jobs.ArraysOf(s), []int{1}
	return next, nil
}

func (p *spacePhase) check(space *features.Space) error {
	labels := space.Labels.List()
	if _, err := p.params.ClassWeights.By(labels); err != nil {
		return err
	}
	if _, err := p.params.Costs.Rule(labels); err != nil {
		return err
	}
	if space.Sparse && space.Width > maxSparseWidth || len(labels) > maxClasses {
		return protocol.InputFault(protocol.CodeInputLimit,
			"%d columns and %d classes are too many: %s takes up to %d columns of sparse vectors, which it fills "+
				"up, and %d classes",
			space.Width, len(labels), KindName, maxSparseWidth, maxClasses).
			WithHint("Make the vectors narrower (for text: max_features, min_df); kind Perceptron takes any width.")
	}
	return nil
}
