package evaluation

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

var threeLabels = []string{"ill", "unsure", "well"}

// Missing an illness costs 10. At p(ill) = 0.2, "well" costs 2 and "ill" 0.8; at p(ill) = 0.05, "well"
// costs 0.5 and "ill" 0.95.
func TestRuleByHand(t *testing.T) {
	r, err := Costs{"ill": {"well": 10}}.Rule([]string{"ill", "well"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ill  float64
		want int
	}{{0.2, 0}, {0.05, 1}} {
		if got := r.Decide([]float64{c.ill, 1 - c.ill}); got != c.want {
			t.Errorf("p(ill) %v: decided %d", c.ill, got)
		}
	}
}

// Against the definition, computed from the whole matrix.
func TestRuleIsLeastExpectedCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs, posterior := Costs{}, make([]float64, 3)
		sum := 0.0
		for i, truth := range threeLabels {
			posterior[i] = rapid.Float64Range(0.01, 1).Draw(t, "p")
			sum += posterior[i]
			for _, decided := range threeLabels {
				if rapid.Bool().Draw(t, "named") {
					if costs[truth] == nil {
						costs[truth] = map[string]float64{}
					}
					costs[truth][decided] = rapid.Float64Range(0, 9).Draw(t, "cost")
				}
			}
		}
		for i := range posterior {
			posterior[i] /= sum
		}
		r, err := costs.Rule(threeLabels)
		if err != nil {
			t.Fatal(err)
		}
		expected := func(d int) (cost float64) {
			for i, truth := range threeLabels {
				cost += posterior[i] * costs.Of(truth, threeLabels[d])
			}
			return cost
		}
		got := r.Decide(posterior)
		for d := range threeLabels {
			if expected(got) > expected(d)+1e-12 {
				t.Fatalf("decided %d of cost %v, not %d of cost %v", got, expected(got), d, expected(d))
			}
		}
	})
}

func TestNoCostsAskForTheMostProbable(t *testing.T) {
	r, err := Costs{}.Rule(threeLabels)
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range [][]float64{{0.4, 0.3, 0.3}, {0.2, 0.5, 0.3}, {0, 0.25, 0.75}} {
		if got := r.Decide(p); got != want {
			t.Errorf("%v: decided %d", p, got)
		}
	}
}

func TestCostsAreChecked(t *testing.T) {
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), 2e12} {
		wantCode(t, Costs{"a": {"b": bad}}.Check(), protocol.CodeSpecInvalid)
	}
	if err := (Costs{"a": {"b": 2}}).Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []Costs{{"sick": {"well": 1}}, {"ill": {"wel": 1}}} {
		_, err := c.Rule(threeLabels)
		wantCode(t, err, protocol.CodeSpecInvalid)
	}
}

func TestRulesAreStored(t *testing.T) {
	model := func() jobs.Arrays {
		r, err := Costs{"ill": {"well": 10, "ill": 1}, "well": {"ill": 2}}.Rule(threeLabels)
		if err != nil {
			t.Fatal(err)
		}
		return rulesArrays(r)
	}
	back, err := ReadRule(model(), 3)
	if err != nil || back.Pairs() != 3 {
		t.Fatal(err)
	}
	if jobstest.Digest(rulesArrays(back)) != jobstest.Digest(model()) {
		t.Error("other bytes came back")
	}
	if r, err := ReadRule(jobs.Arrays{}, 3); r != nil || err != nil {
		t.Error(r, err)
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"class beyond": func(a jobs.Arrays) { jobs.Put(a, "costs.truth", []int32{0, 0, 3}) },
		"class below":  func(a jobs.Arrays) { jobs.Put(a, "costs.decided", []int32{0, -1, 0}) },
		"out of order": func(a jobs.Arrays) { jobs.Put(a, "costs.decided", []int32{2, 0, 0}) },
		"twice":        func(a jobs.Arrays) { jobs.Put(a, "costs.decided", []int32{2, 2, 0}) },
		"NaN":          func(a jobs.Arrays) { jobs.Put(a, "costs.cost", []float64{1, math.NaN(), 2}) },
		"short":        func(a jobs.Arrays) { jobs.Put(a, "costs.cost", []float64{1}) },
	} {
		a := model()
		spoil(a)
		if _, err := ReadRule(a, 3); err == nil {
			t.Errorf("%s: accepted", name)
		} else {
			wantCode(t, err, protocol.CodeCorrupt)
		}
	}
}

func rulesArrays(r *Rule) jobs.Arrays {
	return jobs.ArraysOf(jobs.FieldsFunc(func(f *jobs.Fields) { RuleFields(f, &r, 3) }))
}

func wantCode(t *testing.T, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code {
		t.Errorf("want %s, got %v", code, err)
	}
}
