package gaussiannb

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
const KindName = "GaussianNaiveBayes"

// Kind is Gaussian naive Bayes as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "Gaussian naive Bayes: a normal density for each column of each class, on dense vectors.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe), Predict: NewPredictor,
		Figures: evaluation.Figures}
}

// New returns the algorithm: phases "features", "moments" and, if there are test records, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	load := func(model jobs.Arrays, _ *kernelops.Set) (jobs.Predictor, error) { return loadPredictor(model, false) }
	j, err := classify.JobOf(spec, load, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	space, err := features.New(j.Params.Features, spec, momentsName, features.Classes(2))
	if err != nil {
		return nil, err
	}
	return append(jobs.Phases{space, momentsPhase{j}.phase()}, j.Judge.Phases()...), nil
}
