package kernelmean

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
)

// modelVersion is the version of the layout of KernelDensityBayes. That of KernelNearestMean is its kernel's.
const modelVersion = 1

// meanNorms is the array of |mu_y|^2 in a model of KernelNearestMean, beside its space, base and kernel.
const meanNorms = "norms" // F64 [classes]

// meanModel is a model of KernelNearestMean.
type meanModel struct {
	groups
	space  *features.Space
	kernel kernels.Function
	norms  []float64
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
	return &meanModel{groups: g, space: space, kernel: kernels.NewFunction(kernel, space), norms: make([]float64, space.Labels.Len())}, nil
}

func (m *meanModel) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind(MeanName, m.kernel.Version())
	m.space.Put(a)
	m.groups.put(a)
	m.kernel.Put(a)
	jobs.Put(a, meanNorms, m.norms)
	return a
}

// readMeanModel reads a model, in time linear in its bytes; what training would not have written is a
// *protocol.Fault of CodeCorrupt.
func readMeanModel(a jobs.Arrays) (*meanModel, error) {
	if err := kernels.CheckKind(a, MeanName); err != nil {
		return nil, err
	}
	m := &meanModel{}
	var err error
	if m.space, m.groups, err = readGroups(a); err != nil {
		return nil, err
	}
	if m.kernel, err = kernels.ReadFunction(a, m.space); err != nil {
		return nil, err
	}
	if m.norms, err = jobs.Get[float64](a, meanNorms, len(m.weights)); err != nil {
		return nil, err
	}
	for y, v := range m.norms {
		if v-v != 0 {
			return nil, jobs.Malformed("the norm of class %d is %v", y, v)
		}
	}
	return m, nil
}

// checkClasses holds rows against what training guarantees: two classes or more, each of some
// weight, class after class.
func (b *base) checkClasses(classes int) (weights []float64, first []int, err error) {
	if classes < 2 || !slices.IsSorted(b.class) {
		return nil, nil, jobs.Malformed("a base of %d classes, or out of their order", classes)
	}
	weights = b.classWeights(classes)
	return weights, b.bounds(classes), checkWeights(weights)
}
