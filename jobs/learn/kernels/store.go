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

// Fields lists a kernel in a state or a model.
func Fields(f *jobs.Fields, k *kernelops.Kernel) {
	jobs.Named(f, arrayName, &k.Kind, names)
	jobs.Scalar(f, arrayScale, &k.Scale)
	jobs.Scalar(f, arrayOffset, &k.Offset)
	f.Int(arrayDegree, &k.Degree, 0, 64)
	f.Check(func() error {
		if err := k.Validate(); err != nil {
			return jobs.Malformed("a model's kernel: %v", err)
		}
		return canonical(*k)
	})
}

// canonical refuses parameters that the kernel does not use, so that one kernel has one form.
func canonical(k kernelops.Kernel) error {
	unused := k.Kind != kernelops.Polynomial && k.Degree != 0 ||
		(k.Kind == kernelops.Linear || k.Kind == kernelops.RBF) && k.Offset != 0 ||
		k.Kind == kernelops.Linear && k.Scale != 0
	if unused {
		return jobs.Malformed("a model's kernel %s has parameters that it does not use", names[k.Kind])
	}
	return nil
}
