package kernels

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
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

// Arrays of roads in a partial or a model.
const (
	roadsBound       = "kernel.bound"       // F64 scalar
	roadsDifferences = "kernel.differences" // I64 scalar
)

// Put writes the roads of an rbf kernel with an origin into a partial, a state or a model.
func (r Roads) Put(a jobs.Arrays, f Function) {
	if f.Version() == versionOrigin {
		jobs.PutScalar(a, roadsBound, r.Bound)
		jobs.PutScalar(a, roadsDifferences, r.Differences)
	}
}

// ReadRoads reads what Put wrote.
func ReadRoads(a jobs.Arrays, f Function) (r Roads, err error) {
	if f.Version() != versionOrigin {
		return r, nil
	}
	return readRoads(a)
}

func readRoads(a jobs.Arrays) (r Roads, err error) {
	if r.Bound, err = jobs.GetScalar[float64](a, roadsBound); err != nil {
		return r, err
	}
	if r.Differences, err = jobs.GetScalar[int64](a, roadsDifferences); err != nil {
		return r, err
	}
	if !(r.Bound >= 0 && r.Bound <= MaxError) || r.Differences < 0 {
		return Roads{}, jobs.Malformed("kernel values of bound %v, %d from differences", r.Bound, r.Differences)
	}
	return r, nil
}

// MergeRoads writes the roads of two partials together into out, if they have any.
func MergeRoads(out, left, right jobs.Arrays) error {
	if _, ok := left[roadsBound]; !ok {
		return nil
	}
	r, err := readRoads(left)
	if err != nil {
		return err
	}
	o, err := readRoads(right)
	if err != nil {
		return err
	}
	r.Add(o)
	jobs.PutScalar(out, roadsBound, r.Bound)
	jobs.PutScalar(out, roadsDifferences, r.Differences)
	return nil
}

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
