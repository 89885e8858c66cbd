package evaluation

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// Two records by hand: 1 predicted as 2, and 5 met. A replicate with a of the one and b of the other has the mean error
// a/(a+b), squared or not, and R2 of 1 - a/(16 a b/(a+b)).
func TestIntervalsOfValuesByHand(t *testing.T) {
	s := newErrorSums(scoringOf(20))
	counts := [2][20]float64{}
	for i, v := range [][2]float64{{1, 2}, {5, 5}} {
		if err := s.add(dataset.Identity{}, uint64(i), v[0], v[1]); err != nil {
			t.Fatal(err)
		}
		for replicate, times := range s.draws.counts(uint64(i)) {
			counts[i][replicate] = float64(times)
		}
	}
	var errs, shares []float64
	for i := range 20 {
		a, b := counts[0][i], counts[1][i]
		if a+b == 0 {
			continue
		}
		errs = append(errs, a/(a+b))
		if a > 0 && b > 0 { // else the labels are equal
			shares = append(shares, 1-a/(16*a*b/(a+b)))
		}
	}
	got := s.report(scoringOf(20)).Intervals
	for name, pair := range map[string][2]*Interval{
		"squared": {got.MeanSquaredError, percentiles(errs, 0.95)}, "R2": {got.R2, percentiles(shares, 0.95)},
		"absolute": {got.MeanAbsoluteError, percentiles(errs, 0.95)},
	} {
		if math.Abs(pair[0].Low-pair[1].Low) > 1e-15 || math.Abs(pair[0].High-pair[1].High) > 1e-15 {
			t.Errorf("%s: %v, not %v", name, *pair[0], *pair[1])
		}
	}
}

// The interval of the mean squared error is as wide as its deviation says, and that of R2 is not moved by labels far
// from zero.
func TestIntervalsOfValues(t *testing.T) {
	const n, far = 500, 1 << 40
	r := rand.New(rand.NewPCG(2, 2))
	scoring := scoringOf(1000)
	near, away := newErrorSums(scoring), newErrorSums(scoring)
	sum, squares := 0.0, 0.0
	for i := range n {
		truth := math.Round(64 * r.NormFloat64() / 0.5)
		value := truth + math.Round(64*r.NormFloat64())
		e := (value - truth) * (value - truth)
		sum, squares = sum+e, squares+e*e
		for offset, s := range map[float64]*errorSums{0: near, far: away} {
			if err := s.add(dataset.Identity{}, uint64(i), truth+offset, value+offset); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := near.report(scoring).Intervals
	half := 1.96 * math.Sqrt((squares/n-sum/n*sum/n)/n)
	if w := (got.MeanSquaredError.High - got.MeanSquaredError.Low) / 2; math.Abs(w-half) > 0.12*half {
		t.Errorf("within %v, not %v", w, half)
	}
	if other := away.report(scoring).Intervals.R2; *other != *got.R2 {
		t.Errorf("R2 %v near zero, %v far from it", *got.R2, *other)
	}
}

// What is about scores is refused where values are predicted.
func TestScoringOfValues(t *testing.T) {
	for name, change := range map[string]func(*Scoring){
		"no bootstrap": func(s *Scoring) { s.Bootstrap = 0 }, "positive": func(s *Scoring) { s.Positive = "a" },
		"bins": func(s *Scoring) { s.Bins = 7 }, "errors": func(s *Scoring) { *s.Errors = 0.5 },
	} {
		s := scoringOf(20)
		share := *s.Errors
		s.Errors = &share
		change(s)
		var fault *protocol.Fault
		if _, err := NewScoredTally(jobs.Answers{Value: "value"}, s); !errors.As(err, &fault) ||
			fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := scoringOf(20).CheckValues(); err != nil {
		t.Error(err)
	}
	if err := (*Scoring)(nil).CheckValues(); err != nil {
		t.Error(err)
	}
}

// A record to which no value could be predicted counts in no error, and a warning says so, whatever the shards.
func TestValuesThatCouldNotBePredicted(t *testing.T) {
	one, other := NewTally(jobs.Answers{Value: "value"}), NewTally(jobs.Answers{Value: "value"})
	block := &dataset.Block{IDs: make([]dataset.Identity, 2), Labels: [][]byte{[]byte("1"), []byte("2")}}
	for _, judged := range []*Tally{one, other} {
		if err := judged.Add(block, []jobs.Outcome{{Value: 1}, {Rejected: true, Value: math.NaN()}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := one.Plus(other)
	if err == nil {
		all, err = jobs.Read(jobs.ArraysOf(all), new(Tally))
	}
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := all.Metrics(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var r Regression
	var warnings []string
	for name, to := range map[string]any{regressionMetric: &r, jobs.WarningsMetric: &warnings} {
		if err := jobs.ReadMetric(metrics, name, to); err != nil {
			t.Fatal(err)
		}
	}
	if r.Records != 2 || r.Rejected != 2 || r.MeanSquaredError != 0 || len(warnings) != 1 || all.Records() != 4 {
		t.Errorf("%+v, %q", r, warnings)
	}
}
