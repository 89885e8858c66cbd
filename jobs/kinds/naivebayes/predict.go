package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// predictor predicts blocks of texts, or of vectors of counts; one goroutine at a time.
type predictor struct {
	classify.Outcomes
	scorer  *scorer
	columns *vocabulary.Columns // nil before the first vector
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
	return &predictor{scorer: s, Outcomes: classify.NewOutcomes(s.labels.List(), posteriors)}, nil
}

func loadScorer(arrays jobs.Arrays, ops *kernelops.Set) (*scorer, error) {
	m, err := jobs.Load[model](arrays)
	if err != nil {
		return nil, err
	}
	return newScorer(m, ops)
}

// Predict decides every record. One that is neither a text nor a vector of counts is a fault with its position.
func (p *predictor) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	if err := vocabulary.CheckDocuments(block); err != nil {
		return nil, err
	}
	p.Begin(len(block.IDs))
	for i := range block.IDs {
		scores, err := p.score(block, i)
		if err != nil {
			return nil, err
		}
		class, rejected := p.scorer.decide(scores)
		var posterior []float64
		if p.Scored() {
			posterior = posteriors(p.scorer.posterior, scores)
		}
		p.Add(class, rejected, posterior)
	}
	return p.List(), nil
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
