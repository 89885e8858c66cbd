package evaluation

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
)

// maxMistakes bounds the mistakes that are kept to be looked at.
const maxMistakes = 20

// mistakesName begins the names of their arrays in a partial.
const mistakesName = LookUpName

// Tally gathers what is known of the decisions on records: their confusion matrix with a few of the
// mistakes, or the errors of values. One goroutine at a time.
type Tally struct {
	confusion *Confusion
	mistakes  *Mistakes
	errors    *errorSums
	scores    *scoredTally // nil where scores are not judged
	unseen    *features.UnseenCategories
}

// Watch counts categories that no training record has, for a model that gives them zeros. Met takes the blocks.
func (t *Tally) Watch(model jobs.Arrays) (err error) {
	t.unseen, err = features.UnseenOf(model)
	return err
}

// Met counts the unseen categories of a block.
func (t *Tally) Met(block *dataset.Block) { t.unseen.Add(block) }

// UnseenMetrics are the counts of unseen categories, where they are watched.
func (t *Tally) UnseenMetrics(model jobs.Arrays) ([]jobs.Metric, error) {
	return t.unseen.Metrics(model)
}

// NewTally returns an empty tally for the outcomes of a model.
func NewTally(answers jobs.Answers) *Tally {
	if answers.Labels == nil {
		return &Tally{errors: newErrorSums(nil)}
	}
	return &Tally{confusion: NewConfusion(), mistakes: NewMistakes(maxMistakes)}
}

// NewScoredTally is NewTally of a model whose scores are judged, too, or whose errors get intervals; a nil scoring does
// neither. A model of classes that does not give them scores is a *protocol.Fault of CodeSpecInvalid, and so is a
// positive label that it does not have.
func NewScoredTally(answers jobs.Answers, scoring *Scoring) (t *Tally, err error) {
	t = NewTally(answers)
	switch {
	case scoring == nil:
	case t.errors != nil:
		t.errors = newErrorSums(scoring)
		err = scoring.CheckValues()
	default:
		t.scores, err = newScoredTally(answers, scoring)
	}
	return t, err
}

// Add judges the outcomes of a block. A block without labels, or a label that is no number where the
// model predicts numbers, is a fault with its position.
func (t *Tally) Add(block *dataset.Block, outcomes []jobs.Outcome) error {
	if block.Labels == nil && len(block.IDs) > 0 {
		return block.IDs[0].Fault("a test record has no label to judge by").
			WithHint("Name the column of labels in spec.input.label, or set spec.input.split.test to 0.")
	}
	if len(outcomes) != len(block.IDs) {
		return jobs.Malformed("%d records have %d outcomes", len(block.IDs), len(outcomes))
	}
	for i := range outcomes {
		if err := t.Judge(block, i, outcomes[i]); err != nil {
			return err
		}
	}
	return nil
}

// Judge judges the outcome of record i of a block by its label. Where the model predicts numbers, a rejected record has
// none and does not count. The weight of a record counts where scores are judged.
func (t *Tally) Judge(block *dataset.Block, i int, o jobs.Outcome) error {
	id, label := block.IDs[i], block.Labels[i]
	if t.errors != nil {
		if o.Rejected {
			t.errors.rejected++
			return nil
		}
		truth, err := Number(id, label)
		if err != nil {
			return err
		}
		number := uint64(0)
		if t.errors.draws != nil {
			number = t.errors.numbers.Uint64(id)
		}
		return t.errors.add(id, number, truth, o.Value)
	}
	if m, wrong := t.decided(id, label, o); wrong {
		m.Picture = PictureOf(block, i)
		t.mistakes.Offer(m)
	}
	if t.scores == nil {
		return nil
	}
	return t.scores.add(id, t.mistakes.draws.Uint64(id), label, o, weightOf(block, i))
}

// JudgeDrawn is Judge of a record that is known by its place alone (PlaceOf), where the model predicts labels: number
// is what MistakeDraws draws for its identity.
func (t *Tally) JudgeDrawn(number uint64, place dataset.Identity, label []byte, o jobs.Outcome) error {
	if t.errors != nil {
		return jobs.Malformed("a label was predicted where there are numbers")
	}
	if m, wrong := t.decided(place, label, o); wrong {
		t.mistakes.take(drawnMistake{number, m}, false)
	}
	if t.scores == nil {
		return nil
	}
	return t.scores.add(place, number, label, o, 1)
}

// decided counts a decision, and reports whether it was wrong.
func (t *Tally) decided(id dataset.Identity, label []byte, o jobs.Outcome) (m Mistake, wrong bool) {
	truth := string(label)
	if o.Rejected {
		t.confusion.AddRejected(truth)
	} else {
		t.confusion.Add(truth, o.Label)
	}
	return Mistake{ID: id, Truth: truth, Decided: o.Label, Rejected: o.Rejected}, o.Rejected || o.Label != truth
}

