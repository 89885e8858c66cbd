package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of what is learned: support vectors are dense, sparse records are filled up.
const (
	maxSparseWidth = 1 << 17
	maxClasses     = 1 << 12
)

// begin begins with f = 0. It checks the parameters that name labels, and what the records are.
func (j job) begin(_ jobs.Arrays, space *features.Space) (jobs.Next, error) {
	if err := j.check(space); err != nil {
		return jobs.Next{}, err
	}
	kernel, err := j.Params.Of(space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	s := newState(space, kernels.NewFunction(kernel, space), j.Params)
	return jobs.Next{Phase: trainName, State: jobs.ArraysOf(s), Trees: []int{1}}, nil
}

func (j job) check(space *features.Space) error {
	labels := space.Labels.List()
	if _, err := j.Params.ClassWeights.By(labels); err != nil {
		return err
	}
	if _, err := j.Params.Costs.Rule(labels); err != nil {
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
