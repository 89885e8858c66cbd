package nearestmean

import (
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
)

// Params of a job of kind NearestMean.
type Params struct {
	Pairs    bool             `json:"pairs"`
	Costs    evaluation.Costs `json:"costs,omitempty"`
	Features features.Params  `json:"features"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Flag("pairs", &p.Pairs, false).
			Says("Judges the linear rule of every two classes on the test records of these two as well."),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.Features.Section(),
	}
}
