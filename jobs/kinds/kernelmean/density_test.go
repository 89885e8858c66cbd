package kernelmean

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Class "a" is 0 and 2, "b" is 5, h = 1. At 1: p(1|a) = phi(1) = 0.2419707245, p(1|b) = phi(4) = 0.0001338302,
// p(a) = 2/3: the joint densities are 0.1613138163 and 0.0000446101.
func TestDensityByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0}, {5}, {2}}, "a", "b", "a")
	o := outcomes(t, DensityName, mustTrain(t, DensityName, `{"bandwidth": 1}`, records),
		jobstest.DenseRecords([][]float32{{1}}))[0]
	const a, b = 0.1613138163, 0.0000446101
	if o.Label != "a" || math.Abs(o.Scores[0]-a/(a+b)) > 1e-9 || math.Abs(o.Value-math.Log(a+b)) > 1e-8 {
		t.Errorf("%+v", o)
	}
}

// Class "a" is (0,0) and (2,4): the variances are 1 and 4, so s = sqrt(2.5); with m = 2 and d = 2 Scott's
// bandwidth is s 2^(-1/6), and Silverman's the same, (d+2)/4 being 1. Class "b" has d = 2, m = 4 and s = 1.
func TestRulesOfThumb(t *testing.T) {
	rows := [][]float32{{0, 0}, {2, 4}, {9, 9}, {11, 9}, {9, 11}, {11, 11}}
	want := []float64{math.Sqrt(2.5) * math.Pow(2, -1.0/6), math.Pow(4, -1.0/6)}
	for _, params := range []string{`{}`, `{"bandwidth_rule": "silverman"}`} {
		model := mustTrain(t, DensityName, params, jobstest.DenseRecords(rows, "a", "a", "b", "b", "b", "b"))
		got, err := jobs.Get[float64](model, "bandwidth", 2)
		if err != nil || math.Abs(got[0]-want[0]) > 1e-15 || math.Abs(got[1]-want[1]) > 1e-15 {
			t.Errorf("%s: %v, %v, want %v", params, got, err, want)
		}
		if text, err := DensityKind().Describe(model, jobs.DescribeOptions{}); err != nil ||
			!strings.Contains(text, "1.40863") {
			t.Errorf("%s%v", text, err)
		}
	}
	model := mustTrain(t, DensityName, `{"bandwidth_rule": "silverman"}`,
		jobstest.DenseRecords([][]float32{{0}, {2}, {7}, {9}}, "a", "a", "b", "b"))
	if got, err := jobs.Get[float64](model, "bandwidth", 2); err != nil ||
		math.Abs(got[0]-math.Pow(4.0/3/2, 1.0/5)) > 1e-15 {
		t.Errorf("%v, %v", got, err)
	}
}

// plainDensity is log p(x, y) in float64, straight from the text.
func plainDensity(rows [][]float32, labels []string, weights []float64, class string, h float64, x []float32) float64 {
	var terms []float64
	total, all := 0.0, 0.0
	for i, row := range rows {
		all += weights[i]
		if labels[i] != class {
			continue
		}
		squared := 0.0
		for j := range row {
			d := float64(x[j]) - float64(row[j])
			squared += d * d
		}
		total += weights[i]
		terms = append(terms, math.Log(weights[i])-squared/(2*h*h))
	}
	top, sum := slices.Max(terms), 0.0
	for _, e := range terms {
		sum += math.Exp(e - top)
	}
	d := float64(len(x))
	return top + math.Log(sum) - math.Log(total) - d*math.Log(h) - d/2*math.Log(2*math.Pi) + math.Log(total/all)
}

// failer is a test, or a property under test.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkDensity compares outcomes with plainDensity: log densities to 1e-9 relative, posteriors to 1e-6.
func checkDensity(t failer, o jobs.Outcome, classes []string, joint []float64) {
	t.Helper()
	top, evidence, best := slices.Max(joint), 0.0, 0
	for _, v := range joint {
		evidence += math.Exp(v - top)
	}
	for y, v := range joint {
		if v > joint[best] {
			best = y
		}
		if want := math.Exp(v-top) / evidence; math.Abs(o.Scores[y]-want) > 1e-6 {
			t.Fatalf("class %s: posterior %v, not %v", classes[y], o.Scores[y], want)
		}
	}
	if want := top + math.Log(evidence); math.Abs(o.Value-want) > 1e-9*(1+math.Abs(want)) {
		t.Fatalf("log density %v, not %v", o.Value, want)
	}
	if gap := o.Scores[best] - o.Scores[slices.Index(classes, o.Label)]; gap > 1e-9 {
		t.Fatalf("%q is decided, and %q has a posterior %v larger", o.Label, classes[best], gap)
	}
}

