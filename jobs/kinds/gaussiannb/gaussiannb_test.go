package gaussiannb

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func specOf(params string, testShare float64) protocol.JobSpec {
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Input.Split.Test = testShare
	spec.Spec.Repro.Seed = 7
	return spec
}

func train(t testing.TB, spec protocol.JobSpec, shards [][]jobstest.Record) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 16), kernelops.Best(),
		jobstest.Grouping{})
}

func modelOf(t testing.TB, params string, records []jobstest.Record) jobs.Arrays {
	t.Helper()
	result, err := train(t, specOf(params, 0), jobstest.Deal(records, 3))
	if err != nil {
		t.Fatal(err)
	}
	return result.Model
}

func predict(t testing.TB, model jobs.Arrays, records []jobstest.Record) []jobs.Outcome {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	var all []jobs.Outcome
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 7)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			o.Scores = slices.Clone(o.Scores)
			all = append(all, o)
		}
	}
	return all
}

// Class a holds -1 and 1 (mean 0, variance 1), class b holds 3, 5 and 7 (mean 5, variance 8/3). Over
// all five the mean is 3, the variance (16+4+0+4+16)/5 = 8; the second column is constant.
var fivePoints = jobstest.DenseRecords([][]float32{{-1, 2}, {1, 2}, {3, 2}, {5, 2}, {7, 2}}, "a", "a", "b", "b", "b")

func TestModelByHand(t *testing.T) {
	m, err := jobs.Load[model](modelOf(t, `{"var_smoothing": 0.125}`, fivePoints)) // 0.125 * 8 = 1
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.weight, []float64{2, 3}) || !near(m.mean, []float64{0, 2, 5, 2}) ||
		!near(m.variance, []float64{2, 1, 11.0 / 3, 1}) {
		t.Errorf("weights %v, means %v, variances %v", m.weight, m.mean, m.variance)
	}
}

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) })
}

// At (2, 2), with the variances above and the learned prior:
//
//	a: 2/5 * exp(-(2-0)^2/4) / sqrt(2)
//	b: 3/5 * exp(-(2-5)^2/(22/3)) / sqrt(11/3)
//
// The second column is the same in both and cancels.
func TestPosteriorByHand(t *testing.T) {
	a, b := 0.4*math.Exp(-1)/math.Sqrt(2), 0.6*math.Exp(-27.0/22)/math.Sqrt(11.0/3)
	at := jobstest.DenseRecords([][]float32{{2, 2}}, "?")
	for params, want := range map[string][]float64{
		`{"var_smoothing": 0.125}`:                     {a / (a + b), b / (a + b)},
		`{"var_smoothing": 0.125, "prior": "uniform"}`: {a / 0.4 / (a/0.4 + b/0.6), b / 0.6 / (a/0.4 + b/0.6)},
		`{"var_smoothing": 0.125, "prior": {"a": 0.7, "b": 0.3}}`: {
			a * 0.7 / 0.4 / (a*0.7/0.4 + b*0.3/0.6), b * 0.3 / 0.6 / (a*0.7/0.4 + b*0.3/0.6)},
	} {
		o := predict(t, modelOf(t, params, fivePoints), at)[0]
		if !near(o.Scores, want) || o.Label != "a" {
			t.Errorf("%s: %+v, want %v", params, o, want)
		}
	}
}

func TestDecisionRules(t *testing.T) {
	at := jobstest.DenseRecords([][]float32{{2, 2}, {-1, 2}}, "?", "?")
	o := predict(t, modelOf(t, `{"var_smoothing": 0.125, "reject_below": 0.9}`, fivePoints), at)
	if !o[0].Rejected || o[0].Label != "" || o[1].Rejected || o[1].Label != "a" {
		t.Errorf("%+v", o)
	}
	if o = predict(t, modelOf(t, `{"var_smoothing": 0.125, "costs": {"b": {"a": 9}}}`, fivePoints),
		at); o[0].Label != "b" || o[1].Label != "a" {
		t.Errorf("%+v", o)
	}
}

