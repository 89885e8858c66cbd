// Package predictions writes what a model predicts of each record of a data set: an output object for each leaf, and an
// index of them, below "predictions/". Records whose label is known are judged.
package predictions

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
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
	// Scoring says how scores are judged; nil where they are not.
	Scoring *evaluation.Scoring
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

// Phases are the phase and what may follow it.
func (p Phase) Phases() []jobs.Phase {
	if p.Scoring == nil {
		return []jobs.Phase{p.Phase()}
	}
	return []jobs.Phase{p.Phase(), p.ranks().Phase()}
}

// gathers takes a shard's output, by column and encoded, to be some times the records: of narrow ones
// where each is, its answer and its scores take more than they do.
func (p Phase) gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return 4*records(p.From, leaf.Index) + p.Scoring.Gathers()
}

// predict predicts a shard and writes its output object.
func (p Phase) predict(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*partial, error) {
	predictor, err := p.Load(model, ops)
	if err != nil {
		return nil, err
	}
	chosen, keep := evaluation.Selection{}, p.Of()
	out := p.newOutput(predictor.Answers(), leaf)
	judged, err := evaluation.NewScoredTally(predictor.Answers(), p.Scoring)
	if err != nil {
		return nil, err
	}
	if err := judged.Watch(model); err != nil {
		return nil, err
	}
	for block, err := range leaf.Read(ctx, p.From, leaf.Index) {
		if err != nil {
			return nil, err
		}
		block = chosen.Of(block, keep)
		judged.Met(block)
		outcomes, err := predictor.Predict(ctx, block)
		if err != nil {
			return nil, err
		}
		if err := out.add(ctx, block, outcomes); err != nil {
			return nil, err
		}
		if err := judge(judged, predictor.Answers(), block, outcomes); err != nil {
			return nil, err
		}
	}
	list, err := out.end(ctx)
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
		if err := t.Judge(block, i, o); err != nil {
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
	next := jobs.Next{State: model, Metrics: metrics}
	if p.Scoring == nil {
		return p.end(next, root.list)
	}
	next.State = maps.Clone(model)
	jobs.Add(next.State, (*written)(&root.list))
	return p.ranks().Begin(ctx, next, root.judged, round)
}

// end ends the job with what was written; next has the model for its state.
func (p Phase) end(next jobs.Next, list parts.List) (_ jobs.Next, err error) {
	next.Done = true
	next.State, err = p.End(next.State, &list)
	return next, err
}

// ranks goes on through the rankings of scores, of records with a label.
func (p Phase) ranks() *evaluation.Ranks {
	return &evaluation.Ranks{Load: p.Load, From: p.From, Of: p.Of, Scoring: p.Scoring, Unlabeled: true,
		Finish: func(_ context.Context, next jobs.Next, _ jobs.Round) (jobs.Next, error) {
			list, err := jobs.Read(next.State, new(written))
			if err != nil {
				return jobs.Next{}, err
			}
			next.State = maps.Clone(next.State)
			delete(next.State, writtenName)
			return p.end(next, parts.List(*list))
		}}
}

// written is what was written, in the state of the phase that ranks.
type written parts.List

const writtenName = "predictions.written"

// Fields lists the parts as one text.
func (w *written) Fields(f *jobs.Fields) {
	text, err := json.Marshal(*w)
	list := string(text)
	f.Text(writtenName, &list)
	f.Check(func() error {
		if err = json.Unmarshal([]byte(list), w); err != nil {
			return jobs.Malformed("array %q is no list of parts: %v", writtenName, err)
		}
		return nil
	})
}

// metrics are the number of records and, where labels were known, what Judge of package evaluation leaves.
func (p Phase) metrics(model jobs.Arrays, root *partial, labels []string) ([]jobs.Metric, error) {
	metrics := []jobs.Metric{jobs.CountMetric("predict.records", root.list.Rows())}
	unseen, err := root.judged.UnseenMetrics(model)
	if metrics = append(metrics, unseen...); err != nil || root.judged.Records() == 0 {
		return metrics, err
	}
	costs, err := p.Costs(model, labels)
	if err != nil {
		return nil, err
	}
	judged, err := root.judged.Metrics(costs, p.Scoring)
	return append(metrics, judged...), err
}

// Params say what is written of each record.
type Params struct {
	Format string `json:"format"`
	Scores bool   `json:"scores"`
	// LogPosteriors is read by kind Predict, whose Load lets the predictor give them.
	LogPosteriors bool `json:"log_posteriors,omitempty"`
	// Distances is read by kind Predict, whose Load makes distances the scores.
	Distances bool `json:"distances,omitempty"`
	// RejectBelow is read by kind Predict, whose Load rejects.
	RejectBelow float64 `json:"reject_below"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("format", &p.Format, parts.CSV, parts.CSV, parts.JSONL, parts.NPY).
			Says("Format of the predictions. npy has a number for each record: that of its label in the index, " +
				"-1 where it is rejected, or the predicted value."),
		params.Flag("scores", &p.Scores, false).Says("Adds a column for every score that the model gives."),
		params.Flag("log_posteriors", &p.LogPosteriors, false).
			Says("Adds a column for the natural logarithm of the posterior of every class, which is a number where the " +
				"posterior underflows to 0. Only for NaiveBayes, GaussianNaiveBayes and KernelDensityBayes."),
		params.Flag("distances", &p.Distances, false).
			Says("Adds a column for the distance to the center of every cluster, by a model of kind KMeans of at most 16384 " +
				"clusters: those that params.distances of its training writes."),
		params.Number("reject_below", &p.RejectBelow, 0, "[0, 1e300]").
			Says("Rejects records, beside those that the model rejects by a posterior or by votes of neighbors, whose confidence " +
				"is below this: the probability of the decision, or how far its score is ahead of the best other one. Above 0, it " +
				"replaces the reject_below of models of other kinds. spec.evaluation finds a threshold."),
	}
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	switch {
	case p.Distances && p.Scores:
		return protocol.SpecFault("scores and distances exclude each other: a model writes one of them beside its decisions")
	case p.Distances && p.LogPosteriors:
		return protocol.SpecFault("distances and log_posteriors exclude each other: no model has clusters and posteriors")
	case p.Distances && p.RejectBelow > 0:
		return protocol.SpecFault("reject_below is of decisions between classes; distances are of clusters")
	}
	return nil
}
