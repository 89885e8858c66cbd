// Package predictions writes what a model predicts of each record of a data set: an output object for each leaf, and an
// index of them, below "predictions/". Records whose label is known are judged.
package predictions

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
)

// Name is the name of the phase.
const Name = "predict"

// Folder is where the output objects lie below the model's folder.
const Folder = "predictions"

// Phase predicts with the model that is its state.
type Phase struct {
	Params
	Load  evaluation.Load
	From  jobs.Source  // of the records
	Named dataset.Way  // how records of From are named
	Of    jobs.Records // those that are predicted
	// Costs are those that the model decides by, nil for none.
	Costs func(model jobs.Arrays, labels []string) (evaluation.Costs, error)
	// End makes the result of a job from its model and the list of what was written.
	End func(model jobs.Arrays, written *parts.List) (jobs.Arrays, error)
}

// Phase is the phase as a job has it.
func (p Phase) Phase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *partial]{
		Name: Name, State: jobs.Itself, Partial: func() *partial { return new(partial) },
		Map: p.predict, Merge: (*partial).plus, Step: p.finish, Gathers: p.gathers,
	}.Phase()
}

// gathers takes a shard's output, by column and encoded, to be some times the records: of narrow ones
// where each is, its answer and its scores take more than they do.
func (p Phase) gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return 4 * records(p.From, leaf.Index)
}

// predict predicts a shard and writes its output object.
func (p Phase) predict(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*partial, error) {
	predictor, err := p.Load(model, ops)
	if err != nil {
		return nil, err
	}
	chosen, keep := evaluation.Selection{}, p.Of()
	rows, judged := newRows(predictor.Answers(), p.Params, p.Named), evaluation.NewTally(predictor.Answers())
	for block, err := range leaf.Read(ctx, p.From, leaf.Index) {
		if err != nil {
			return nil, err
		}
		block = chosen.Of(block, keep)
		outcomes, err := predictor.Predict(ctx, block)
		if err != nil {
			return nil, err
		}
		rows.add(block, outcomes)
		if err := judge(judged, predictor.Answers(), block, outcomes); err != nil {
			return nil, err
		}
	}
	list, err := parts.Write(ctx, leaf.Emit, Folder, leaf.Index, p.Format, rows.table())
	return &partial{list, judged}, err
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

// partial is what was written, and what is known of the predictions.
type partial struct {
	list   parts.List
	judged *evaluation.Tally
}

// Fields lists both.
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

// finish writes the index and ends the job.
func (p Phase) finish(ctx context.Context, model jobs.Arrays, root *partial, round jobs.Round) (jobs.Next, error) {
	predictor, err := p.Load(model, kernelops.Generic())
	if err != nil {
		return jobs.Next{}, err
	}
	answers := predictor.Answers()
	index := parts.Index{Format: p.Format, Columns: newRows(answers, p.Params, p.Named).table().Names(),
		Labels: answers.Labels, Parts: root.list}
	if _, err := parts.WriteIndex(ctx, round.Emit, Folder, index); err != nil {
		return jobs.Next{}, err
	}
	metrics, err := p.metrics(model, root, answers.Labels)
	if err != nil {
		return jobs.Next{}, err
	}
	result, err := p.End(model, &root.list)
	return jobs.Next{Done: true, State: result, Metrics: metrics}, err
}

// metrics are the number of records and, where labels were known, what Judge of package evaluation leaves.
func (p Phase) metrics(model jobs.Arrays, root *partial, labels []string) ([]jobs.Metric, error) {
	metrics := []jobs.Metric{jobs.CountMetric("predict.records", root.list.Rows())}
	if root.judged.Records() == 0 {
		return metrics, nil
	}
	costs, err := p.Costs(model, labels)
	if err != nil {
		return nil, err
	}
	judged, err := root.judged.Metrics(costs)
	return append(metrics, judged...), err
}

// Params say what is written of each record.
type Params struct {
	Format string `json:"format"`
	Scores bool   `json:"scores"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("format", &p.Format, parts.CSV, parts.CSV, parts.JSONL, parts.NPY).
			Says("Format of the predictions. npy has a number for each record: that of its label in the index, " +
				"-1 where it is rejected, or the predicted value."),
		params.Flag("scores", &p.Scores, false).Says("Adds a column for every score that the model gives."),
	}
}
