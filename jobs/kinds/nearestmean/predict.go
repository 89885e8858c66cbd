package nearestmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// predictor measures the distance to every mean in float64, column by column in order.
type predictor struct {
	*model
	reader   *features.Reader
	labels   []string
	square   []float64 // |mu_y|^2, for sparse vectors
	outcomes []jobs.Outcome
}

// NewPredictor loads a model. One prediction takes time linear in classes times width, or in
// classes times entries for sparse vectors.
func NewPredictor(a jobs.Arrays, _ *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	p := &predictor{model: m, reader: m.space.NewReader(), labels: m.space.Labels.List(),
		square: make([]float64, len(m.weight))}
	for y := range p.square {
		for _, v := range m.mean(y) {
			p.square[y] += float64(v * v)
		}
	}
	return p, nil
}

// Answers declares a label and the Euclidean distance to its mean; the scores are the distances to all means.
func (p *predictor) Answers() jobs.Answers {
	return jobs.Answers{Labels: p.labels, Value: "distance", Scores: p.labels}
}

// Predict gives each record the label of the closest mean; ties go to the first.
func (p *predictor) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	for i := range v.Rows {
		scores := make([]float64, len(p.labels))
		best := 0
		for y := range scores {
			scores[y] = math.Sqrt(p.squared(v, i, y))
			if scores[y] < scores[best] {
				best = y
			}
		}
		p.outcomes = append(p.outcomes, jobs.Outcome{Label: p.labels[best], Value: scores[best], Scores: scores})
	}
	return p.outcomes, nil
}

// squared returns the squared distance of a row to a mean. For a sparse row it starts from |mu|^2 and adds
// what each entry changes; rounding may bring that sum below 0, so it is clamped.
func (p *predictor) squared(v features.Vectors, row, class int) float64 {
	mean := p.mean(class)
	if !p.space.Sparse {
		sum := 0.0
		for j, x := range v.Dense.Row(row) {
			d := float64(x) - mean[j]
			sum += float64(d * d)
		}
		return sum
	}
	sum := p.square[class]
	indices, values := v.Sparse.Row(row)
	for e, j := range indices {
		x := float64(values[e])
		sum += float64(x * (x - float64(2*mean[j])))
	}
	return max(sum, 0)
}
