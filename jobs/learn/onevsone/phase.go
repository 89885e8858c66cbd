// Package onevsone judges a classifier by distances on every two of its classes alone: of a record of either class, the
// closer of the two decides. Its phase takes the place of the one that judges the model, in the same pass.
package onevsone

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// Bounds on the number of classes of a job that judges pairs.
const (
	MaxClasses        = 256
	maxPictureClasses = 16 // beyond, no misclassified record of each pair is kept
)

// phase judges the models that load makes predictors of, whose scores are the distances to all classes.
type phase struct {
	evaluation.Judge
	load evaluation.Load
}

// Phase is the phase of a judge that also judges each pair of classes.
func Phase(judge evaluation.Judge, load evaluation.Load) jobs.Phase {
	p := phase{judge, load}
	return jobs.MapReduce[jobs.Arrays, *judgedPairs]{
		Name: evaluation.Name, State: jobs.Itself, Partial: func() *judgedPairs { return new(judgedPairs) },
		Map: p.count, Merge: (*judgedPairs).plus, Step: p.finish,
	}.Phase()
}

// judgedPairs is the tally of the evaluation with the tally of the pairs.
type judgedPairs struct {
	all   evaluation.Tally
	pairs pairTally
}

// Fields lists both tallies.
func (j *judgedPairs) Fields(f *jobs.Fields) {
	j.all.Fields(f)
	j.pairs.Fields(f)
}

// count counts the test records of one leaf, by the distances to all classes.
func (p phase) count(
	ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set,
) (*judgedPairs, error) {
	var t *pairTally
	all, err := p.Loading(func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
		predictor, err := p.load(model, ops)
		if err != nil {
			return nil, err
		}
		t = newPairTally(predictor.Answers().Labels)
		return &pairCounter{predictor, t}, nil
	}).Count(ctx, model, leaf, ops)
	if err != nil {
		return nil, err
	}
	return &judgedPairs{*all, *t}, nil
}

// pairCounter is a predictor that also tallies the pairs of the records it predicts.
type pairCounter struct {
	jobs.Predictor
	*pairTally
}

// Predict returns the predictor's outcomes. It ignores records without a label: the evaluation rejects them.
func (c *pairCounter) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	outcomes, err := c.Predictor.Predict(ctx, block)
	if err != nil {
		return nil, err
	}
	for i := range block.Labels {
		if y, ok := c.class[string(block.Labels[i])]; ok {
			c.add(y, outcomes[i].Scores, block, i)
		}
	}
	return outcomes, nil
}

// plus adds the tallies to the right.
func (j *judgedPairs) plus(right *judgedPairs) (*judgedPairs, error) {
	if err := j.pairs.merge(&right.pairs); err != nil {
		return nil, err
	}
	_, err := j.all.Plus(&right.all)
	return j, err
}

// finish writes the table of pairs and ends the job.
func (p phase) finish(
	ctx context.Context, state jobs.Arrays, judged *judgedPairs, round jobs.Round,
) (jobs.Next, error) {
	predictor, err := p.load(state, kernelops.Generic())
	if err != nil {
		return jobs.Next{}, err
	}
	labels, t := predictor.Answers().Labels, &judged.pairs
	if len(t.records) != len(labels) {
		return jobs.Next{}, jobs.Malformed("pairs of %d classes in a model of %d", len(t.records), len(labels))
	}
	next, err := p.Finish(ctx, state, &judged.all, round)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics, err := t.report(ctx, labels, round.Emit)
	next.Metrics = append(next.Metrics, metrics...)
	return next, err
}

// pairTally counts, for each pair of classes, the records that the rule of the two gives to the wrong one.
type pairTally struct {
	labels   []string // nil in a tally that was read
	class    map[string]int
	records  []int64 // [classes]
	errors   []int64 // [classes, classes], by true class, then the other
	mistakes []*evaluation.Mistakes
}

func newPairTally(labels []string) *pairTally {
	n := len(labels)
	t := &pairTally{labels: labels, class: make(map[string]int, n), records: make([]int64, n),
		errors: make([]int64, n*n)}
	for y, label := range labels {
		t.class[label] = y
	}
	if n <= maxPictureClasses {
		t.mistakes = make([]*evaluation.Mistakes, n*n)
	}
	return t
}

// add counts record i of a block, which has class y, by its distances to all classes. The rule of y and z is wrong
// if z is closer, or if both are equally close and z comes first.
func (t *pairTally) add(y int, distances []float64, block *dataset.Block, i int) {
	t.records[y]++
	for z, d := range distances {
		if z == y || d > distances[y] || d == distances[y] && z > y {
			continue
		}
		at := y*len(t.records) + z
		t.errors[at]++
		picture := evaluation.PictureOf(block, i)
		if picture == nil || t.mistakes == nil {
			continue
		}
		if t.mistakes[at] == nil {
			t.mistakes[at] = evaluation.NewMistakes(1)
		}
		t.mistakes[at].Offer(evaluation.Mistake{ID: block.IDs[i], Truth: t.labels[y], Decided: t.labels[z],
			Picture: picture})
	}
}

func mistakesName(at int) string { return fmt.Sprintf("pairs.mistakes.%d", at) }

// Fields lists the counts, I64 [classes] and [classes, classes], and one mistake of each pair that has any.
func (t *pairTally) Fields(f *jobs.Fields) {
	jobs.List(f, "pairs.records", &t.records)
	n := len(t.records)
	jobs.List(f, "pairs.errors", &t.errors, n, n)
	if n > maxPictureClasses {
		return
	}
	if f.Reading() {
		t.mistakes = make([]*evaluation.Mistakes, n*n)
	}
	for at := range t.mistakes {
		if name := mistakesName(at); f.Has(name+".size", t.mistakes[at] != nil) {
			evaluation.MistakesFields(f, name, &t.mistakes[at])
		}
	}
}

func (t *pairTally) merge(other *pairTally) error {
	if err := cmp.Or(sums.Into(&t.records, other.records), sums.Into(&t.errors, other.errors)); err != nil {
		return err
	}
	for at, m := range other.mistakes {
		switch {
		case m == nil:
		case t.mistakes[at] == nil:
			t.mistakes[at] = m
		default:
			t.mistakes[at].Merge(m)
		}
	}
	return nil
}