// Beyond all numbers from both classes, nothing is said but the tie's label.
func TestFarAway(t *testing.T) {
	o := predict(t, modelOf(t, `{"var_smoothing": 1e-30}`, fivePoints),
		jobstest.DenseRecords([][]float32{{2, math.MaxFloat32}}, "?"))[0]
	for _, p := range o.Scores {
		if !(p >= 0 && p <= 1) {
			t.Errorf("%+v", o)
		}
	}
}

// A record of weight 2 is a record that stands there twice.
func TestWeightsAreRepetitions(t *testing.T) {
	twice, weighted := slices.Clone(fivePoints), slices.Clone(fivePoints)
	twice = append(twice, fivePoints[1])
	for i := range weighted {
		weighted[i].Weight = 1
	}
	weighted[1].Weight = 2
	a, err := train(t, specOf(`{}`, 0), [][]jobstest.Record{twice})
	if err != nil {
		t.Fatal(err)
	}
	b, err := train(t, specOf(`{}`, 0), [][]jobstest.Record{weighted})
	if err != nil {
		t.Fatal(err)
	}
	m, err := jobs.Load[model](a.Model)
	if err != nil {
		t.Fatal(err)
	}
	n, err := jobs.Load[model](b.Model)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.weight, n.weight) || !near(m.mean, n.mean) || math.Abs(m.variance[0]-n.variance[0]) > 1e-7 {
		t.Errorf("%v, %v, %v\n%v, %v, %v", m.weight, m.mean, m.variance, n.weight, n.mean, n.variance)
	}
}

// table reads a file of the form "rows,columns,label...", then a line per row whose last field is
// the number of its label.
func table(t testing.TB, name string) []jobstest.Record {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	labels := strings.Split(strings.TrimSpace(lines[0]), ",")[2:]
	var records []jobstest.Record
	for _, line := range lines[1:] {
		fields := strings.Split(strings.TrimSpace(line), ",")
		var r jobstest.Record
		for _, field := range fields[:len(fields)-1] {
			v, err := strconv.ParseFloat(field, 32)
			if err != nil {
				t.Fatal(err)
			}
			r.Dense = append(r.Dense, float32(v))
		}
		y, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			t.Fatal(err)
		}
		r.Label = labels[y]
		records = append(records, r)
	}
	return records
}

// oracle is the definition in two passes of plain float64, with the default parameters.
func oracle(records []jobstest.Record, labels []string) func(x []float32) []float64 {
	width, largest := len(records[0].Dense), 0.0
	column := func(label string, j int) (n, mean, variance float64) {
		for pass := range 3 {
			for _, r := range records {
				if v := float64(r.Dense[j]); label != "" && r.Label != label {
					continue
				} else if pass == 0 {
					n++
				} else if pass == 1 {
					mean += v / n
				} else {
					variance += (v - mean) * (v - mean) / n
				}
			}
		}
		return n, mean, variance
	}
	for j := range width {
		_, _, v := column("", j)
		largest = max(largest, v)
	}
	return func(x []float32) []float64 {
		posterior, sum := make([]float64, len(labels)), 0.0
		for y, label := range labels {
			log := 0.0
			for j := range width {
				n, mean, variance := column(label, j)
				if j == 0 {
					log = math.Log(n / float64(len(records)))
				}
				variance += 1e-9 * largest
				d := float64(x[j]) - mean
				log -= 0.5*math.Log(2*math.Pi*variance) + d*d/(2*variance)
			}
			posterior[y] = math.Exp(log)
			sum += posterior[y]
		}
		for y := range posterior {
			posterior[y] /= sum
		}
		return posterior
	}
}