// JudgeNumber judges a predicted value of a record that is known by its place alone; number is what MistakeDraws draws
// for its identity, if there are intervals.
func (t *Tally) JudgeNumber(number uint64, id dataset.Identity, truth, value float64) error {
	if t.errors == nil {
		return jobs.Malformed("a number was predicted where there are labels")
	}
	return t.errors.add(id, number, truth, value)
}

// Fields lists the tally: arrays named "labels", "cells.*", "mistakes.*" and, of scores, "scores.*", or "errors.*" and
// "truth.*".
func (t *Tally) Fields(f *jobs.Fields) {
	if f.Has(features.UnseenArray, t.unseen != nil) {
		jobs.Make(f, &t.unseen).Fields(f)
	}
	if f.Has("errors.records", t.errors != nil) {
		jobs.Make(f, &t.errors).Fields(f)
		return
	}
	jobs.Make(f, &t.confusion).Fields(f)
	MistakesFields(f, mistakesName, &t.mistakes)
	if f.Has("scores.records", t.scores != nil) {
		jobs.Make(f, &t.scores).Fields(f)
	}
}

// Plus takes in the tally to the right, which must not be used afterwards.
func (t *Tally) Plus(right *Tally) (_ *Tally, err error) {
	if (t.errors == nil) != (right.errors == nil) || (t.scores == nil) != (right.scores == nil) {
		return nil, jobs.Malformed("an evaluation of labels, of scores and of values cannot be merged with another")
	}
	if t.unseen, err = t.unseen.Plus(right.unseen); err != nil {
		return nil, err
	}
	if t.errors != nil {
		t.errors, err = t.errors.plus(right.errors)
		return t, err
	}
	t.confusion.Merge(right.confusion)
	t.mistakes.Merge(right.mistakes)
	if t.scores != nil {
		err = t.scores.plus(right.scores)
	}
	return t, err
}

// Records is the number of records judged.
func (t *Tally) Records() int64 {
	if t.errors != nil {
		return t.errors.records + t.errors.rejected
	}
	total := int64(0)
	for _, n := range t.confusion.counts { //lint:ordered a sum of integers
		total += n
	}
	return total
}

// Metrics are the facts that Judge leaves; scoring is that of the tally.
func (t *Tally) Metrics(costs Costs, scoring *Scoring) ([]jobs.Metric, error) {
	var facts jobs.Facts
	if t.errors != nil {
		facts.Add(regressionMetric, t.errors.report(scoring))
		if n := t.errors.rejected; n > 0 {
			facts.Add(jobs.WarningsMetric, []string{fmt.Sprintf("no value could be predicted for %d of %s, which do not count in "+
				"the errors", n, protocol.Counted(t.Records(), "test record"))})
		}
		return facts.Metrics()
	}
	facts.Add(reportMetric, t.confusion.Report())
	facts.Add(confusionMetric, t.confusion.Matrix())
	if mistakes := t.mistakes.List(); len(mistakes) > 0 {
		facts.Add(mistakesMetric, shown(mistakes))
	}
	if costs != nil {
		facts.Add(costMetric, t.confusion.cost(costs))
	}
	if t.scores != nil {
		t.scores.metrics(&facts, scoring)
	}
	return facts.Metrics()
}

// TakeMistakes takes the mistakes out of the tally, for a phase that looks their records up; its metric is then
// MistakesMetric.
func (t *Tally) TakeMistakes() *Mistakes {
	taken := NewMistakes(maxMistakes)
	if t.mistakes != nil {
		taken, t.mistakes = t.mistakes, taken
	}
	return taken
}

// MistakesMetric is "evaluation.mistakes".
func MistakesMetric(list []Mistake) (jobs.Metric, error) {
	return jobs.NewMetric(mistakesMetric, shown(list))
}

// maxShownValues bounds the values of all pictures in a metric.
const maxShownValues = 1 << 16

// shown is mistakes as JSON can hold them: without pictures that are too large or have values
// that are not finite.
func shown(list []Mistake) []Mistake {
	values := 0
	for i := range list {
		values += len(list[i].Picture)
		if values > maxShownValues || slices.ContainsFunc(list[i].Picture, func(v float32) bool { return v-v != 0 }) {
			list[i].Picture = nil
		}
	}
	return list
}

// Names of the metrics.
const (
	reportMetric     = "evaluation"
	confusionMetric  = "evaluation.confusion"
	mistakesMetric   = "evaluation.mistakes"
	costMetric       = "evaluation.cost"
	regressionMetric = "evaluation.regression"
)
