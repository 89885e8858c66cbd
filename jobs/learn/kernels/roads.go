package kernels

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Roads say how the values of an rbf kernel were found.
type Roads struct {
	// Bound is the largest proved error of gamma |x-y|^2 where that was taken from products.
	Bound float64
	// Differences counts the pairs whose |x-y|^2 was taken from differences.
	Differences int64
}

func (r *Roads) products(bound float64) { r.Bound = max(r.Bound, bound) }

// Add takes in the values of o.
func (r *Roads) Add(o Roads) {
	r.products(o.Bound)
	r.Differences += o.Differences
}

// roadsBound is an array of roads in a partial or a model.
const roadsBound = "kernel.bound"

// Fields lists the roads of an rbf kernel with an origin in a partial, a state or a model; other kernels have none.
func (r *Roads) Fields(f *jobs.Fields, of Function) {
	if of.Version() != versionOrigin {
		return
	}
	jobs.Scalar(f, roadsBound, &r.Bound)
	jobs.Scalar(f, "kernel.differences", &r.Differences)
	f.Require(r.Bound >= 0 && r.Bound <= MaxError && r.Differences >= 0,
		"kernel values of bound %v, %d from differences", r.Bound, r.Differences)
}

// PartialRoads lists the roads of a partial, which knows of its kernel only whether it has some.
func PartialRoads(f *jobs.Fields, roads **Roads) {
	if f.Has(roadsBound, *roads != nil) {
		jobs.Make(f, roads).Fields(f, Function{Kernel: kernelops.Kernel{Kind: kernelops.RBF}})
	}
}

// HasRoads reports whether the values of a kernel are found by several roads.
func (fn Function) HasRoads() bool { return fn.Version() == versionOrigin }

// Text says for people how the values were found; "" for other kernels.
func (r Roads) Text(f Function) string {
	if f.Version() != versionOrigin {
		return ""
	}
	return fmt.Sprintf("gamma |x-y|^2 is within %.2g; %d pairs were measured by differences", r.Bound, r.Differences)
}

// Metrics are the figures of a report, below a prefix; none for other kernels.
func (r Roads) Metrics(f Function, prefix string) ([]jobs.Metric, error) {
	if f.Version() != versionOrigin {
		return nil, nil
	}
	bound, err := jobs.NewMetric(prefix+".largest_error_bound", r.Bound)
	if err != nil || math.IsNaN(r.Bound) {
		return nil, err
	}
	return []jobs.Metric{bound, jobs.CountMetric(prefix+".pairs_by_differences", r.Differences)}, nil
}

// Beyond is the fault of a record that has a kernel value beyond float32.
func Beyond(id dataset.Identity, k kernelops.Kernel) error {
	return id.Fault("a kernel value of the record is beyond the range of float32 (%s)", Text(k)).
		WithHint("Scale the columns (features.scale standard, minmax or l2), or choose a smaller scale or degree.")
}
