package nearestmean

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

type model struct {
	space  *features.Space
	means  []float64 // classes x width
	weight []float64 // training records of each class, or their weights
	reject evaluation.Rejection
}

// newModel divides the sums by the weights. A class whose records weigh nothing has no mean and is a fault of
// CodeInputEmpty.
func newModel(space *features.Space, t *totals) (*model, error) {
	m := &model{space: space, means: make([]float64, t.Sums.Len()), weight: t.Weight.Floats()}
	for y, w := range m.weight {
		if !(w > 0) {
			return nil, protocol.EmptyFault("the training records of class %q weigh nothing", space.Labels.At(y)).
				WithHint("Give one of them a weight above 0.")
		}
		t.Mean(y, m.mean(y))
	}
	return m, nil
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	jobs.List(f, "means.weight", &m.weight, m.space.Labels.Len())
	jobs.List(f, "means", &m.means, len(m.weight), m.space.Width)
	m.reject.Fields(f)
	f.Require(len(m.weight) >= 2, "a nearest-mean model of %d classes", len(m.weight))
	f.Require(jobs.Finite(m.means), `array "means": a value is not finite`)
}

func (m *model) mean(class int) []float64 {
	return m.means[class*m.space.Width : (class+1)*m.space.Width]
}

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
	return m.reject.Of(classify.NewNearest(m.space, func(v features.Vectors, row, class int) float64 {
		return math.Sqrt(m.squared(square[class], v, row, class))
	}))
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
