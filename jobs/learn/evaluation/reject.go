package evaluation

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// rejector rejects outcomes whose confidence is below a number; one goroutine at a time.
type rejector struct {
	rater *rater
	below float64
}

// reject rejects an outcome, unless it is rejected already. A score that is not finite is a fault with the position of
// the record.
func (r rejector) reject(id dataset.Identity, o *jobs.Outcome) error {
	if o.Rejected {
		return nil
	}
	v, err := r.rater.rate(id, nil, *o)
	if err == nil && v.confidence < r.below {
		o.Label, o.Rejected = "", true
	}
	return err
}

// rejecting is a predictor that rejects records; one goroutine at a time.
type rejecting struct {
	jobs.Predictor
	rejector
}

// Rejecting returns a predictor that rejects, of those that p decides, the records whose confidence is below a number:
// the probability of the decision or, of margins and distances, how far its score is ahead of the best other one. Where
// p is itself one of Rejecting, the number replaces that of p. A model that does not give classes scores is a
// *protocol.Fault of CodeSpecInvalid.
func Rejecting(p jobs.Predictor, below float64) (jobs.Predictor, error) {
	if already, ok := p.(*rejecting); ok {
		p = already.Predictor
	}
	rater, err := newRater(p.Answers(), "")
	if err != nil {
		return nil, err
	}
	return &rejecting{p, rejector{rater, below}}, nil
}

// Predict returns the outcomes of the predictor. A score that is not finite is a fault with the position of the record.
func (p *rejecting) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	outcomes, err := p.Predictor.Predict(ctx, block)
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		if err := p.reject(block.IDs[i], &outcomes[i]); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}
