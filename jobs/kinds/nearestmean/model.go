package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
)

type model struct {
	space  *features.Space
	means  []float64 // classes x width
	weight []float64 // training records of each class, or their weights
}

// newModel divides the sums by the weights. A class whose records weigh nothing has no mean and is a fault of
// CodeInputEmpty.
func newModel(space *features.Space, t *totals) (*model, error) {
	m := &model{space, make([]float64, len(t.Sums)), t.Weight}
	for y, w := range t.Weight {
		if !(w > 0) {
			return nil, protocol.EmptyFault("the training records of class %q weigh nothing", space.Labels.At(y)).
				WithHint("Give one of them a weight above 0.")
		}
		for j := range space.Width {
			m.means[y*space.Width+j] = t.Sums[y*space.Width+j] / w
		}
	}
	return m, nil
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	jobs.List(f, "means.weight", &m.weight, m.space.Labels.Len())
	jobs.List(f, "means", &m.means, len(m.weight), m.space.Width)
	f.Require(len(m.weight) >= 2, "a nearest-mean model of %d classes", len(m.weight))
	f.Require(jobs.Finite(m.means), `array "means": a value is not finite`)
}

func (m *model) mean(class int) []float64 {
	return m.means[class*m.space.Width : (class+1)*m.space.Width]
}