func TestDensityOfRealTables(t *testing.T) {
	for _, file := range []string{"iris.csv", "wine_data.csv", "breast_cancer.csv"} {
		rows, labels := jobstest.Table(t, file, 1)
		classes := slices.Compact(slices.Sorted(slices.Values(labels)))
		weights := slices.Repeat([]float64{1}, len(rows))
		for _, params := range []string{`{}`, `{"bandwidth": 0.1}`, `{"bandwidth": 20}`, `{"bandwidth": 1e6}`} {
			model := mustTrain(t, DensityName, params, jobstest.DenseRecords(rows, labels...))
			h, err := jobs.Get[float64](model, "bandwidth", len(classes))
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range outcomes(t, DensityName, model, jobstest.DenseRecords(rows)) {
				var joint []float64
				for y, class := range classes {
					joint = append(joint, plainDensity(rows, labels, weights, class, h[y], rows[i]))
				}
				checkDensity(t, o, classes, joint)
			}
		}
	}
}

// Near and far from the records, with weights and without, dense and sparse.
func TestDensityAgainstTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(rt, "records")
		h := rapid.SampledFrom([]float64{1e-4, 0.3, 2, 1e5}).Draw(rt, "bandwidth")
		offset := rapid.SampledFrom([]float32{0, 1000, 1e8}).Draw(rt, "offset")
		far := rapid.SampledFrom([]float32{0, 50, 1e9}).Draw(rt, "far")
		weighted, sparse := rapid.Bool().Draw(rt, "weighted"), rapid.Bool().Draw(rt, "sparse")
		rows, queries, labels, weights := make([][]float32, n), make([][]float32, n), make([]string, n),
			make([]float64, n)
		for i := range rows {
			rows[i] = rapid.SliceOfN(rapid.Float32Range(-3, 3), 6, 6).Draw(rt, "row")
			rows[i][rapid.IntRange(0, 5).Draw(rt, "shifted")] += offset
			queries[i] = slices.Clone(rows[i])
			queries[i][0] += far
			labels[i], weights[i] = string(rune('a'+i%2)), 1
			if weighted {
				weights[i] = float64(rapid.IntRange(1, 4).Draw(rt, "weight"))
			}
		}
		records, asked := jobstest.DenseRecords(rows, labels...), jobstest.DenseRecords(queries)
		if sparse {
			records, asked = jobstest.SparseRecords(6, rows, labels...), jobstest.SparseRecords(6, queries)
		}
		for i := range records {
			if weighted {
				records[i].Weight = float32(weights[i])
			}
		}
		model := mustTrain(t, DensityName, fmt.Sprintf(`{"bandwidth": %g}`, h), records)
		for i, o := range outcomes(t, DensityName, model, asked) {
			var joint []float64
			for _, class := range []string{"a", "b"} {
				joint = append(joint, plainDensity(rows, labels, weights, class, h, queries[i]))
			}
			// The relative error of the logarithms is 2^-50. If that leaves their difference uncertain by more than
			// 1e-7, the posterior is checked only where one class wins clearly.
			if unsure := math.Ldexp(math.Abs(joint[0]), -50); unsure > 1e-7 &&
				math.Abs(joint[0]-joint[1]) < 100+8*unsure {
				continue
			}
			checkDensity(rt, o, []string{"a", "b"}, joint)
		}
	})
}

// Far from all records every density is 0 in float64, and the decision is that of the closest class.
func TestFarAway(t *testing.T) {
	model := mustTrain(t, DensityName, `{"bandwidth": 1}`, jobstest.DenseRecords([][]float32{{0, 0}, {10, 0}}, "a",
		"b"))
	far := jobstest.DenseRecords([][]float32{{1e6, 0}, {-1e6, 0}, {3e38, 3e38}, {-3e38, -3e38}})
	for i, o := range outcomes(t, DensityName, model, far) {
		if sum := o.Scores[0] + o.Scores[1]; math.Abs(sum-1) > 1e-12 || o.Value-o.Value != 0 {
			t.Errorf("record %d: %+v", i, o)
		}
		if want := []string{"b", "a"}; i < 2 && (o.Label != want[i] || slices.Max(o.Scores) != 1) {
			t.Errorf("record %d: %+v", i, o)
		}
	}
}

