package linearmodel

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/protocol"
)

// Worked by hand: (1, 0) of b and (-1, 0) of a have the margin 1 through the origin. With (1, 0) of a too, none.
func TestMarginByHand(t *testing.T) {
	two := []jobstest.Record{{Label: "b", Dense: []float32{1, 0}}, {Label: "a", Dense: []float32{-1, 0}}}
	for _, solver := range solvers {
		params := fmt.Sprintf(`{"margin":true,"bias_scale":0,"tol":1e-9,"C":1e6,"solver":%q}`, solver)
		m, _ := train(t, params, two)
		if g := m.margins[0]; g.Lo > 1 || g.Hi < 1 || g.Lo < 1-1e-9 || g.Hi > 1+1e-9 {
			t.Errorf("%s: %+v", solver, g)
		}
		m, _ = train(t, params, append(two, jobstest.Record{Label: "a", Dense: []float32{1, 0}}))
		if g := m.margins[0]; g.Lo != 0 || g.Hi > 1e-6 {
			t.Errorf("%s: %+v", solver, g)
		}
	}
}

// A row of zeros is on every plane through the origin, which is an exact proof; with a bias it is a record as others.
func TestZerosAreNotSeparable(t *testing.T) {
	records := []jobstest.Record{{Label: "b", Dense: []float32{1, 0}}, {Label: "a", Dense: []float32{-1, 1e-45}},
		{Label: "a", Dense: []float32{0, 1e-45}}}
	for _, solver := range solvers {
		for bias, want := range map[int]string{0: "not separable: proved exactly", 1: "separable: the largest margin is"} {
			params := fmt.Sprintf(`{"margin":true,"bias_scale":%d,"solver":%q,"C":1e4}`, bias, solver)
			if m, _ := train(t, params, records); strings.HasPrefix(margin.Text(m.margins[0]), "not separable") {
				t.Errorf("%s: %+v", params, m.margins)
			}
			zero := slices.Clone(records)
			zero[2].Dense = []float32{0, 0}
			if m, _ := train(t, params, zero); !strings.HasPrefix(margin.Text(m.margins[0]), want) {
				t.Errorf("%s: %+v", params, m.margins)
			}
		}
	}
}

// separable draws records at least gap from a plane through a point that is far from zero.
func separable(r *rand.Rand, n, width int, gap, offset float64) []jobstest.Record {
	normal, size := make([]float64, width), 0.0
	for j := range normal {
		normal[j] = r.NormFloat64()
	}
	size = math.Sqrt(dual.SquareOf(normal))
	records := make([]jobstest.Record, n)
	for i := range records {
		x, score := jobstest.Record{}, 0.0
		for j := range width {
			x.Dense = append(x.Dense, float32(r.NormFloat64()))
			score += float64(x.Dense[j]) * normal[j] / size
		}
		side := math.Copysign(1, score)
		for j := range width {
			x.Dense[j] += float32(side*gap*normal[j]/size + offset)
		}
		x.Label = map[bool]string{true: "b", false: "a"}[side > 0]
		records[i] = x
	}
	return records
}

// Of classes that a plane separates, the largest margin is proved to 1e-4. With a copy of one record under the other
// label there is no margin, to 1e-9 of the radius.
func TestLargestMargin(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 8))
		records := separable(r, 40+r.IntN(200), 1+r.IntN(6), math.Ldexp(1, -r.IntN(6)), float64(r.IntN(3)))
		params := `{"margin":true,"C":1e9,"tol":1e-5,"solver":"newton","bias_scale":1}`
		m, result := train(t, params, records)
		if g := m.margins[0]; !(g.Hi/g.Lo-1 <= 1e-4) {
			t.Errorf("seed %d: %+v after %d rounds, %+v", seed, g, result.Rounds, m.proofs[0])
		}
		copied := records[r.IntN(len(records))]
		copied.Label = map[string]string{"a": "b", "b": "a"}[copied.Label]
		m, result = train(t, params, append(records, copied))
		radius := 0.0
		for _, x := range records {
			radius = max(radius, math.Sqrt(dual.Row{Values: x.Dense, Bias: 1}.Square()))
		}
		if g := m.margins[0]; g.Lo != 0 || g.Hi > 1e-9*radius {
			t.Errorf("seed %d: %+v of a radius %v after %d rounds, %+v", seed, g, radius, result.Rounds, m.proofs[0])
		}
	}
}

// The report has the bounds of every job whose loss has a margin, the model those of one that asks.
func TestMarginFacts(t *testing.T) {
	records := groups(60, 3, 3, false)
	for _, c := range []struct {
		params            string
		reported, inModel bool
	}{
		{`{}`, true, false}, {`{"margin":true}`, true, true}, {`{"loss":"squared"}`, false, false},
		{`{"margin":true,"solver":"ascend","loss":"squared_hinge","max_rounds":9}`, true, true},
	} {
		m, result := train(t, c.params, records)
		hi := -1.0
		if err := jobs.ReadMetric(result.Metrics, "linear.margin.002.hi", &hi); err != nil {
			t.Fatal(err)
		}
		if (hi > 0) != c.reported || (m.margins != nil) != c.inModel {
			t.Errorf("%s: %v in the report, %v in the model", c.params, hi, m.margins)
		}
		if c.inModel && m.margins[2].Hi != hi {
			t.Errorf("%s: %v in the report, %v in the model", c.params, hi, m.margins[2].Hi)
		}
		checkMarginTexts(t, m, result)
	}
	_, err := New(specOf(`{"margin":true,"loss":"squared"}`))
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), "squared") {
		t.Errorf("the margin of a loss that has none: %v", err)
	}
}

// checkMarginTexts looks for the bounds where people read about a model.
func checkMarginTexts(t *testing.T, m *model, result jobstest.Result) {
	t.Helper()
	text, err := Kind().Describe(result.Model, jobs.DescribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := Kind().Figures(result.Model, result.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, f := range figures {
		if f.Title == "Largest margin" {
			shown = len(f.Table.Rows)
		}
	}
	if strings.Contains(text, "with a column of 1 for the bias") != (m.margins != nil) || shown != len(m.margins) {
		t.Errorf("%s\n%d machines in the report", text, shown)
	}
}

// Arrays that no training writes are faults.
func TestMalformedMargins(t *testing.T) {
	_, result := train(t, `{"margin":true}`, groups(60, 3, 2, false))
	for _, list := range [][]float64{{1, 0.5}, {-1, 1}, {math.NaN(), 1}, {0, math.Inf(1)}, {1}} {
		jobs.Put(result.Model, "training.margin", list, 1, len(list))
		var fault *protocol.Fault
		if _, err := readModel(result.Model); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%v: %v", list, err)
		}
	}
}
