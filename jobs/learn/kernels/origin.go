package kernels

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// Function is the kernel of a model. The rbf kernel is translation invariant, so it comes with an origin: rows are
// centered on it before their products are taken. Other kernels have none.
type Function struct {
	kernelops.Kernel
	width  int
	sparse bool      // of rows with many zeros, which move no sum
	origin []float32 // nil where rows stay as they are: no column lies far from 0, or rows are sparse
	legacy bool      // rbf of a model from before origins
	coarse bool      // see Coarse
}

// Layouts of models, by whether their kernel has an origin.
const (
	versionPlain  = 1 // of other kernels, and of rbf before there were origins
	versionOrigin = 2
)

// NewFunction returns the kernel over a space. The origin of a column is its mean, rounded to a multiple of a power
// of two between a quarter of its standard deviation and half of it. It has few digits then, so that a row less the
// origin is exact in float32 for nearly all data, and a constant added to all rows usually changes no bit. A
// constant column is centered on its value. Sparse rows, which centering would fill, stay as they are.
func NewFunction(k kernelops.Kernel, s *features.Space) Function {
	f := Function{Kernel: k, width: s.Width, sparse: s.Sparse}
	if k.Kind != kernelops.RBF || s.Sparse {
		return f
	}
	origin, far := make([]float32, s.Width), false
	for j := range origin {
		origin[j] = originOf(s.Mean[j], math.Sqrt(s.Variance[j]))
		far = far || origin[j] != 0
	}
	if far {
		f.origin = origin
	}
	return f
}

func originOf(mean, deviation float64) float32 {
	if deviation > 0 {
		_, exponent := math.Frexp(deviation) // deviation < 2^exponent <= 2 deviation
		step := math.Ldexp(1, exponent-2)
		if rounded := float64(math.RoundToEven(mean/step) * step); rounded-rounded == 0 {
			mean = rounded
		}
	}
	origin := float32(mean)
	if origin-origin != 0 {
		return 0
	}
	return origin
}

// Coarse is the kernel with values that are as near as is proved, MaxError, and no nearer: for what is measured again
// in float64. Fewer of them are taken from differences, which take many times as long.
func (f Function) Coarse() Function {
	f.coarse = true
	return f
}

// Version is that of the layout of a model with the kernel.
func (f Function) Version() int32 {
	if f.Kind == kernelops.RBF && !f.legacy {
		return versionOrigin
	}
	return versionPlain
}

// Centered reports whether rows are centered.
func (f Function) Centered() bool { return f.origin != nil }

// Text writes the kernel for people, and whether rows are centered.
func (f Function) Text() string {
	if f.Centered() {
		return Text(f.Kernel) + ", of centered rows"
	}
	return Text(f.Kernel)
}

// arrayOrigin is an array of the rbf kernel: F32 [width], or [0] where rows stay as they are.
const arrayOrigin = "kernel.origin"

// Fields lists the kernel and its origin in a state or a model, over a space. An rbf kernel without an origin is that
// of a model from before there were origins.
func (fn *Function) Fields(f *jobs.Fields, s *features.Space) {
	Fields(f, &fn.Kernel)
	has := f.Has(arrayOrigin, fn.Version() == versionOrigin)
	if has {
		jobs.List(f, arrayOrigin, &fn.origin)
	}
	if f.Reading() {
		fn.width, fn.sparse, fn.legacy = s.Width, s.Sparse, !has && fn.Kind == kernelops.RBF
		f.Require(!has || fn.Kind == kernelops.RBF, "a model's kernel %s has an origin", names[fn.Kind])
		f.Check(fn.checkOrigin)
	}
}

func (fn *Function) checkOrigin() error {
	if len(fn.origin) == 0 {
		fn.origin = nil
		return nil
	}
	if len(fn.origin) != fn.width || fn.sparse {
		return jobs.Malformed("an origin of %d columns in a space of %d, sparse: %v", len(fn.origin), fn.width,
			fn.sparse)
	}
	if !jobs.Finite(fn.origin) {
		return jobs.Malformed("the origin of a column is not finite")
	}
	if !slices.ContainsFunc(fn.origin, func(v float32) bool { return v != 0 }) {
		return jobs.Malformed("an origin of zeros, which is stored without columns")
	}
	return nil
}

// KindField is the kind of a model, in the layout of its kernel; a later one if the model names records by their
// ordinals, as those of earlier releases do not.
func KindField(f *jobs.Fields, kind string, fn Function, byOrdinal bool) {
	version := int32(versionPlain)
	if f.Has(arrayOrigin, fn.Version() == versionOrigin) {
		version = versionOrigin
	}
	if byOrdinal {
		version += versionOrigin
	}
	f.Kind(kind, version)
}

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