// At 5 the two classes are as likely, and the first label wins; costs and rejection decide otherwise.
func TestDecisionRules(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0}, {10}}, "b", "a")
	for params, want := range map[string]string{
		`{"bandwidth": 1}`:                                            "a",
		`{"bandwidth": 1, "reject_below": 0.6}`:                       "",
		`{"bandwidth": 1, "costs": {"b": {"a": 2}}}`:                  "b",
		`{"bandwidth": 1, "costs": {"b": {"a": 2}, "a": {"b": 2.5}}}`: "a",
	} {
		o := outcomes(t, DensityName, mustTrain(t, DensityName, params, records),
			jobstest.DenseRecords([][]float32{{5}}))[0]
		if o.Label != want || o.Rejected != (want == "") {
			t.Errorf("%s: %+v", params, o)
		}
	}
	// Priors: two records of "b" at 0 outweigh the one of "a", unless they are uniform.
	records = jobstest.DenseRecords([][]float32{{0}, {10}, {0}}, "b", "a", "b")
	for params, want := range map[string]string{`{"bandwidth": 1}`: "b", `{"bandwidth": 1, "prior": "uniform"}`: "a"} {
		if o := outcomes(t, DensityName, mustTrain(t, DensityName, params, records),
			jobstest.DenseRecords([][]float32{{5}}))[0]; o.Label != want {
			t.Errorf("%s: %+v", params, o)
		}
	}
}

// The filter in float32 spares distances and changes no bit: without its bound every distance is measured. The
// bandwidth is so narrow that few records count for any query.
func TestFilterChangesNothing(t *testing.T) {
	rows, labels := jobstest.Table(t, "wine_data.csv", 1)
	m := densityModelOf(t, `{"bandwidth": 0.5}`, rows, labels)
	filtered, whole := newParzen(m, kernelops.Best()), newParzen(m, kernelops.Best())
	for i := range whole.norms {
		whole.norms[i] = math.Inf(1) // no bound
	}
	a := jointOf(t, filtered, rows)
	if wide := len(filtered.wide); wide > 0 {
		t.Fatalf("%d queries are wide", wide)
	}
	if !slices.Equal(a, jointOf(t, whole, rows)) {
		t.Error("the filter shows")
	}
}

func TestRefused(t *testing.T) {
	two := jobstest.DenseRecords([][]float32{{1}, {2}}, "a", "b")
	for name, c := range map[string]struct {
		kind, params string
		records      []jobstest.Record
		code         protocol.Code
	}{
		"no spread": {DensityName, `{}`, two, protocol.CodeInputEmpty},
		"one class": {DensityName, `{"bandwidth": 1}`, jobstest.DenseRecords([][]float32{{1}, {2}}, "a", "a"),
			protocol.CodeInputEmpty},
		"one class of means": {MeanName, `{}`, jobstest.DenseRecords([][]float32{{1}, {2}}, "a", "a"),
			protocol.CodeInputEmpty},
		"a class of no weight": {MeanName, `{}`, []jobstest.Record{{Label: "a", Dense: []float32{1}, Weight: 1},
			{Label: "b", Dense: []float32{1}},
			{Label: "a", Dense: []float32{2}}}, protocol.CodeInputEmpty},
		"width changes": {MeanName, `{}`, jobstest.DenseRecords([][]float32{{1}, {2, 3}}, "a", "b"),
			protocol.CodeBadRecord},
		"NaN": {DensityName, `{"bandwidth": 1}`,
			jobstest.DenseRecords([][]float32{{1}, {float32(math.NaN())}}, "a", "b"), protocol.CodeBadRecord},
		"no records":        {MeanName, `{}`, nil, protocol.CodeInputEmpty},
		"bandwidth 0 below": {DensityName, `{"bandwidth": -1}`, two, protocol.CodeSpecInvalid},
		"two bandwidths": {DensityName, `{"bandwidth": 1, "bandwidth_rule": "scott"}`, two,
			protocol.CodeSpecInvalid},
		"a rule unheard of":  {DensityName, `{"bandwidth_rule": "thumb"}`, two, protocol.CodeSpecInvalid},
		"a prior unheard of": {DensityName, `{"prior": "flat"}`, two, protocol.CodeSpecInvalid},
		"two decisions":      {DensityName, `{"reject_below": 0.5, "costs": {}}`, two, protocol.CodeSpecInvalid},
		"a kernel misspelt":  {MeanName, `{"kernel": "rfb"}`, two, protocol.CodeSpecInvalid},
		"gamma of linear":    {MeanName, `{"gamma": 1}`, two, protocol.CodeSpecInvalid},
		"costs of no label":  {MeanName, `{"costs": {"x": {"a": 1}}}`, two, protocol.CodeSpecInvalid},
		"a misspelt param":   {MeanName, `{"kernal": "rbf"}`, two, protocol.CodeSpecInvalid},
	} {
		_, err := train(t, c.kind, c.params, c.records, 1, kernelops.Generic())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
