package gaussiannb

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

// model is a trained model.
type model struct {
	space          *features.Space
	decision       classify.Decision
	weight         []float64
	mean, variance []float64
}

func newModel(params Params, space *features.Space, root *sums.Moments) (*model, error) {
	classes := space.Labels.Len()
	if len(root.Weight) != classes || root.Width != space.Width {
		return nil, jobs.Malformed("moments of %d classes x %d columns, not %d x %d",
			len(root.Weight), root.Width, classes, space.Width)
	}
	smoothing := params.smoothing(space)
	if smoothing == 0 {
		return nil, protocol.EmptyFault("every column is constant over the training records").
			WithHint("Nothing tells the classes apart; check the input's columns.")
	}
	m := &model{space: space, weight: root.Weight, mean: root.Mean, variance: make([]float64, len(root.M2))}
	for y, weight := range root.Weight {
		if weight == 0 {
			return nil, protocol.EmptyFault("the training records of label %q all weigh 0", space.Labels.At(y))
		}
		for j := y * root.Width; j < (y+1)*root.Width; j++ {
			m.variance[j] = max(0, root.M2[j])/weight + smoothing
		}
	}
	var err error
	m.decision, err = classify.NewDecision(params.Prior, params.RejectBelow, params.Costs, space.Labels.List())
	return m, err
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	classes, width := m.space.Labels.Len(), m.space.Width
	jobs.List(f, "classes.weight", &m.weight, classes)            // above 0
	jobs.List(f, "classes.mean", &m.mean, classes, width)         // of scaled vectors
	jobs.List(f, "classes.variance", &m.variance, classes, width) // above 0, smoothed
	m.decision.Fields(f, classes)
	m.check(f)
}

// check requires what training guarantees and prediction relies on: every density is then a number.
func (m *model) check(f *jobs.Fields) {
	f.Require(!m.space.Sparse && len(m.weight) >= 2, "a model of %d classes, sparse: %v", len(m.weight), m.space.Sparse)
	const least, most = 1e-300, 1e300
	for _, w := range m.weight {
		f.Require(w > 0 && w < most, "a class of weight %v", w)
	}
	for i, v := range m.variance {
		mean := m.mean[i]
		f.Require(v > least && v < most && mean > -most && mean < most,
			"value %d of a model has mean %v and variance %v", i, mean, v)
	}
}
