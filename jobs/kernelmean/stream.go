package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/protocol"
)

// stream is what the phases of a job that does not hold its base share.
type stream struct {
	space  jobs.Phase
	train  jobs.Records
	decide *decidePhase
}

func newStream(spec protocol.JobSpec, params features.Params, judge evaluation.Judge) (*stream, error) {
	if !judge.Judges() {
		return nil, protocol.SpecFault(
			"spec.params: without queries and split there is nothing to decide; set store_base for a model that " +
				"predicts")
	}
	space, err := features.New(params, spec, classesName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	s := &stream{space: space, train: jobs.TrainingRecords(spec)}
	s.decide = &decidePhase{train: s.train, test: judge.Test(), queries: spec.Spec.Queries != nil, maxState: spec.Spec.Run.MaxStateBytes}
	return s, nil
}

// streamMean is KernelNearestMean without its base in memory.
func streamMean(params MeanParams, spec protocol.JobSpec, judge evaluation.Judge) (jobs.Algorithm, error) {
	s, err := newStream(spec, params.Features, judge)
	if err != nil {
		return nil, err
	}
	s.decide.costs, s.decide.load, s.decide.empty = params.Costs, loadMeanDecider, meanDecider{}
	linear := params.Kernel == kernels.Linear
	next := func(space *features.Space, weights, means []float64, plan jobs.Plan) (jobs.Next, error) {
		m, err := newMeanModel(params, space, unstored(space, weights))
		if err != nil {
			return jobs.Next{}, err
		}
		if !linear {
			return jobs.Next{Phase: pairsName, State: m.arrays(), Trees: triangle(plan.Shards)}, nil
		}
		for y := range m.norms {
			m.norms[y] = squaredNorm(means[y*space.Width : (y+1)*space.Width])
		}
		return s.decide.begin(m.arrays(), plan), nil
	}
	pairs := pairsPhase{s.train, func(m *meanModel, plan jobs.Plan) jobs.Next { return s.decide.begin(m.arrays(), plan) }}
	return algorithm{s.space, classesPhase{s.train, s.decide.maxState, linear, next}, pairs, s.decide, s.decide.lookUp().Phase()}, nil
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
	s, err := newStream(spec, params.Features, judge)
	if err != nil {
		return nil, err
	}
	s.decide.costs, s.decide.load, s.decide.empty = params.Costs, loadDensityDecider, densityDecider{}
	byRule := params.Bandwidth == 0
	last := func(space *features.Space, weights, deviations []float64, plan jobs.Plan) (jobs.Next, error) {
		m, err := newDensityModel(params, space, unstored(space, weights), func(y int) float64 { return deviations[y] })
		if err != nil {
			return jobs.Next{}, err
		}
		return s.decide.begin(m.arrays(), plan), nil
	}
	next := func(space *features.Space, weights, means []float64, plan jobs.Plan) (jobs.Next, error) {
		if !byRule {
			return last(space, weights, nil, plan)
		}
		return jobs.Next{Phase: spreadName, State: putMeans(space, weights, means)}, nil
	}
	return algorithm{s.space, classesPhase{s.train, s.decide.maxState, byRule, next}, spreadPhase{s.train, last}, s.decide, s.decide.lookUp().Phase()}, nil
}
