package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NearestMean"

// Kind is the nearest-mean classifier as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "Decides for the class whose mean is nearest.",
		New:     New, Describe: Describe,
		Predict: NewPredictor, Figures: Figures}
}

type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// New makes the algorithm: phases "features", "means" and, where there are records to judge on, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judged, test, err := evaluation.Judged(spec)
	if err != nil {
		return nil, err
	}
	if p.Pairs && !judged {
		return nil, protocol.SpecFault(
			"spec.params: pairs counts errors on records to judge on: give spec.queries or spec.input.split")
	}
	space, err := features.New(p.Features, spec, meansName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	phases := algorithm{space, meansPhase{p, jobs.TrainingRecords(spec), judged}}
	if judged {
		phases = append(phases, evaluate(p, spec, test))
	}
	return phases, nil
}

// evaluate is the last phase.
func evaluate(params Params, spec protocol.JobSpec, test jobs.Records) jobs.Phase {
	var phase jobs.Phase = &evaluation.Phase{Test: test, Load: NewPredictor, Costs: params.Costs}
	if params.Pairs {
		phase = &pairsPhase{evaluation.Phase{Test: test, Load: NewPredictor, Costs: params.Costs}}
	}
	return evaluation.Over(spec, phase)
}
