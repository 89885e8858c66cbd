package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
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
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Learn: learnOn, Figures: jobs.FiguresOf(readModel, (*model).figures)}
}

func learnOn(model jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) { return Load(model, ops) }

// job is what all phases of a job know.
type job struct{ classify.Job[Params] }

// New makes the algorithm: phases "features", "train" and, where there are records to judge the model on, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	read, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	j := job{read}
	space, err := features.NewBuilder(j.Params.Features, spec, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	phases := jobs.Phases{space.Phase(j.begin), (&trainPhase{j}).phase()}
	return append(phases, j.Judge.Phases()...), nil
}
