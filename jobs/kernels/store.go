package kernels

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Arrays of a kernel in a state or a model.
const (
	arrayName   = "kernel"
	arrayScale  = "kernel.scale"  // F32: gamma of rbf
	arrayOffset = "kernel.offset" // F32
	arrayDegree = "kernel.degree" // I64
)

// Put writes a kernel into a state or a model.
func Put(a jobs.Arrays, k kernelops.Kernel) {
	a.PutText(arrayName, names[k.Kind])
	jobs.PutScalar(a, arrayScale, k.Scale)
	jobs.PutScalar(a, arrayOffset, k.Offset)
	jobs.PutScalar(a, arrayDegree, int64(k.Degree))
}

// Read reads what Put wrote; anything else is a *protocol.Fault of CodeCorrupt.
func Read(a jobs.Arrays) (k kernelops.Kernel, err error) {
	name, err := a.Text(arrayName)
	if err != nil {
		return k, err
	}
	degree, err := jobs.GetScalar[int64](a, arrayDegree)
	if err != nil {
		return k, err
	}
	if k.Scale, err = jobs.GetScalar[float32](a, arrayScale); err != nil {
		return k, err
	}
	if k.Offset, err = jobs.GetScalar[float32](a, arrayOffset); err != nil {
		return k, err
	}
	kinds := map[string]kernelops.KernelKind{Linear: kernelops.Linear, Polynomial: kernelops.Polynomial, RBF: kernelops.RBF, Sigmoid: kernelops.Sigmoid}
	kind, known := kinds[name]
	if !known || degree < 0 || degree > 64 {
		return k, jobs.Malformed("a model of kernel %q and degree %d", name, degree)
	}
	k.Kind, k.Degree = kind, int(degree)
	if err := k.Validate(); err != nil {
		return kernelops.Kernel{}, jobs.Malformed("a model's kernel: %v", err)
	}
	return canonical(k)
}

// canonical refuses parameters that the kernel does not use, so that one kernel has one form.
func canonical(k kernelops.Kernel) (kernelops.Kernel, error) {
	unused := k.Kind != kernelops.Polynomial && k.Degree != 0 ||
		(k.Kind == kernelops.Linear || k.Kind == kernelops.RBF) && k.Offset != 0 ||
		k.Kind == kernelops.Linear && k.Scale != 0
	if unused {
		return kernelops.Kernel{}, jobs.Malformed("a model's kernel %s has parameters that it does not use", names[k.Kind])
	}
	return k, nil
}
