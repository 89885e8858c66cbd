package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
)

// meanModel is a model of KernelNearestMean.
type meanModel struct {
	groups
	space  *features.Space
	kernel kernels.Function
	norms  []float64 // |mu_y|^2
}

// newMeanModel is a model whose norms are not known yet.
func newMeanModel(params MeanParams, space *features.Space, g groups) (*meanModel, error) {
	if _, err := params.Costs.Rule(space.Labels.List()); err != nil {
		return nil, err
	}
	kernel, err := params.Of(space.Width)
	if err != nil {
		return nil, err
	}
	return &meanModel{groups: g, space: space, kernel: kernels.NewFunction(kernel, space),
		norms: make([]float64, space.Labels.Len())}, nil
}

// Fields lists the model.
func (m *meanModel) Fields(f *jobs.Fields) {
	kernels.KindField(f, MeanName, m.kernel)
	spaceField(f, &m.space)
	m.groups.Fields(f, m.space)
	m.kernel.Fields(f, m.space)
	jobs.List(f, "norms", &m.norms, len(m.weights))
	for y, v := range m.norms {
		f.Require(v-v == 0, "the norm of class %d is %v", y, v)
	}
}

// readMeanModel reads a model, in time linear in its bytes; what training would not have written is a
// *protocol.Fault of CodeCorrupt.
func readMeanModel(a jobs.Arrays) (*meanModel, error) { return jobs.Read(a, &meanModel{}) }
