package predict

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/predictions"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = protocol.PredictKind

// modelVersion is that of the layout of the list that ends the job.
const modelVersion = 1

// OfModel finds the kind that made a model.
type OfModel func(model jobs.Arrays) (jobs.Kind, error)

// Kind is prediction as a declared kind of job, for the models of the kinds that ofModel knows.
func Kind(ofModel OfModel) jobs.Kind {
	return jobs.Kind{Name: KindName, Params: params.Of[predictions.Params](),
		Summary:  "Predicts the records of a data set with the model of another job.",
		Describe: Describe, UsesModel: true, Evaluates: true, Accepts: models{ofModel: ofModel}.accepts,
		Figures: evaluation.Figures,
		New:     func(spec protocol.JobSpec) (jobs.Algorithm, error) { return newAlgorithm(spec, ofModel) }}
}

func newAlgorithm(spec protocol.JobSpec, ofModel OfModel) (jobs.Algorithm, error) {
	p, err := params.Parse[predictions.Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	if spec.Spec.Model == "" {
		return nil, protocol.SpecFault("spec.model is missing: the URI of the model.safetensors to predict with")
	}
	switch in := spec.Spec.Input; in.Format {
	case "csv", "tsv", "jsonl", "npz":
		if spec.Spec.Evaluation != nil && in.Label.IsZero() {
			return nil, protocol.SpecFault("spec.evaluation judges by labels, and spec.input.label names no column of them").
				WithHint("Set spec.input.label, or leave spec.evaluation out.")
		}
	}
	models := models{p, ofModel, spec.Spec.Input.Categorical}
	phases := jobs.Phases(predictions.Phase{Params: p, Load: models.load, From: jobs.Input,
		Named: jobs.WayOf(spec.Spec, jobs.Input), Of: jobs.EveryRecord,
		Costs: costs, End: models.end, Scoring: evaluation.ScoringOf(spec)}.Phases())
	if len(phases) == 1 {
		return jobs.OnceEach(phases), nil
	}
	return phases, nil
}

// models are those that records are predicted by.
type models struct {
	params      predictions.Params
	ofModel     OfModel
	categorical []protocol.Column // of the records
}

// kind finds what made a model, which must predict.
func (m models) kind(model jobs.Arrays) (jobs.Kind, error) {
	kind, err := m.ofModel(model)
	switch {
	case err != nil:
		return jobs.Kind{}, params.In("spec.model", err)
	case kind.Predict == nil:
		return jobs.Kind{}, protocol.SpecFault(
			"spec.model is a model of kind %s, which does not predict; a job of kind %s begins from one that does",
			kind.Name, KindName)
	}
	return kind, nil
}

func (m models) accepts(model jobs.Arrays) error {
	_, err := m.kind(model)
	return err
}

// load makes the predictor of the state.
func (m models) load(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	kind, err := m.kind(model)
	if err != nil {
		return nil, err
	}
	if err := features.CheckCategorical(model, m.categorical); err != nil {
		return nil, err
	}
	predictor, err := kind.Predict(model, ops)
	if err == nil && m.params.LogPosteriors {
		err = giveLogs(predictor, kind.Name)
	}
	switch {
	case err != nil:
		return nil, err
	case m.params.Distances:
		return byDistance(kind, predictor)
	case m.params.RejectBelow > 0:
		return evaluation.Rejecting(predictor, m.params.RejectBelow)
	}
	return predictor, nil
}

// giveLogs lets a predictor give the logarithms of posteriors.
func giveLogs(predictor jobs.Predictor, kind string) error {
	p, ok := predictor.(jobs.LogPredictor)
	if !ok {
		return protocol.SpecFault("spec.params: log_posteriors is of models with posteriors by Bayes' rule; spec.model is a "+
			"model of kind %s, which has none", kind).
			WithHint("Leave log_posteriors out; scores: true gives the scores that the model has.")
	}
	p.GiveLogs()
	return nil
}

// byDistance gives a predictor the distances to the centers of all clusters for scores.
func byDistance(kind jobs.Kind, predictor jobs.Predictor) (jobs.Predictor, error) {
	d, ok := predictor.(jobs.Distancer)
	if !ok {
		return nil, protocol.SpecFault("params.distances are those to the centers of clusters; spec.model is a model of kind %s",
			kind.Name).WithHint("Name a model of kind KMeans, or leave params.distances out.")
	}
	return d.ByDistance()
}

// end is the list of parts.
func (m models) end(_ jobs.Arrays, written *parts.List) (jobs.Arrays, error) {
	result := jobs.Arrays{}
	result.PutKind(KindName, modelVersion)
	result.PutText("format", m.params.Format)
	jobs.Add(result, written)
	return result, nil
}

// costs are those in the model.
func costs(model jobs.Arrays, labels []string) (evaluation.Costs, error) {
	rule, err := evaluation.ReadRule(model, len(labels))
	if err != nil || rule == nil {
		return nil, err
	}
	return rule.Costs(labels), nil
}

// Describe tells what was written.
func Describe(result jobs.Arrays, _ jobs.DescribeOptions) (string, error) {
	if err := result.CheckKind(KindName, modelVersion); err != nil {
		return "", err
	}
	list, err := parts.ReadList(result)
	if err != nil {
		return "", err
	}
	format, err := result.Text("format")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Predictions of %s in %s below %s/; `gram get` joins them.\n",
		protocol.Counted(list.Rows(), "record"), protocol.Counted(len(list), format+" object"), predictions.Folder), nil
}
