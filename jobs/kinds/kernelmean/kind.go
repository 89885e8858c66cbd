package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
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
		New:     NewMean, Describe: describe.Of(jobs.Load[meanModel], (*meanModel).describe),
		Predict: NewMeanPredictor, Figures: evaluation.Figures}
}

// DensityKind is the Bayes classifier by kernel density estimates.
func DensityKind() jobs.Kind {
	return jobs.Kind{Name: DensityName, UsesQueries: true, Params: params.Of[DensityParams](),
		Summary: "Bayes' rule with a Parzen window density for each class.",
		New:     NewDensity, Describe: describe.Of(jobs.Load[densityModel], (*densityModel).describe),
		Predict: NewDensityPredictor, Figures: evaluation.Figures}
}

// NewMean makes the algorithm of KernelNearestMean.
func NewMean(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[MeanParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	end, err := newEnding(spec, p.StoreBase, NewMeanPredictor, p.Costs, jobs.Load[meanModel])
	if err != nil {
		return nil, err
	}
	model := func(space *features.Space, b *base, _ jobs.Plan) (jobs.Next, error) {
		m, err := newMeanModel(p, space, groupsOf(space, b))
		if err != nil {
			return jobs.Next{}, err
		}
		return jobs.Next{Phase: normsName, State: jobs.ArraysOf(m)}, nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	return append(append(phases, normsPhase(end)), end.Phases()...), nil
}

// NewDensity makes the algorithm of KernelDensityBayes.
func NewDensity(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[DensityParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	end, err := newEnding(spec, p.StoreBase, NewDensityPredictor, p.Costs, jobs.Load[densityModel])
	if err != nil {
		return nil, err
	}
	model := func(space *features.Space, b *base, plan jobs.Plan) (jobs.Next, error) {
		g := groupsOf(space, b)
		m, err := newDensityModel(p, space, g,
			func(y int) float64 { return b.deviation(g.first[y], g.first[y+1], g.weights[y]) })
		if err != nil {
			return jobs.Next{}, err
		}
		return end.End(jobs.Next{State: jobs.ArraysOf(m)}, plan), nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	return append(phases, end.Phases()...), nil
}

// phasesOf are the phases that both kinds begin with; model makes what follows the base.
func phasesOf(spec protocol.JobSpec, params features.Params, model afterBase) (jobs.Phases, error) {
	space, err := features.New(params, spec, baseName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	return jobs.Phases{space, newBasePhase(spec, model).phase()}, nil
}
