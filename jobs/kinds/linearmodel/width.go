package linearmodel

import (
	"math"

	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// checkWidth refuses at submission a width that follows from the spec and is too large for the weights or the solver.
// The width of a job that goes on from a model is that of the model.
func (j job) checkWidth(spec protocol.Spec) error {
	width := j.Params.Features.LeastWidth(spec.Input)
	switch {
	case spec.Model != "":
		return nil
	case width >= min(maxNumbers, math.MaxInt32):
		return protocol.SpecFault("spec.params: vectors of %d columns or more take more than 2^27 weights", width).
			WithHint("Make them narrower: lower features.hashing.bits or features.categories.bits.")
	case j.Params.Solver == newtonName && (width >= 1<<15 || dual.TriangleLen(int(width)+1) > newtonNumbers):
		return protocol.SpecFault("spec.params: solver newton keeps a matrix of %d x %d numbers or more, beyond 2^20 in all",
			width, width).WithHint("Take solver: ascend, or make the vectors narrower.")
	}
	return nil
}

// leastState is a row of weights, which is kept twice: the best and the present ones.
func leastState(spec protocol.JobSpec) int64 {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil || spec.Spec.Model != "" {
		return 0
	}
	width := p.Features.LeastWidth(spec.Spec.Input)
	if width == 0 {
		return 0
	}
	return 2 * 8 * (width + 1) // at most 2^31 columns
}
