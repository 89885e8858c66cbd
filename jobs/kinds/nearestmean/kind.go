package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
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

// New returns the algorithm: phases "features", "means" and, if there are test records, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judge, err := evaluation.JudgeOf(spec, NewPredictor, p.Costs)
	if err != nil {
		return nil, err
	}
	if p.Pairs && !judge.Judges() {
		return nil, protocol.SpecFault(
			"spec.params: pairs counts errors on records to judge on: give spec.queries or spec.input.split")
	}
	space, err := features.New(p.Features, spec, meansName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	phases := algorithm{space, meansPhase{p, jobs.TrainingRecords(spec), judge}.phase()}
	if p.Pairs {
		return append(phases, pairsPhase{judge}.phase()), nil
	}
	return append(phases, judge.Phases()...), nil
}
