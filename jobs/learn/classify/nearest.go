package classify

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
)

// Nearest predicts the class at the least distance. Only one goroutine at a time may use it.
type Nearest struct {
	reader   *features.Reader
	labels   []string
	distance func(v features.Vectors, row, class int) float64
	outcomes []jobs.Outcome
}

// NewNearest returns a predictor for vectors of a space, by the distance of a row from a class.
func NewNearest(space *features.Space, distance func(v features.Vectors, row, class int) float64) *Nearest {
	return &Nearest{reader: space.NewReader(), labels: space.Labels.List(), distance: distance}
}

// Answers declares a label and the distance to its class; the scores are the distances to all classes.
func (n *Nearest) Answers() jobs.Answers {
	return jobs.Answers{Labels: n.labels, Value: "distance", Scores: n.labels}
}

// Predict gives each record the label of the closest class; ties go to the first.
func (n *Nearest) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := n.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	n.outcomes = n.outcomes[:0]
	for i := range v.Rows {
		scores, best := make([]float64, len(n.labels)), 0
		for y := range scores {
			scores[y] = n.distance(v, i, y)
			if scores[y] < scores[best] {
				best = y
			}
		}
		n.outcomes = append(n.outcomes, jobs.Outcome{Label: n.labels[best], Value: scores[best], Scores: scores})
	}
	return n.outcomes, nil
}
