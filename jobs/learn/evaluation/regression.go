package evaluation

import (
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
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

// errorRecords is an array of a partial of a regression.
const errorRecords = "errors.records"

// errorSums are sums over records in their order; they are float64, merged along the tree.
type errorSums struct {
	records           int64
	squared, absolute float64
	mean, m2          float64 // of the labels
}

// Number reads the label of a record as a finite number; another is a *protocol.Fault of
// CodeBadRecord with its position.
func Number(id dataset.Identity, label []byte) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(string(label)), 64)
	if err != nil || v-v != 0 {
		return 0, id.Fault("the label is not a finite number").
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
	s.squared += float64(e * e)
	s.absolute += math.Abs(e)
	d := truth - s.mean
	s.mean += d / float64(s.records)
	s.m2 += float64(d * (truth - s.mean))
	return nil
}

// plus adds the sums to the right, the moments by Chan's formula.
func (s errorSums) plus(right errorSums) errorSums {
	if s.records == 0 {
		return right
	}
	if right.records == 0 {
		return s
	}
	sum := errorSums{records: s.records + right.records, squared: s.squared + right.squared,
		absolute: s.absolute + right.absolute}
	share := float64(right.records) / float64(sum.records)
	d := right.mean - s.mean
	sum.mean = s.mean + float64(d*share)
	sum.m2 = s.m2 + right.m2 + float64(float64(d*d)*float64(float64(s.records)*share))
	return sum
}

func (s errorSums) report() Regression {
	if s.records == 0 {
		return Regression{}
	}
	r := Regression{Records: s.records, MeanSquaredError: bounded(s.squared / float64(s.records)),
		MeanAbsoluteError: bounded(s.absolute / float64(s.records))}
	switch {
	case s.m2 > 0:
		r.R2 = bounded(1 - s.squared/s.m2)
	case s.squared == 0:
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
	jobs.Scalar(f, errorRecords, &s.records)
	f.Require(s.records >= 0, "errors of %d records", s.records)
	jobs.Scalar(f, "errors.squared", &s.squared)
	jobs.Scalar(f, "errors.absolute", &s.absolute)
	jobs.Scalar(f, "truth.mean", &s.mean)
	jobs.Scalar(f, "truth.m2", &s.m2) // squared distances of the labels from their mean
}
