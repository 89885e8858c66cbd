package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// The kinds in a spec.
const (
	MeanName    = "KernelNearestMean"
	DensityName = "KernelDensityBayes"
)

// MeanKind is the nearest mean in the feature space of a kernel.
func MeanKind() jobs.Kind {
	return jobs.Kind{Name: MeanName, UsesQueries: true, Params: params.Of[MeanParams](),
		Summary: "Decides for the class whose mean in the space of a kernel is nearest.",
		New:     NewMean, Describe: DescribeMean,
		Predict: NewMeanPredictor, Figures: Figures}
}

// DensityKind is the Bayes classifier by kernel density estimates.
func DensityKind() jobs.Kind {
	return jobs.Kind{Name: DensityName, UsesQueries: true, Params: params.Of[DensityParams](),
		Summary: "Bayes' rule with a Parzen window density for each class.",
		New:     NewDensity, Describe: DescribeDensity,
		Predict: NewDensityPredictor, Figures: Figures}
}

// Figures are those of the evaluation: what the model is made of are records.
func Figures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	return evaluation.Figures(metrics)
}

type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// NewMean makes the algorithm of KernelNearestMean.
func NewMean(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[MeanParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judged, test, err := evaluation.Judged(spec)
	if err != nil {
		return nil, err
	}
	if !p.StoreBase {
		return streamMean(p, spec, judged, test)
	}
	model := func(space *features.Space, b *base) (jobs.Next, error) {
		m, err := newMeanModel(p, space, groupsOf(space, b))
		if err != nil {
			return jobs.Next{}, err
		}
		return jobs.Next{Phase: normsName, State: m.arrays()}, nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	phases = append(phases, normsPhase{judged})
	return appendEvaluation(phases, spec, judged,
		&evaluation.Phase{Test: test, Load: NewMeanPredictor, Costs: p.Costs}), nil
}

// NewDensity makes the algorithm of KernelDensityBayes.
func NewDensity(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[DensityParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judged, test, err := evaluation.Judged(spec)
	if err != nil {
		return nil, err
	}
	if !p.StoreBase {
		return streamDensity(p, spec, judged, test)
	}
	model := func(space *features.Space, b *base) (jobs.Next, error) {
		g := groupsOf(space, b)
		m, err := newDensityModel(p, space, g,
			func(y int) float64 { return b.deviation(g.first[y], g.first[y+1], g.weights[y]) })
		if err != nil {
			return jobs.Next{}, err
		}
		next := jobs.Next{State: m.arrays(), Done: !judged}
		if judged {
			next.Phase = evaluation.Name
		}
		return next, nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	return appendEvaluation(phases, spec, judged,
		&evaluation.Phase{Test: test, Load: NewDensityPredictor, Costs: p.Costs}), nil
}

// phasesOf are the phases that both kinds begin with; model makes what follows the base.
func phasesOf(spec protocol.JobSpec, params features.Params, model func(*features.Space, *base) (jobs.Next, error)) (algorithm, error) {
	space, err := features.New(params, spec, baseName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	return algorithm{space, basePhase{jobs.TrainingRecords(spec), spec.Spec.Run.MaxStateBytes, model}}, nil
}

func appendEvaluation(phases algorithm, spec protocol.JobSpec, judged bool, phase jobs.Phase) algorithm {
	if !judged {
		return phases
	}
	return append(phases, evaluation.Over(spec, phase))
}
