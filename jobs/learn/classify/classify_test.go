package classify

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

func decisionOf(t *testing.T, kind string, rejectBelow float64, costs evaluation.Costs, labels ...string) *Decision {
	t.Helper()
	d, err := NewDecision(evaluation.Prior{Kind: kind}, rejectBelow, costs, labels)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// p(x, y) of 1/8, 1/4 and 1/8: p(x) is 1/2, and the posteriors are 1/4, 1/2 and 1/4.
func TestDecideByHand(t *testing.T) {
	joint := []float64{fmath.Log(0.125), fmath.Log(0.25), fmath.Log(0.125)}
	costs := evaluation.Costs{"a": {"b": 9}} // a decided b costs 9/4 on average, every other error at most 3/4
	for name, c := range map[string]struct {
		decision *Decision
		class    int
		rejected bool
	}{
		"largest":     {decisionOf(t, evaluation.PriorLearned, 0, nil, "a", "b", "c"), 1, false},
		"just enough": {decisionOf(t, evaluation.PriorLearned, 0.5-1e-9, nil, "a", "b", "c"), 1, false},
		"too little":  {decisionOf(t, evaluation.PriorLearned, 0.5+1e-9, nil, "a", "b", "c"), 1, true},
		"by costs":    {decisionOf(t, evaluation.PriorLearned, 0, costs, "a", "b", "c"), 0, false},
	} {
		posterior := make([]float64, 3)
		class, rejected, logDensity := c.decision.Decide(posterior, joint)
		if class != c.class || rejected != c.rejected || !near(logDensity, fmath.Log(0.5)) {
			t.Errorf("%s: class %d, rejected %v, log p(x) %v", name, class, rejected, logDensity)
		}
		if !near(posterior[0], 0.25) || !near(posterior[1], 0.5) || !near(posterior[2], 0.25) {
			t.Errorf("%s: %v", name, posterior)
		}
		both := slices.Clone(joint)
		if c.decision.Decide(both, both); !slices.Equal(both, posterior) {
			t.Errorf("%s, in one list: %v", name, both)
		}
	}
}

// p(x, y) of 1/8, 1/4 and 1/8, and e^-5000 of them: the logarithms are those of 1/4, 1/2 and 1/4. A class 4,000 below
// the best has -4,000, where its posterior is 0; one beyond float64 has its end.
func TestLogPosteriorsByHand(t *testing.T) {
	for _, shift := range []float64{0, -5000} {
		joint := []float64{fmath.Log(0.125) + shift, fmath.Log(0.25) + shift, fmath.Log(0.125) + shift}
		logs := make([]float64, 3)
		LogPosteriors(logs, joint)
		for y, want := range []float64{fmath.Log(0.25), fmath.Log(0.5), fmath.Log(0.25)} {
			if math.Abs(logs[y]-want) > 2e-12 {
				t.Errorf("shift %v: %v", shift, logs)
			}
		}
		LogPosteriors(joint, joint)
		if !slices.Equal(joint, logs) {
			t.Errorf("in one list: %v, not %v", joint, logs)
		}
	}
	logs := []float64{-4000, 0, -math.MaxFloat64}
	if LogPosteriors(logs, logs); !slices.Equal(logs, []float64{-4000, 0, -math.MaxFloat64}) {
		t.Errorf("%v", logs)
	}
	far := []float64{-math.MaxFloat64, math.MaxFloat64}
	if LogPosteriors(far, far); !slices.Equal(far, []float64{-math.MaxFloat64, 0}) {
		t.Errorf("%v", far)
	}
}

// The first of equal posteriors decides, also of a record beyond all numbers from every class.
func TestEqualPosteriors(t *testing.T) {
	d, posterior := decisionOf(t, evaluation.PriorLearned, 0, nil, "a", "b"), make([]float64, 2)
	for _, v := range []float64{0, -1e300, -math.MaxFloat64} {
		class, rejected, _ := d.Decide(posterior, []float64{v, v})
		if class != 0 || rejected || !near(posterior[0], 0.5) || !near(posterior[1], 0.5) {
			t.Errorf("%v: class %d, rejected %v, %v", v, class, rejected, posterior)
		}
	}
}

func TestLogPrior(t *testing.T) {
	labels := jobs.StringsOf("a", "b")
	learned := decisionOf(t, evaluation.PriorLearned, 0, nil, "a", "b").LogPrior(labels, []float64{1, 3})
	if !near(learned[0], fmath.Log(0.25)) || !near(learned[1], fmath.Log(0.75)) {
		t.Errorf("learned: %v", learned)
	}
	uniform := decisionOf(t, evaluation.PriorUniform, 0, nil, "a", "b").LogPrior(labels, []float64{1, 3})
	if !near(uniform[0], fmath.Log(0.5)) || uniform[1] != uniform[0] {
		t.Errorf("uniform: %v", uniform)
	}
	d, err := NewDecision(givenPrior(), 0, nil, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if given := d.LogPrior(labels, []float64{1, 3}); !near(given[0], fmath.Log(0.9)) ||
		!near(given[1], fmath.Log(0.1)) {
		t.Errorf("given: %v", given)
	}
	var fault *protocol.Fault
	if _, err := NewDecision(givenPrior(), 0, nil, []string{"a", "c"}); !errors.As(err, &fault) ||
		fault.Code != protocol.CodeSpecInvalid {
		t.Errorf("a prior of other labels: %v", err)
	}
}

func givenPrior() evaluation.Prior {
	return evaluation.Prior{Kind: evaluation.PriorGiven, Given: map[string]float64{"a": 0.9, "b": 0.1}}
}

// stored is a decision between two classes, as a model holds it.
type stored struct{ Decision }

func (s *stored) Fields(f *jobs.Fields) { s.Decision.Fields(f, jobs.StringsOf("a", "b")) }

func TestStoredDecisions(t *testing.T) {
	given, err := NewDecision(givenPrior(), 0, nil, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Decision{
		&given,
		decisionOf(t, evaluation.PriorLearned, 0, nil, "a", "b"),
		decisionOf(t, evaluation.PriorUniform, 0.75, nil, "a", "b"),
		decisionOf(t, evaluation.PriorLearned, 0, evaluation.Costs{"a": {"b": 2}}, "a", "b"),
	} {
		back, err := jobs.Read(jobs.ArraysOf(&stored{*d}), &stored{})
		if err != nil || back.String() != d.String() || back.Prior() != d.Prior() {
			t.Errorf("%v came back as %v, %v", d, back, err)
		}
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"prior":      func(a jobs.Arrays) { a.PutText("prior", "given") },
		"one":        func(a jobs.Arrays) { jobs.PutScalar(a, "reject_below", 1.0) },
		"below 0":    func(a jobs.Arrays) { jobs.PutScalar(a, "reject_below", -0.1) },
		"NaN":        func(a jobs.Arrays) { jobs.PutScalar(a, "reject_below", math.NaN()) },
		"two rules":  func(a jobs.Arrays) { jobs.PutScalar(a, "reject_below", 0.5) },
		"third cost": func(a jobs.Arrays) { jobs.Put(a, "costs.truth", []int32{2}) },
	} {
		a := jobs.ArraysOf(&stored{*decisionOf(t, evaluation.PriorLearned, 0, evaluation.Costs{"a": {"b": 2}}, "a",
			"b")})
		spoil(a)
		var fault *protocol.Fault
		if _, err := jobs.Read(a, &stored{}); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutcomes(t *testing.T) {
	for _, scored := range []bool{false, true} {
		o := NewOutcomes([]string{"a", "b"}, scored)
		for range 2 { // its memory is used again
			o.Begin(2)
			posterior := []float64{0.25, 0.75}
			o.Add(1, false, posterior)
			posterior[0], posterior[1] = 0.5, 0.5
			o.Add(0, true, posterior)
			list := o.List()
			if len(list) != 2 || list[0].Label != "b" || list[0].Rejected || list[1].Label != "" || !list[1].Rejected {
				t.Fatalf("%+v", list)
			}
			if scored != (list[0].Scores != nil) || scored && !slices.Equal(list[0].Scores, []float64{0.25, 0.75}) {
				t.Errorf("scored %v: %v", scored, list[0].Scores)
			}
		}
		if (o.Answers().Scores != nil) != scored || !slices.Equal(o.Answers().Labels, []string{"a", "b"}) {
			t.Errorf("scored %v: %+v", scored, o.Answers())
		}
	}
}
