package predict

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "Predict"

// Folder is where the output objects lie below the model's folder.
const Folder = "predictions"

// modelVersion is that of the layout of the list that ends the job.
const modelVersion = 1

// OfModel finds the kind that made a model.
type OfModel func(model jobs.Arrays) (jobs.Kind, error)

// Kind is prediction as a declared kind of job, for the models of the kinds that ofModel knows.
func Kind(ofModel OfModel) jobs.Kind {
	return jobs.Kind{Name: KindName, Params: params.Of[Params](),
		Summary:  "Predicts the records of a data set with the model of another job.",
		Describe: Describe, UsesModel: true, Accepts: phase{ofModel: ofModel}.accepts, Figures: Figures,
		New: func(spec protocol.JobSpec) (jobs.Algorithm, error) { return newAlgorithm(spec, ofModel) }}
}

type algorithm struct{ phase }

func (a algorithm) Phases() []jobs.Phase {
	return []jobs.Phase{jobs.MapReduce[jobs.Arrays, *partial]{
		Name: "predict", State: jobs.Itself, Partial: func() *partial { return new(partial) },
		Map: a.predict, Merge: (*partial).plus, Step: a.finish, Gathers: a.gathers,
	}.Phase()}
}

func newAlgorithm(spec protocol.JobSpec, ofModel OfModel) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	if spec.Spec.Model == "" {
		return nil, protocol.SpecFault("spec.model is missing: the URI of the model.safetensors to predict with")
	}
	return algorithm{phase{p, ofModel}}, nil
}

// phase is the only one: its state is the model, from the first round on.
type phase struct {
	params  Params
	ofModel OfModel
}

// kind finds what made a model, which must predict.
func (p phase) kind(model jobs.Arrays) (jobs.Kind, error) {
	kind, err := p.ofModel(model)
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

func (p phase) accepts(model jobs.Arrays) error {
	_, err := p.kind(model)
	return err
}

// load makes the predictor of the state.
func (p phase) load(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	kind, err := p.kind(model)
	if err != nil {
		return nil, err
	}
	return kind.Predict(model, ops)
}

// predict predicts a shard and writes its output object.
func (p phase) predict(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*partial, error) {
	predictor, err := p.load(model, ops)
	if err != nil {
		return nil, err
	}
	rows := newRows(predictor.Answers(), p.params)
	judged := evaluation.NewTally(predictor.Answers())
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		outcomes, err := predictor.Predict(ctx, block)
		if err != nil {
			return nil, err
		}
		rows.add(block, outcomes)
		if err := judge(judged, predictor.Answers(), block, outcomes); err != nil {
			return nil, err
		}
	}
	list, err := parts.Write(ctx, leaf.Emit, Folder, leaf.Index, p.params.Format, rows.table())
	if err != nil {
		return nil, err
	}
	return &partial{list, judged}, nil
}

// judge judges the outcomes of records whose label is known.
func judge(t *evaluation.Tally, answers jobs.Answers, block *dataset.Block, outcomes []jobs.Outcome) error {
	if block.Labels == nil || answers.Clusters {
		return nil
	}
	for i, o := range outcomes {
		if len(block.Labels[i]) == 0 {
			continue
		}
		if err := t.Judge(block.IDs[i], block.Labels[i], o, evaluation.PictureOf(block, i)); err != nil {
			return err
		}
	}
	return nil
}

type partial struct {
	list   parts.List
	judged *evaluation.Tally
}

// Fields lists the parts, and what is known of their predictions.
func (p *partial) Fields(f *jobs.Fields) {
	jobs.Make(f, &p.judged).Fields(f)
	p.list.Fields(f)
}

// plus puts the list of the right after this one and adds its counts.
func (p *partial) plus(right *partial) (*partial, error) {
	p.list = append(p.list, right.list...)
	_, err := p.judged.Plus(right.judged)
	return p, err
}

// finish writes the index and ends the job with the list of parts.
func (p phase) finish(ctx context.Context, model jobs.Arrays, root *partial, round jobs.Round) (jobs.Next, error) {
	predictor, err := p.load(model, kernelops.Generic())
	if err != nil {
		return jobs.Next{}, err
	}
	rows := newRows(predictor.Answers(), p.params)
	index := parts.Index{Format: p.params.Format, Columns: rows.table().Names(), Labels: predictor.Answers().Labels,
		Parts: root.list}
	if _, err := parts.WriteIndex(ctx, round.Emit, Folder, index); err != nil {
		return jobs.Next{}, err
	}
	result := jobs.Arrays{}
	result.PutKind(KindName, modelVersion)
	result.PutText("format", p.params.Format)
	jobs.Add(result, &root.list)
	metrics, err := root.metrics(model, predictor.Answers().Labels)
	return jobs.Next{Done: true, State: result, Metrics: metrics}, err
}

// metrics are the number of records and, where labels were known, what Judge of package evaluation leaves, under the
// costs that the model decides by.
func (p *partial) metrics(model jobs.Arrays, labels []string) ([]jobs.Metric, error) {
	metrics := []jobs.Metric{jobs.CountMetric("predict.records", p.list.Rows())}
	if p.judged.Records() == 0 {
		return metrics, nil
	}
	rule, err := evaluation.ReadRule(model, len(labels))
	if err != nil {
		return nil, err
	}
	var costs evaluation.Costs
	if rule != nil {
		costs = rule.Costs(labels)
	}
	judged, err := p.judged.Metrics(costs)
	return append(metrics, judged...), err
}

// Figures show the evaluation, where labels were known.
func Figures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	return evaluation.Figures(nil, metrics)
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
	return fmt.Sprintf("Predictions of %d records in %d %s objects below %s/; `gram get` joins them.\n", list.Rows(),
		len(list), format, Folder), nil
}
