package evaluation

import (
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// Regression is how far predicted values lie from the labels, read as numbers. No record gives
// zeros.
type Regression struct {
	Records           int64   `json:"records"`
	MeanSquaredError  float64 `json:"mean_squared_error"`
	MeanAbsoluteError float64 `json:"mean_absolute_error"`
	// R2 is 1 - (sum of squared errors) / (sum of squared distances of the labels from their mean). Where
	// all labels are equal it is 1 if they are all met and 0 otherwise.
	R2 float64 `json:"r2"`
}

// errorSums are exact sums over records.
type errorSums struct {
	records int64
	errors  *sums.Exact   // of the squared errors and of the absolute ones
	truth   *sums.Moments // of the labels: one class of one column
}

func newErrorSums() *errorSums {
	return &errorSums{errors: sums.NewExact(2), truth: sums.NewMoments(1, 1)}
}

// Number reads the label of a record as a finite decimal number, with blanks around it or none; another, such as 1_2 or
// 0x1p4, is a *protocol.Fault of CodeBadRecord with its position.
func Number(id dataset.Identity, label []byte) (float64, error) {
	text := strings.TrimSpace(string(label))
	v, err := strconv.ParseFloat(text, 64)
	// ParseFloat reads Go's literals: 1_2 would be 12.
	if err != nil || v-v != 0 || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, id.Fault("the label %.40q is not a finite number", label).
			WithHint("Regression learns from numbers; check spec.input.label.")
	}
	return v, nil
}

func (s *errorSums) add(id dataset.Identity, truth, value float64) error {
	e := value - truth
	if e-e != 0 {
		return id.Fault("the prediction %v of %v has no finite error", value, truth)
	}
	s.records++
	s.errors.Add(0, min(float64(e*e), math.MaxFloat64))
	s.errors.Add(1, math.Abs(e))
	s.truth.Add(truth)
	return nil
}

// plus adds the sums to the right.
func (s *errorSums) plus(right *errorSums) (*errorSums, error) {
	truth, err := s.truth.Plus(right.truth)
	if err != nil {
		return nil, err
	}
	errors, err := s.errors.Plus(right.errors)
	return &errorSums{s.records + right.records, errors, truth}, err
}

func (s *errorSums) report() Regression {
	if s.records == 0 {
		return Regression{}
	}
	n, squared := float64(s.records), s.errors.Float(0)
	r := Regression{Records: s.records, MeanSquaredError: bounded(squared / n),
		MeanAbsoluteError: bounded(s.errors.Float(1) / n)}
	var variance [1]float64
	s.truth.Variance(0, variance[:])
	switch {
	case variance[0] > 0:
		r.R2 = bounded(1 - squared/float64(variance[0]*n))
	case squared == 0:
		r.R2 = 1
	}
	return r
}

// bounded is v as JSON can hold it: a sum that overflowed is the largest number, and what came of two
// such is 0.
func bounded(v float64) float64 {
	if v != v {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, v))
}

// Fields lists the sums.
func (s *errorSums) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "errors.records", &s.records)
	f.Require(s.records >= 0, "errors of %d records", s.records)
	jobs.Make(f, &s.errors).Fields(f, "errors")
	jobs.Make(f, &s.truth).Fields(f)
	f.Require(s.errors.Len() == 2 && s.truth.Classes() == 1 && s.truth.Width == 1, "%d sums of errors", s.errors.Len())
	f.Check(func() error {
		if weight := s.truth.Weight.Float(0); weight != float64(s.records) {
			return jobs.Malformed("labels of %v records, not %d", weight, s.records)
		}
		return nil
	})
}
