package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "KernelPerceptron"

// Kind is the kernel perceptron as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "Perceptrons with a kernel, which keep support vectors.",
		New:     New, Describe: Describe,
		Predict: NewPredictor, Learn: learnOn, Figures: Figures}
}

func learnOn(model jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) { return Load(model, ops) }

// algorithm is a list of phases.
type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// job is what all phases of a job know.
type job struct {
	params Params
	seed   uint64
	train  jobs.Records
	judge  evaluation.Judge

	maxState protocol.ByteSize // 0 for no bound
}

// New makes the algorithm: phases "features", "train" and, where there are records to judge the model on, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judge, err := evaluation.JudgeOf(spec, NewPredictor, p.Costs)
	if err != nil {
		return nil, err
	}
	j := job{params: p, seed: spec.Spec.Repro.Seed, train: jobs.TrainingRecords(spec), judge: judge,
		maxState: spec.Spec.Run.MaxStateBytes}
	space, err := features.NewBuilder(p.Features, spec, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	phases := algorithm{space.Phase(j.begin), &trainPhase{j}}
	return append(phases, judge.Phases()...), nil
}
