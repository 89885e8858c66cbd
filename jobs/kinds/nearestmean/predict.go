package nearestmean

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// NewPredictor loads a model. It measures the Euclidean distance to every mean in float64, column by column in order:
// one prediction takes time linear in classes times width, or in classes times entries for sparse vectors.
func NewPredictor(a jobs.Arrays, _ *kernelops.Set) (jobs.Predictor, error) {
	m, err := jobs.Load[model](a)
	if err != nil {
		return nil, err
	}
	square := make([]float64, len(m.weight)) // |mu_y|^2, for sparse vectors
	for y := range square {
		for _, v := range m.mean(y) {
			square[y] += float64(v * v)
		}
	}
	return classify.NewNearest(m.space, func(v features.Vectors, row, class int) float64 {
		return math.Sqrt(m.squared(square[class], v, row, class))
	}), nil
}

// squared returns the squared distance of a row to a mean whose square is |mu|^2. For a sparse row it starts from that
// square and adds what each entry changes; rounding may bring the sum below 0, so it is clamped.
func (m *model) squared(square float64, v features.Vectors, row, class int) float64 {
	mean := m.mean(class)
	if !m.space.Sparse {
		sum := 0.0
		for j, x := range v.Dense.Row(row) {
			d := float64(x) - mean[j]
			sum += float64(d * d)
		}
		return sum
	}
	sum := square
	indices, values := v.Sparse.Row(row)
	for e, j := range indices {
		x := float64(values[e])
		sum += float64(x * (x - float64(2*mean[j])))
	}
	return max(sum, 0)
}
