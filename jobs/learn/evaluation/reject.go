package evaluation

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// rejecting is a predictor that rejects records; one goroutine at a time.
type rejecting struct {
	jobs.Predictor
	rater *rater
	below float64
}

// Rejecting returns a predictor that rejects, of those that p decides, the records whose confidence is below a number:
// the probability of the decision or, of margins and distances, how far its score is ahead of the best other one. A
// model that does not give classes scores is a *protocol.Fault of CodeSpecInvalid.
func Rejecting(p jobs.Predictor, below float64) (jobs.Predictor, error) {
	rater, err := newRater(p.Answers(), "")
	if err != nil {
		return nil, err
	}
	return &rejecting{p, rater, below}, nil
}

// Predict returns the outcomes of the predictor. A score that is not finite is a fault with the position of the record.
func (p *rejecting) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	outcomes, err := p.Predictor.Predict(ctx, block)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		if o.Rejected {
			continue
		}
		v, err := p.rater.rate(block.IDs[i], nil, o)
		if err != nil {
			return nil, err
		}
		if v.confidence < p.below {
			outcomes[i].Label, outcomes[i].Rejected = "", true
		}
	}
	return outcomes, nil
}
