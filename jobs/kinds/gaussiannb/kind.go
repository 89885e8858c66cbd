package gaussiannb

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "GaussianNaiveBayes"

// Kind is Gaussian naive Bayes as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "Gaussian naive Bayes: a normal density for each column of each class, on dense vectors.",
		New:     New, Describe: Describe, Predict: NewPredictor, Figures: Figures}
}

// Figures returns the figures of the evaluation, if the job has test records.
func Figures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	return evaluation.Figures(metrics)
}

// algorithm is a list of phases.
type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// New returns the algorithm: phases "features", "moments" and, if there are test records, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	load := func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
		return loadPredictor(model, false)
	}
	judge, err := evaluation.JudgeOf(spec, load, p.Costs)
	if err != nil {
		return nil, err
	}
	space, err := features.New(p.Features, spec, momentsName, features.Classes(2))
	if err != nil {
		return nil, err
	}
	moments := momentsPhase{params: p, train: jobs.TrainingRecords(spec), judge: judge}
	phases := algorithm{space, moments.phase()}
	return append(phases, judge.Phases()...), nil
}
