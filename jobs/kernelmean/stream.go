package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/pairwise"
	"github.com/gram-compute/gram/protocol"
)

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
	next := func(space *features.Space, weights, means []float64, plan jobs.Plan) (jobs.Next, error) {
		m, err := newMeanModel(params, space, unstored(space, weights))
		if err != nil {
			return jobs.Next{}, err
		}
		if !linear {
			return jobs.Next{Phase: pairsName, State: jobs.ArraysOf(m), Trees: triangle(plan.Shards)}, nil
		}
		for y := range m.norms {
			m.norms[y] = squaredNorm(means[y*space.Width : (y+1)*space.Width])
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
	next := func(space *features.Space, weights, sums []float64, plan jobs.Plan) (jobs.Next, error) {
		if !byRule {
			return last(space, weights, nil, plan)
		}
		return jobs.Next{Phase: spreadName, State: jobs.ArraysOf(&means{space, totals{weights, sums}})}, nil
	}
	phases := algorithm{space, classesPhase{d.Base, d.maxState, byRule, next}.phase(), spreadPhase{d.Base, last}.phase()}
	return append(phases, decidePhases(d, loadDensity, func() *logSums { return new(logSums) },
		(*logSums).plus)...), nil
}
