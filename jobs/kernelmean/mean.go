package kernelmean

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// modelVersion is the version of both layouts.
const modelVersion = 1

// meanNorms is the array of |mu_y|^2 in a model of KernelNearestMean, beside its space, base and kernel.
const meanNorms = "norms" // F64 [classes]

// meanModel is a model of KernelNearestMean.
type meanModel struct {
	space   *features.Space
	base    *base
	first   []int     // rows of each class, see base.bounds
	weights []float64 // of each class
	kernel  kernelops.Kernel
	norms   []float64
}

// newMeanModel is a model whose norms are not known yet.
func newMeanModel(params MeanParams, space *features.Space, b *base) (*meanModel, error) {
	if _, err := params.Costs.Rule(space.Labels.List()); err != nil {
		return nil, err
	}
	kernel, err := params.Of(space.Width)
	if err != nil {
		return nil, err
	}
	return &meanModel{space: space, base: b, kernel: kernel, norms: make([]float64, space.Labels.Len())}, nil
}

func (m *meanModel) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind(MeanName, modelVersion)
	m.space.Put(a)
	m.base.put(a)
	kernels.Put(a, m.kernel)
	jobs.Put(a, meanNorms, m.norms)
	return a
}

// readMeanModel reads a model, in time linear in its bytes; what training would not have written is a
// *protocol.Fault of CodeCorrupt.
func readMeanModel(a jobs.Arrays) (*meanModel, error) {
	if err := a.CheckKind(MeanName, modelVersion); err != nil {
		return nil, err
	}
	m := &meanModel{}
	var err error
	if m.space, m.base, err = readStored(a); err != nil {
		return nil, err
	}
	classes := m.space.Labels.Len()
	if m.weights, m.first, err = m.base.checkClasses(classes); err != nil {
		return nil, err
	}
	if m.kernel, err = kernels.Read(a); err != nil {
		return nil, err
	}
	if m.norms, err = jobs.Get[float64](a, meanNorms, classes); err != nil {
		return nil, err
	}
	for y, v := range m.norms {
		if v-v != 0 {
			return nil, jobs.Malformed("the norm of class %d is %v", y, v)
		}
	}
	return m, nil
}

// readStored reads what the models of both kinds begin with.
func readStored(a jobs.Arrays) (*features.Space, *base, error) {
	space, err := readSpace(a)
	if err != nil {
		return nil, nil, err
	}
	b, err := baseOf(a, space)
	return space, b, err
}

// checkClasses holds rows against what training guarantees: two classes or more, each of some
// weight, class after class.
func (b *base) checkClasses(classes int) (weights []float64, first []int, err error) {
	if classes < 2 || !slices.IsSorted(b.class) {
		return nil, nil, jobs.Malformed("a base of %d classes, or out of their order", classes)
	}
	weights = b.classWeights(classes)
	for y, w := range weights {
		if !(w > 0 && w-w == 0) {
			return nil, nil, jobs.Malformed("class %d of the base weighs %v", y, w)
		}
	}
	return weights, b.bounds(classes), nil
}
