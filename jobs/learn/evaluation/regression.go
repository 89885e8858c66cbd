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
	// Intervals are there with spec.evaluation.bootstrap.
	Intervals *RegressionIntervals `json:"intervals,omitempty"`
	// Rejected is how many further records no value could be predicted to.
	Rejected int64 `json:"rejected,omitempty"`
}

// RegressionIntervals are confidence intervals of the figures; nil where there is no replicate with records.
type RegressionIntervals struct {
	Replicates        int       `json:"replicates"`
	Confidence        float64   `json:"confidence"`
	MeanSquaredError  *Interval `json:"mean_squared_error"`
	MeanAbsoluteError *Interval `json:"mean_absolute_error"`
	R2                *Interval `json:"r2"`
}

// errorSums are exact sums over records.
type errorSums struct {
	records  int64
	rejected int64         // records to which no value was predicted
	errors   *sums.Exact   // of the squared errors and of the absolute ones
	truth    *sums.Moments // of the labels: one class of one column

	draws     *replicates // nil without intervals, and in sums that were read
	numbers   *dataset.Draws
	bootstrap *sums.Exact // replicates x valueSums; nil without intervals
}

// The sums of a replicate of values.
const (
	valueRecords = iota
	valueSquared
	valueAbsolute
	valueTruth
	valueTruthSquared
	valueSums
)

// newErrorSums returns sums of no records; a nil scoring has no intervals.
func newErrorSums(scoring *Scoring) *errorSums {
	s := &errorSums{errors: sums.NewExact(2), truth: sums.NewMoments(1, 1)}
	if scoring != nil && scoring.Bootstrap > 0 {
		s.draws, s.numbers = newReplicates(scoring.seed, scoring.Bootstrap), MistakeDraws()
		s.bootstrap = sums.NewExact(scoring.Bootstrap * valueSums)
	}
	return s
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

// add judges a value; number is what MistakeDraws draws for the identity of its record.
func (s *errorSums) add(id dataset.Identity, number uint64, truth, value float64) error {
	e := value - truth
	if e-e != 0 {
		return id.Fault("the prediction %v of %v has no finite error", value, truth)
	}
	squared := min(float64(e*e), math.MaxFloat64)
	s.records++
	s.errors.Add(0, squared)
	s.errors.Add(1, math.Abs(e))
	s.truth.Add(truth)
	if s.draws == nil {
		return nil
	}
	for replicate, times := range s.draws.counts(number) {
		at := replicate * valueSums
		s.bootstrap.Add(at+valueRecords, float64(times))
		for range times {
			s.bootstrap.Add(at+valueSquared, squared)
			s.bootstrap.Add(at+valueAbsolute, math.Abs(e))
			s.bootstrap.Add(at+valueTruth, truth)
			s.bootstrap.AddSquare(at+valueTruthSquared, truth)
		}
	}
	return nil
}

// plus adds the sums to the right.
func (s *errorSums) plus(right *errorSums) (*errorSums, error) {
	truth, err := s.truth.Plus(right.truth)
	if err != nil {
		return nil, err
	}
	errors, err := s.errors.Plus(right.errors)
	if err != nil {
		return nil, err
	}
	all := &errorSums{records: s.records + right.records, rejected: s.rejected + right.rejected, errors: errors,
		truth: truth}
	if (s.bootstrap == nil) != (right.bootstrap == nil) {
		return nil, jobs.Malformed("errors with replicates and without")
	}
	if s.bootstrap != nil {
		all.bootstrap, err = s.bootstrap.Plus(right.bootstrap)
	}
	return all, err
}

func (s *errorSums) report(scoring *Scoring) Regression {
	if s.records == 0 {
		return Regression{Rejected: s.rejected}
	}
	n, squared := float64(s.records), s.errors.Float(0)
	r := Regression{Records: s.records, Rejected: s.rejected, MeanSquaredError: bounded(squared / n),
		MeanAbsoluteError: bounded(s.errors.Float(1) / n)}
	r.R2, _ = determination(s.truth, n, squared)
	if s.bootstrap != nil && scoring != nil {
		r.Intervals = s.intervals(scoring.Confidence)
	}
	return r
}

// determination is R2 of n records; varies reports that their labels are not all equal.
func determination(truth *sums.Moments, n, squared float64) (share float64, varies bool) {
	var variance [1]float64
	truth.Variance(0, variance[:])
	switch {
	case variance[0] > 0:
		return bounded(1 - squared/float64(variance[0]*n)), true
	case squared == 0:
		return 1, false
	}
	return 0, false
}

// intervals are those of the replicates that have records and, of R2, labels that differ.
func (s *errorSums) intervals(confidence float64) *RegressionIntervals {
	var squares, distances, shares []float64
	all := s.bootstrap.Len() / valueSums
	for at := 0; at < s.bootstrap.Len(); at += valueSums {
		n, squared := s.bootstrap.Float(at+valueRecords), s.bootstrap.Float(at+valueSquared)
		if !(n > 0) {
			continue
		}
		truth := &sums.Moments{Rows: sums.Rows{Width: 1, Sums: s.bootstrap.Only(at + valueTruth),
			Weight: s.bootstrap.Only(at + valueRecords)}, Squares: s.bootstrap.Only(at + valueTruthSquared)}
		squares = append(squares, bounded(squared/n))
		distances = append(distances, bounded(s.bootstrap.Float(at+valueAbsolute)/n))
		if share, varies := determination(truth, n, squared); varies {
			shares = append(shares, share)
		}
	}
	return &RegressionIntervals{all, confidence, percentiles(squares, confidence), percentiles(distances, confidence),
		percentiles(shares, confidence)}
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
	if f.Has("errors.rejected", s.rejected > 0) {
		jobs.Scalar(f, "errors.rejected", &s.rejected)
	}
	f.Require(s.records >= 0 && s.rejected >= 0, "errors of %d records", s.records)
	jobs.Make(f, &s.errors).Fields(f, "errors")
	jobs.Make(f, &s.truth).Fields(f)
	if f.Has("errors.bootstrap", s.bootstrap != nil) {
		jobs.Make(f, &s.bootstrap).Fields(f, "errors.bootstrap")
		f.Require(s.bootstrap.Len()%valueSums == 0, "%d sums of replicates", s.bootstrap.Len())
	}
	f.Require(s.errors.Len() == 2 && s.truth.Classes() == 1 && s.truth.Width == 1, "%d sums of errors", s.errors.Len())
	f.Check(func() error {
		if weight := s.truth.Weight.Float(0); weight != float64(s.records) {
			return jobs.Malformed("labels of %v records, not %d", weight, s.records)
		}
		return nil
	})
}
