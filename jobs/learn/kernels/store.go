package kernels

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Fields lists a kernel in a state or a model.
func Fields(f *jobs.Fields, k *kernelops.Kernel) {
	jobs.Named(f, "kernel", &k.Kind, names)
	jobs.Scalar(f, "kernel.scale", &k.Scale) // gamma of rbf
	jobs.Scalar(f, "kernel.offset", &k.Offset)
	f.Int("kernel.degree", &k.Degree, 0, 64)
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
