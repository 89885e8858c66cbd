package linearmodel

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/gordan"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/sampling"
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
	if testing.Short() {
		t.Skip("trains with a C of 1e9, a dozen times; make test-all runs it")
	}
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
		if (hi >= 0) != c.reported || (m.margins != nil) != c.inModel {
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

// marginTexts are what is said of the machines of a job.
func marginTexts(t *testing.T, params string, records []jobstest.Record) (texts []string) {
	t.Helper()
	m, result := train(t, params, records)
	for k, g := range m.margins {
		name := "linear.margin.hi"
		if len(m.margins) > 1 {
			name = fmt.Sprintf("linear.margin.%03d.hi", k)
		}
		hi := -1.0
		if err := jobs.ReadMetric(result.Metrics, name, &hi); err != nil || hi != g.Hi {
			t.Errorf("%s: %v in the report, %v in the model, %v", params, hi, g.Hi, err)
		}
		texts = append(texts, strings.Split(margin.Text(g), ":")[0])
	}
	return texts
}

// asSparse gives records the form of sparse vectors, far apart in many columns.
func asSparse(records []jobstest.Record) []jobstest.Record {
	list := slices.Clone(records)
	for i, r := range list {
		s := jobstest.Record{Label: r.Label, Width: 1 << 10}
		for j, v := range r.Dense {
			s.Indices, s.Values = append(s.Indices, int32(j*301)), append(s.Values, v)
		}
		list[i] = s
	}
	return list
}

// What no plane separates is proved not to be, exactly: a record under both labels, exclusive or, random labels. What a
// plane separates is never said not to be. The same of dense and sparse vectors, by both solvers, and far from zero.
func TestNotSeparable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	corner := func(label string, x, y float32) jobstest.Record {
		return jobstest.Record{Label: label, Dense: []float32{x, y}}
	}
	square := []jobstest.Record{corner("a", 0, 0), corner("a", 1, 1), corner("b", 1, 0), corner("b", 0, 1)}
	apart := separable(r, 80, 3, 0.25, 0)
	both := append(slices.Clone(apart), apart[7])
	both[80].Label = map[string]string{"a": "b", "b": "a"}[apart[7].Label]
	random := groups(120, 4, 2, false)
	for i := range random {
		random[i].Label = string(rune('a' + r.IntN(2)))
	}
	far := separable(r, 80, 2, 0.25, 100)
	for name, c := range map[string]struct {
		records []jobstest.Record
		want    string
	}{
		"square": {square, "not separable"}, "both labels": {both, "not separable"},
		"random": {random, "not separable"}, "apart": {apart, "separable"}, "far": {far, ""},
	} {
		for _, params := range []string{`{"margin":true,"C":100,"solver":"newton","blocks":3}`,
			`{"margin":true,"C":1,"solver":"ascend","max_rounds":60,"loss":"squared_hinge"}`} {
			for _, records := range [][]jobstest.Record{c.records, asSparse(c.records)} {
				if strings.Contains(params, newtonName) && records[0].Dense == nil {
					continue // too wide
				}
				got := marginTexts(t, params, records)
				if got[0] != c.want && (c.want != "separable" && c.want != "" || got[0] == "not separable") {
					t.Errorf("%s, %s: %s", name, params, got[0])
				}
			}
		}
	}
}

// Of more classes, each machine is decided by itself; so are pairs. Without margin nothing is gathered.
func TestNotSeparableByMachine(t *testing.T) {
	records := []jobstest.Record{{Label: "a", Dense: []float32{0}}, {Label: "b", Dense: []float32{1}},
		{Label: "a", Dense: []float32{2}}, {Label: "c", Dense: []float32{5}}}
	for classes, want := range map[string][]string{
		oneVsRest: {"not separable", "not separable", "separable"}, oneVsOne: {"not separable", "separable", "separable"},
	} {
		params := fmt.Sprintf(`{"margin":true,"C":1e4,"classes":%q}`, classes)
		if got := marginTexts(t, params, records); !slices.Equal(got, want) {
			t.Errorf("%s: %q", classes, got)
		}
	}
}

// A sample that no leaf gathers is a fault.
func TestMalformedSamples(t *testing.T) {
	m, _ := train(t, `{"margin":true}`, groups(60, 3, 2, false))
	m.margins[0] = dual.Margin{Hi: 1}
	s := &training{model: m, asked: 1, longest: 4}
	for _, row := range [][]float32{{1, 2}, {0, 1, 2, 3}, {1, 2, 3, float32(math.NaN())}} {
		if _, err := s.gordanRow(row); err == nil {
			t.Errorf("%v was taken", row)
		}
	}
	sparse := &training{model: &model{space: &features.Space{Sparse: true}, biasScale: 0.5}, longest: 4}
	r := &record{Row: dual.Row{Index: []int32{7, 1<<30 + 1}, Values: []float32{0.1, -2}}}
	want := gordan.Row{Index: r.Index, Values: r.Values, Bias: 0.5, Side: -1}
	if got, err := sparse.gordanRow(sparse.openRow(nil, r, -1)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := sparse.gordanRow([]float32{1, 1 << 15, 0, 1, 0, 0, 0, 0, 0, 0}); err == nil {
		t.Error("a column beyond 2^31 was taken")
	}
	if err := s.decide(make([]*sampling.Sample, 2)); err == nil {
		t.Error("samples of two machines were taken")
	}
}
