package classify

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
)

// Vectors predicts the vectors of a space. Only one goroutine at a time may use it.
type Vectors struct {
	reader   *features.Reader
	answers  jobs.Answers
	predict  Predict
	outcomes []jobs.Outcome
}

// Predict appends the outcome of each row of v to list, in their order.
type Predict func(ctx context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error)

// NewVectors returns a predictor whose outcomes answers describes and predict finds.
func NewVectors(space *features.Space, answers jobs.Answers, predict Predict) *Vectors {
	return &Vectors{reader: space.NewReader(), answers: answers, predict: predict}
}

// Answers describes the outcomes.
func (p *Vectors) Answers() jobs.Answers { return p.answers }

// Predict predicts every record. A record of another width, or with a value that is not finite, is a fault with its
// position.
func (p *Vectors) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes, err = p.predict(ctx, p.outcomes[:0], v)
	return p.outcomes, err
}

// Scored are the answers of a model that gives a label, a value by that name, and a score for each label.
func Scored(labels []string, value string) jobs.Answers {
	return jobs.Answers{Labels: labels, Value: value, Scores: labels}
}

// NewNearest returns a predictor of the class at the least distance of a row; of equal distances, that of the first.
// The scores are the distances to all classes.
func NewNearest(space *features.Space, distance func(v features.Vectors, row, class int) float64) *Vectors {
	labels := space.Labels.List()
	nearest := func(_ context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error) {
		for i := range v.Rows {
			scores, best := make([]float64, len(labels)), 0
			for y := range scores {
				scores[y] = distance(v, i, y)
				if scores[y] < scores[best] {
					best = y
				}
			}
			list = append(list, jobs.Outcome{Label: labels[best], Value: scores[best], Scores: scores})
		}
		return list, nil
	}
	return NewVectors(space, Scored(labels, "distance"), nearest)
}
