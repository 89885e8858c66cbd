package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// predictor predicts blocks of texts, or of vectors of counts; one goroutine at a time.
type predictor struct {
	scorer     *scorer
	columns    *vocabulary.Columns // nil before the first vector
	labels     []string
	posteriors bool // scores are wanted
	outcomes   []jobs.Outcome
	scores     []float64 // of all outcomes
}

// NewPredictor loads a model to predict blocks of texts, or of vectors of counts. The scores are the posteriors of all
// classes. Errors are those of NewClassifier.
func NewPredictor(arrays jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	return loadPredictor(arrays, ops, true)
}

// loadDecider is NewPredictor without scores, for the evaluation.
func loadDecider(arrays jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	return loadPredictor(arrays, ops, false)
}

func loadPredictor(arrays jobs.Arrays, ops *kernelops.Set, posteriors bool) (jobs.Predictor, error) {
	s, err := loadScorer(arrays, ops)
	if err != nil {
		return nil, err
	}
	return &predictor{scorer: s, labels: s.labels.List(), posteriors: posteriors}, nil
}

func loadScorer(arrays jobs.Arrays, ops *kernelops.Set) (*scorer, error) {
	m, err := readModel(arrays)
	if err != nil {
		return nil, err
	}
	return newScorer(m, ops)
}

// Answers names the labels and, where they are wanted, the posteriors by them.
func (p *predictor) Answers() jobs.Answers {
	answers := jobs.Answers{Labels: p.labels}
	if p.posteriors {
		answers.Scores = p.labels
	}
	return answers
}

// Predict decides every record. One that is neither a text nor a vector of counts is a fault with its position.
func (p *predictor) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	if err := vocabulary.CheckDocuments(block); err != nil {
		return nil, err
	}
	p.outcomes, p.scores = p.outcomes[:0], p.scores[:0]
	classes := len(p.labels)
	if need := classes * len(block.IDs); p.posteriors && cap(p.scores) < need {
		p.scores = make([]float64, 0, need)
	}
	for i := range block.IDs {
		scores, err := p.score(block, i)
		if err != nil {
			return nil, err
		}
		class, rejected := p.scorer.decide(scores)
		outcome := jobs.Outcome{Rejected: rejected}
		if !rejected {
			outcome.Label = p.labels[class]
		}
		if p.posteriors {
			begin := len(p.scores)
			p.scores = p.scores[:begin+classes]
			outcome.Scores = posteriors(p.scores[begin:], scores)
		}
		p.outcomes = append(p.outcomes, outcome)
	}
	return p.outcomes, nil
}

func (p *predictor) score(block *dataset.Block, i int) (scores []float64, err error) {
	if block.Texts != nil {
		return p.scorer.score(block.Texts[i]), nil
	}
	if p.columns == nil {
		if p.columns, err = p.scorer.dictionary.Columns(); err != nil {
			return nil, err
		}
	}
	bag, err := p.columns.Bag(block, i)
	if err != nil {
		return nil, err
	}
	return p.scorer.scoreBag(bag), nil
}
