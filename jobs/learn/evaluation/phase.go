package evaluation

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Name is the name of the phase that judges a model.
const Name = "evaluate"

// Load makes the predictor of a model; it is used by one goroutine.
type Load func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error)

// Judge judges a job's model on its test records: those that spec.input.split holds out, or all of spec.queries. If the
// spec has neither, the model is not judged. Weights of records do not count.
//
// A model that predicts labels gets the metrics "evaluation" (a Report), "evaluation.confusion" (a Matrix),
// "evaluation.mistakes" (a list of Mistake, if there are any) and, with costs, "evaluation.cost" (a Cost). A model that
// predicts values gets "evaluation.regression" (a Regression). With spec.evaluation, see type Scoring, there are also
// "evaluation.scores" (Scores), "evaluation.ranking" (Rankings), "evaluation.risk" (a Risk) and "evaluation.bootstrap"
// (a Bootstrap).
type Judge struct {
	test    jobs.Records // nil if there are no test records
	queries bool         // the records are those of spec.queries
	load    Load
	costs   Costs // nil for none
	scoring *Scoring
}

// JudgeOf returns the judge for a spec. A spec with both a split and queries is a *protocol.Fault of CodeSpecInvalid.
func JudgeOf(spec protocol.JobSpec, load Load, costs Costs) (Judge, error) {
	split, queries := spec.Spec.Input.Split.HoldsOut(), spec.Spec.Queries != nil
	j := Judge{queries: queries, load: load, costs: costs, scoring: ScoringOf(spec)}
	switch {
	case j.scoring != nil && !split && !queries:
		return Judge{}, protocol.SpecFault("spec.evaluation has no records to judge the scores of").
			WithHint("Give spec.queries, spec.input.split.test or spec.input.split.folds, or leave spec.evaluation out.")
	case split && queries:
		return Judge{}, protocol.SpecFault(
			"spec.queries and spec.input.split both give records to judge the model on; leave one out")
	case queries:
		j.test = jobs.EveryRecord
	case split:
		j.test = jobs.TestRecords(spec)
	}
	return j, nil
}

// Judges reports whether there are test records.
func (j Judge) Judges() bool { return j.test != nil }

// Test selects the test records; it is nil if there are none.
func (j Judge) Test() jobs.Records { return j.test }

// End completes the last training step, whose model is next.State: it ends the job, or lets the judging phase follow.
func (j Judge) End(next jobs.Next, plan jobs.Plan) jobs.Next {
	if !j.Judges() {
		next.Done = true
		return next
	}
	next.Phase, next.Trees = Name, treesOver(j.Source(), plan)
	return next
}

// Phases returns the phase that judges, or nil if there are no test records. The phase leaves the model unchanged.
func (j Judge) Phases() []jobs.Phase {
	if !j.Judges() {
		return nil
	}
	judging := jobs.MapReduce[jobs.Arrays, *Tally]{
		Name: Name, State: jobs.Itself, Partial: func() *Tally { return new(Tally) },
		Map: j.Count, Merge: (*Tally).Plus, Step: j.Finish,
	}
	if j.scoring != nil {
		judging.Gathers = j.scoring.gathers
	}
	return append([]jobs.Phase{judging.Phase()}, j.Further()...)
}

// OnceEach says of phases, of which each is one round but perhaps "ranks", what they are: jobs.OnceEach unless scores
// are judged.
func (j Judge) OnceEach(phases jobs.Phases) jobs.Algorithm {
	if j.scoring != nil {
		return phases
	}
	return jobs.OnceEach(phases)
}

// Further returns the phases that may follow the one that judges: "ranks", where scores are judged.
func (j Judge) Further() []jobs.Phase {
	if j.scoring == nil {
		return nil
	}
	return []jobs.Phase{j.ranks().Phase()}
}

func (j Judge) ranks() *Ranks {
	return &Ranks{Load: j.load, From: j.Source(), Of: j.test, Scoring: j.scoring,
		Finish: func(_ context.Context, next jobs.Next, _ jobs.Round) (jobs.Next, error) {
			next.Done = true
			return next, nil
		}}
}

