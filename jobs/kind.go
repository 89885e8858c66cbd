package jobs

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Kind is a declared kind of job: a name and a way to make an Algorithm from parameters.
type Kind struct {
	Name string // as in the spec, e.g. "NaiveBayes"
	// Summary describes the kind to people in one sentence.
	Summary string
	Params  params.Set
	// New makes the algorithm for a spec that passed Defaults.
	New func(spec protocol.JobSpec) (Algorithm, error)
	// Describe renders a model for people (`gram model show`).
	Describe func(model Arrays, opt DescribeOptions) (string, error)
	// Classify loads a model for prediction one text at a time (`gram model classify`); nil if the kind cannot.
	Classify func(model Arrays) (Classifier, error)
	// Figures returns the figures of a finished job for its report; nil if the kind has none.
	Figures func(model Arrays, metrics []Metric) ([]Figure, error)
	// Certify checks a finished model by means whose last digits differ from build to build, such as the
	// eigenvalues of a matrix. Its result is written into the report and is not part of the model. It is nil if
	// there is nothing to check.
	Certify func(model Arrays) (any, error)
	// UsesQueries and UsesModel report that the kind reads spec.queries and spec.model. For other kinds, a spec
	// that has them is rejected. New rejects a spec that lacks what the kind needs.
	UsesQueries, UsesModel bool
	// Evaluates reports that the kind judges the scores of classes: it reads spec.evaluation.
	Evaluates bool
	// Accepts returns a *protocol.Fault of CodeSpecInvalid for a model that the kind does not take as spec.model; nil
	// accepts the models of this kind. See CheckModel.
	Accepts func(model Arrays) error
	// LeastState returns a lower bound, in bytes, on the size of the job's state or model; nil if the spec alone gives
	// none. A cluster rejects the job if no worker has that much memory.
	LeastState func(spec protocol.JobSpec) int64
	// Predict loads a model to predict whole blocks; nil if the kind does not predict.
	Predict func(model Arrays, ops *kernelops.Set) (Predictor, error)
	// Learn loads a model for online updates (`gram model learn`); nil if the kind has none.
	Learn func(model Arrays, ops *kernelops.Set) (Learner, error)
}

// Defaults returns params with every default filled in. Invalid params are a *protocol.Fault of CodeSpecInvalid.
func (k Kind) Defaults(params json.RawMessage) (json.RawMessage, error) {
	return k.Params.Defaults(params)
}

// CheckModel refuses what a job of this kind does not begin from, before it begins: models of
// other kinds are a *protocol.Fault of CodeSpecInvalid that names both.
func (k Kind) CheckModel(model Arrays) error {
	if k.Accepts != nil {
		return k.Accepts(model)
	}
	name, _, err := model.Kind()
	if err != nil || name == k.Name {
		return err
	}
	return protocol.SpecFault(
		"spec.model is a model of kind %s; a job of kind %s begins from one of kind %s", name, k.Name, k.Name).
		WithHint(fmt.Sprintf("Name the model.safetensors of a job of kind %s, or leave spec.model out.", k.Name))
}