// On the records it was trained on, iris gets 144 of 150 right (0.960) and wine 176 of 178 (0.989),
// as the definition does; every posterior agrees to 1e-9.
func TestAgainstTheDefinition(t *testing.T) {
	for name, correct := range map[string]int{"iris.csv": 144, "wine_data.csv": 176} {
		records := table(t, name)
		model := modelOf(t, `{}`, records)
		p, err := NewPredictor(model, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		labels := p.Answers().Labels
		want := oracle(records, labels)
		got, right := predict(t, model, records), 0
		for i, o := range got {
			posterior := want(records[i].Dense)
			for y := range labels {
				if math.Abs(o.Scores[y]-posterior[y]) > 1e-9 {
					t.Fatalf("%s, record %d: %v, want %v", name, i, o.Scores, posterior)
				}
			}
			if best := slices.Index(posterior, slices.Max(posterior)); o.Label != labels[best] {
				t.Errorf("%s, record %d: %s, want %s", name, i, o.Label, labels[best])
			}
			if o.Label == records[i].Label {
				right++
			}
		}
		if right != correct {
			t.Errorf("%s: %d of %d right", name, right, len(records))
		}
	}
}

// Densities follow an affine change of a column, so decisions do not depend on the scale.
func TestScaleDoesNotDecide(t *testing.T) {
	records := table(t, "wine_data.csv")
	plain := predict(t, modelOf(t, `{"var_smoothing": 1e-15}`, records), records)
	for _, scale := range []string{"standard", "minmax"} {
		for i, o := range predict(t, modelOf(t, `{"var_smoothing": 1e-15, "features": {"scale": "`+scale+`"}}`,
			records), records) {
			if o.Label != plain[i].Label {
				t.Errorf("%s: record %d is %s, not %s", scale, i, o.Label, plain[i].Label)
			}
		}
	}
}

func TestGroupingNeverChangesABit(t *testing.T) {
	spec := specOf(`{"features": {"scale": "standard"}, "costs": {"setosa": {"virginica": 4}}}`, 0.3)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	shards := append(jobstest.Deal(table(t, "iris.csv"), 9), nil)
	for _, ops := range kernelops.All() {
		jobstest.CheckGrouping(t, algorithm, spec, shards, ops)
	}
}

func TestEvaluation(t *testing.T) {
	result, err := train(t, specOf(`{}`, 0.3), jobstest.Deal(table(t, "iris.csv"), 4))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPredictor(result.Model, nil); err != nil {
		t.Error(err)
	}
	for _, m := range result.Metrics {
		if m.Name != "evaluation" {
			continue
		}
		var report struct{ Records, Correct int }
		if err := json.Unmarshal(m.Value, &report); err != nil || report.Records < 30 ||
			report.Correct*10 < report.Records*9 {
			t.Errorf("%+v, %v", report, err)
		}
		return
	}
	t.Error("no evaluation")
}

// The queries are judged, all of them, and a label that training did not see is wrong: two of three are right. The
// model is the same as without; a split beside queries is refused.
func TestEvaluationOnQueries(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0}, {2}, {10}, {12}}, "low", "low", "high", "high")
	queries := jobstest.DenseRecords([][]float32{{1}, {11}, {12}}, "low", "high", "highest")
	spec := specOf(`{}`, 0)
	spec.Spec.Queries = &protocol.Input{}
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 3), 2),
		kernelops.Best(), jobstest.Grouping{},
		jobstest.WithQueries(jobstest.Deal(queries, 2)))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(result.Metrics, func(m jobs.Metric) bool { return m.Name == "evaluation" })
	var report struct{ Records, Correct int }
	if at < 0 || json.Unmarshal(result.Metrics[at].Value, &report) != nil || report.Records != 3 ||
		report.Correct != 2 {
		t.Errorf("%+v", report)
	}
	if got, want := jobstest.Digest(result.Model), jobstest.Digest(modelOf(t, `{}`, records)); got != want {
		t.Errorf("model %s with queries, %s without", got, want)
	}
	spec.Spec.Input.Split.Test = 0.5
	if _, err := New(spec); err == nil {
		t.Error("queries beside a split")
	}
}
