package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
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
	return evaluation.Figures(nil, metrics)
}

type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// NewMean makes the algorithm of KernelNearestMean.
func NewMean(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[MeanParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judge, err := evaluation.JudgeOf(spec, NewMeanPredictor, p.Costs)
	if err != nil {
		return nil, err
	}
	if !p.StoreBase {
		return streamMean(p, spec, judge)
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
	return append(append(phases, normsPhase(judge)), judge.Phases()...), nil
}

// NewDensity makes the algorithm of KernelDensityBayes.
func NewDensity(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[DensityParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judge, err := evaluation.JudgeOf(spec, NewDensityPredictor, p.Costs)
	if err != nil {
		return nil, err
	}
	if !p.StoreBase {
		return streamDensity(p, spec, judge)
	}
	model := func(space *features.Space, b *base, plan jobs.Plan) (jobs.Next, error) {
		g := groupsOf(space, b)
		m, err := newDensityModel(p, space, g,
			func(y int) float64 { return b.deviation(g.first[y], g.first[y+1], g.weights[y]) })
		if err != nil {
			return jobs.Next{}, err
		}
		return judge.End(jobs.Next{State: jobs.ArraysOf(m)}, plan), nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	return append(phases, judge.Phases()...), nil
}

// phasesOf are the phases that both kinds begin with; model makes what follows the base.
func phasesOf(spec protocol.JobSpec, params features.Params, model afterBase) (algorithm, error) {
	space, err := features.New(params, spec, baseName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	return algorithm{space, newBasePhase(spec, model).phase()}, nil
}

// newStream returns what the phases of a job that does not hold its base share: the first, and the decisions.
func newStream(
	spec protocol.JobSpec, params features.Params, judge evaluation.Judge, costs evaluation.Costs,
) (jobs.Phase, deciding, error) {
	if !judge.Judges() {
		return nil, deciding{}, protocol.SpecFault(
			"spec.params: without queries and split there is nothing to decide; set store_base for a model that " +
				"predicts")
	}
	d := deciding{pairwise.Sides{Base: jobs.TrainingRecords(spec)}, costs, spec.Spec.Run.MaxStateBytes}
	if spec.Spec.Queries == nil {
		d.Own = judge.Test()
	}
	space, err := features.New(params, spec, classesName, features.Classes(2), features.Compares())
	return space, d, err
}

// streamMean is KernelNearestMean without its base in memory.
func streamMean(params MeanParams, spec protocol.JobSpec, judge evaluation.Judge) (jobs.Algorithm, error) {
	space, d, err := newStream(spec, params.Features, judge, params.Costs)
	if err != nil {
		return nil, err
	}
	linear := params.Kernel == kernels.Linear
	next := func(space *features.Space, means *totals, plan jobs.Plan) (jobs.Next, error) {
		m, err := newMeanModel(params, space, unstored(space, means.Weight))
		if err != nil {
			return jobs.Next{}, err
		}
		if !linear {
			return jobs.Next{Phase: pairsName, State: jobs.ArraysOf(m), Trees: triangle(plan.Shards)}, nil
		}
		for y := range m.norms {
			m.norms[y] = squaredNorm(means.Of(y))
		}
		return d.begin(m, plan), nil
	}
	phases := algorithm{space, classesPhase{d.Base, d.maxState, linear, next}.phase(),
		pairsPhase{d.Base, func(m *meanModel, plan jobs.Plan) jobs.Next { return d.begin(m, plan) }}.phase()}
	return append(phases, decidePhases(d, loadMean, func() *meanSums { return new(meanSums) },
		(*meanSums).plus)...), nil
}

func squaredNorm(mean []float64) float64 {
	sum := 0.0
	for _, v := range mean {
		sum += float64(v * v)
	}
	return sum
}

// streamDensity is KernelDensityBayes without its base in memory.
func streamDensity(params DensityParams, spec protocol.JobSpec, judge evaluation.Judge) (jobs.Algorithm, error) {
	space, d, err := newStream(spec, params.Features, judge, params.Costs)
	if err != nil {
		return nil, err
	}
	byRule := params.Bandwidth == 0
	last := func(space *features.Space, weights, deviations []float64, plan jobs.Plan) (jobs.Next, error) {
		m, err := newDensityModel(params, space, unstored(space, weights), func(y int) float64 { return deviations[y] })
		if err != nil {
			return jobs.Next{}, err
		}
		return d.begin(m, plan), nil
	}
	next := func(space *features.Space, found *totals, plan jobs.Plan) (jobs.Next, error) {
		if !byRule {
			return last(space, found.Weight, nil, plan)
		}
		return jobs.Next{Phase: spreadName, State: jobs.ArraysOf(&means{space, *found})}, nil
	}
	phases := algorithm{space, classesPhase{d.Base, d.maxState, byRule, next}.phase(),
		spreadPhase{d.Base, last}.phase()}
	return append(phases, decidePhases(d, loadDensity, func() *logSums { return new(logSums) },
		(*logSums).plus)...), nil
}