// Count counts the decisions on one leaf. Only test records reach the predictor. A test record without a label is a
// fault with its position, and so is one whose label is not a number if the model predicts numbers.
func (j Judge) Count(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*Tally, error) {
	predictor, err := j.load(model, ops)
	if err != nil {
		return nil, err
	}
	judged, err := NewScoredTally(predictor.Answers(), j.scoring)
	if err != nil {
		return nil, err
	}
	if err := judged.Watch(model); err != nil {
		return nil, err
	}
	chosen, test := Selection{}, j.test()
	for block, err := range leaf.Read(ctx, j.Source(), leaf.Index) {
		if err != nil {
			return nil, err
		}
		some := chosen.Of(block, test)
		if len(some.IDs) == 0 {
			continue
		}
		judged.Met(some)
		outcomes, err := predictor.Predict(ctx, some)
		if err != nil {
			return nil, err
		}
		if err := judged.Add(some, outcomes); err != nil {
			return nil, err
		}
	}
	return judged, nil
}

// Source is the data set of the test records.
func (j Judge) Source() jobs.Source {
	if j.queries {
		return jobs.Queries
	}
	return jobs.Input
}

// Finish ends the job with its model and the metrics of the tally. Where not all scores are ranked yet, the phase
// "ranks" follows.
func (j Judge) Finish(
	ctx context.Context, model jobs.Arrays, judged *Tally, round jobs.Round,
) (jobs.Next, error) {
	metrics, err := judged.Metrics(j.costs, j.scoring)
	if err != nil {
		return jobs.Next{}, err
	}
	unseen, err := judged.UnseenMetrics(model)
	if err != nil {
		return jobs.Next{}, err
	}
	return j.ranks().Begin(ctx, jobs.Next{State: model, Metrics: append(metrics, unseen...)}, judged, round)
}

// Loading returns a copy of the judge that loads models with load.
func (j Judge) Loading(load Load) Judge {
	j.load = load
	return j
}

// Selection copies the chosen records of a block. It keeps its memory between calls.
type Selection struct{ block dataset.Block }

// Of returns a block of the records that keep chooses, valid until the next call and the next
// block; a block that is chosen whole is returned as it is.
func (s *Selection) Of(block *dataset.Block, keep jobs.Choice) *dataset.Block {
	s.reset(block)
	for i := range block.IDs {
		if keep(block, i) {
			s.add(block, i)
		}
	}
	if len(s.block.IDs) == len(block.IDs) {
		return block
	}
	return &s.block
}

// reset empties the selection and gives it the fields of a block.
func (s *Selection) reset(block *dataset.Block) {
	b := &s.block
	b.IDs = b.IDs[:0]
	b.Labels = emptied(b.Labels, block.Labels)
	b.Texts = emptied(b.Texts, block.Texts)
	b.Weights = emptied(b.Weights, block.Weights)
	b.Dense = dataset.Dense{Width: block.Dense.Width, Values: b.Dense.Values[:0]}
	b.Categories = dataset.Categories{Width: block.Categories.Width, Values: b.Categories.Values[:0]}
	b.Sparse = dataset.Sparse{Width: block.Sparse.Width, Indptr: append(b.Sparse.Indptr[:0], 0),
		Indices: b.Sparse.Indices[:0], Values: b.Sparse.Values[:0]}
}

// emptied is memory of no elements, nil where the block has none.
func emptied[T any](memory, block []T) []T {
	switch {
	case block == nil:
		return nil
	case memory == nil:
		return []T{}
	}
	return memory[:0]
}

func (s *Selection) add(block *dataset.Block, i int) {
	b := &s.block
	b.IDs = append(b.IDs, block.IDs[i])
	if block.Labels != nil {
		b.Labels = append(b.Labels, block.Labels[i])
	}
	if block.Texts != nil {
		b.Texts = append(b.Texts, block.Texts[i])
	}
	if block.Weights != nil {
		b.Weights = append(b.Weights, block.Weights[i])
	}
	if block.Dense.Width > 0 {
		b.Dense.Values = append(b.Dense.Values, block.Dense.Row(i)...)
	}
	if block.Categories.Width > 0 {
		b.Categories.Values = append(b.Categories.Values, block.Categories.Row(i)...)
	}
	if block.Sparse.Width > 0 {
		index, value := block.Sparse.Row(i)
		b.Sparse.Indices, b.Sparse.Values = append(b.Sparse.Indices, index...), append(b.Sparse.Values, value...)
		b.Sparse.Indptr = append(b.Sparse.Indptr, len(b.Sparse.Values))
	}
}
