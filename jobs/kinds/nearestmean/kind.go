package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NearestMean"

// Kind is the nearest-mean classifier as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, Params: params.Of[Params](),
		Summary: "Decides for the class whose mean is nearest.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe),
		Predict: NewPredictor, Figures: jobs.FiguresOf(jobs.Load[model], (*model).figures)}
}

// New returns the algorithm: phases "features", "means" and, if there are test records, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	j, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	if j.Params.Pairs && !j.Judge.Judges() {
		return nil, protocol.SpecFault(
			"spec.params: pairs counts errors on records to judge on: give spec.queries or spec.input.split")
	}
	space, err := features.New(j.Params.Features, spec, meansName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	phases := jobs.Phases{space, meansPhase{j}.phase()}
	if j.Params.Pairs {
		return append(append(phases, onevsone.Phase(j.Judge, NewPredictor)), j.Judge.Further()...), nil
	}
	phases = append(phases, j.Judge.Phases()...)
	if !j.Params.Features.OneRound() {
		return phases, nil
	}
	return j.Judge.OnceEach(phases), nil
}

// Params of a job of kind NearestMean.
type Params struct {
	Pairs       bool                 `json:"pairs"`
	Costs       evaluation.Costs     `json:"costs,omitempty"`
	RejectBelow evaluation.Rejection `json:"reject_below,omitempty"`
	Features    features.Params      `json:"features"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Flag("pairs", &p.Pairs, false).
			Says("Judges the linear rule of every two classes on the test records of these two as well."),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.RejectBelow.Parameter(),
		p.Features.Section(),
	}
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error { return p.RejectBelow.Check(p.Costs, "", true) }
