package nearestmean

import (
	"encoding/json"
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

func specOf(params string) protocol.JobSpec {
	spec := protocol.JobSpec{Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	return spec
}

func train(t testing.TB, params string, records []jobstest.Record, shards int, ops *kernelops.Set) (jobs.Arrays,
	error) {
	t.Helper()
	spec := specOf(params)
	algorithm, err := New(spec)
	if err != nil {
		return nil, err
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, shards), 3), ops,
		jobstest.Grouping{})
	if err != nil {
		return nil, err
	}
	return jobs.Decode(result.Model.Encode())
}

// outcomes predicts records with a model.
func outcomes(t testing.TB, model jobs.Arrays, records []jobstest.Record) []jobs.Outcome {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	var all []jobs.Outcome
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 2)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		some, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

// Class "-" has its mean at (1, 0), class "+" at (3, 4): w = 2 (2, 4) = (4, 8), of length
// sqrt(80) = 8.94427, and b = 1 - 25 = -24.
var fourPoints = jobstest.DenseRecords([][]float32{{0, 0}, {2, 6}, {2, 0}, {4, 2}}, "-", "+", "-", "+")

func TestMeansByHand(t *testing.T) {
	model, err := train(t, `{}`, fourPoints, 2, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	means, err := jobs.Get[float64](model, "means", 2, 2)
	if err != nil || !slices.Equal(means, []float64{3, 4, 1, 0}) { // "+" is before "-"
		t.Errorf("means %v, %v", means, err)
	}
	text, err := Kind().Describe(model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "|w| = 8.94427 and b = 24") {
		t.Errorf("%s%v", text, err)
	}
}

// (2, 2) is equally far from both means: sqrt(5).
func TestPredictByHand(t *testing.T) {
	model, err := train(t, `{}`, fourPoints, 1, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	got := outcomes(t, model, jobstest.DenseRecords([][]float32{{1, 0}, {3, 5}, {2, 2}}))
	for i, want := range []struct {
		label    string
		distance float64
	}{{"-", 0}, {"+", 1}, {"+", math.Sqrt(5)}} {
		if got[i].Label != want.label || got[i].Value != want.distance {
			t.Errorf("record %d: %+v, want %+v", i, got[i], want)
		}
	}
}

// drawRecords draws small records of three classes, every class among them.
func drawRecords(t *rapid.T) [][]float32 {
	n := rapid.IntRange(3, 20).Draw(t, "records")
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = rapid.SliceOfN(rapid.Float32Range(-100, 100), 4, 4).Draw(t, "row")
		rows[i][rapid.IntRange(0, 3).Draw(t, "zero")] = 0
	}
	return rows
}

func labelsOf(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = string(rune('a' + i%3))
	}
	return labels
}

// The same job, written as the text has it, decides alike wherever two distances differ.
func TestAgainstTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := drawRecords(rt)
		labels := labelsOf(len(rows))
		model, err := train(t, `{}`, jobstest.DenseRecords(rows, labels...), 3, kernelops.Best())
		if err != nil {
			rt.Fatal(err)
		}
		var mean [3][4]float64
		var count [3]float64
		for i, row := range rows {
			count[i%3]++
			for j, v := range row {
				mean[i%3][j] += float64(v)
			}
		}
		for i, o := range outcomes(t, model, jobstest.DenseRecords(rows)) {
			var want [3]float64
			for y := range want {
				for j, v := range rows[i] {
					want[y] += math.Pow(float64(v)-mean[y][j]/count[y], 2)
				}
				if math.Abs(o.Scores[y]-math.Sqrt(want[y])) > 1e-6*(1+o.Scores[y]) {
					rt.Fatalf("record %d: %v away from class %d, not %v", i, o.Scores[y], y, math.Sqrt(want[y]))
				}
			}
			if o.Scores[o.Label[0]-'a'] != slices.Min(o.Scores) {
				rt.Fatalf("record %d: %+v", i, o)
			}
		}
	})
}

// Sparse rows and dense ones of the same values have the same means and nearly the same distances.
func TestSparseIsDense(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := drawRecords(rt)
		labels := labelsOf(len(rows))
		dense, err := train(t, `{}`, jobstest.DenseRecords(rows, labels...), 2, kernelops.Best())
		if err != nil {
			rt.Fatal(err)
		}
		sparse, err := train(t, `{}`, jobstest.SparseRecords(4, rows, labels...), 2, kernelops.Best())
		if err != nil {
			rt.Fatal(err)
		}
		a, b := outcomes(t, dense, jobstest.DenseRecords(rows)), outcomes(t, sparse, jobstest.SparseRecords(4, rows))
		for i := range a {
			for y := range a[i].Scores {
				if d, s := a[i].Scores[y], b[i].Scores[y]; math.Abs(d*d-s*s) > 1e-9*(1+d*d)*1e3 {
					rt.Fatalf("record %d, class %d: %v and %v", i, y, d, s)
				}
			}
		}
	})
}

func TestWeightsAreRepetitions(t *testing.T) {
	weighted := jobstest.DenseRecords([][]float32{{1, 2}, {5, 6}, {0, 1}}, "a", "a", "b")
	weighted[0].Weight, weighted[1].Weight, weighted[2].Weight = 3, 1, 2
	repeated := jobstest.DenseRecords([][]float32{{1, 2}, {1, 2}, {1, 2}, {5, 6}, {0, 1}, {0, 1}}, "a", "a", "a", "a",
		"b", "b")
	a, err := train(t, `{}`, weighted, 2, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	b, err := train(t, `{}`, repeated, 2, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"means", "means.weight"} {
		if string(a[name].Data) != string(b[name].Data) {
			t.Errorf("%s differ", name)
		}
	}
}

func TestGroupingNeverShows(t *testing.T) {
	rows := make([][]float32, 23)
	for i := range rows {
		rows[i] = []float32{float32(i) / 7, float32(i*i) / 3, float32(math.Cos(float64(i)))}
	}
	for _, params := range []string{`{}`, `{"features": {"scale": "standard"}}`} {
		spec := specOf(params)
		algorithm, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, ops := range kernelops.All() {
			jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(jobstest.DenseRecords(rows, labelsOf(23)...), 5),
				ops)
		}
	}
}

func TestKernelSetsAgree(t *testing.T) {
	rows := make([][]float32, 100)
	for i := range rows {
		rows[i] = []float32{float32(i) * 0.37, float32(i*i) / 11, 1e-3 * float32(i%7)}
	}
	digests := map[string]string{}
	for _, ops := range kernelops.All() {
		model, err := train(t, `{}`, jobstest.DenseRecords(rows, labelsOf(100)...), 4, ops)
		if err != nil {
			t.Fatal(err)
		}
		digests[jobstest.Digest(model)] = ops.Name
	}
	if len(digests) != 1 {
		t.Errorf("models differ: %v", digests)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		code    protocol.Code
	}{
		"one class":     {`{}`, jobstest.DenseRecords([][]float32{{1}, {2}}, "a", "a"), protocol.CodeInputEmpty},
		"no labels":     {`{}`, jobstest.DenseRecords([][]float32{{1}, {2}}), ""},
		"width changes": {`{}`, jobstest.DenseRecords([][]float32{{1}, {2, 3}}, "a", "b"), protocol.CodeBadRecord},
		"NaN": {`{}`, jobstest.DenseRecords([][]float32{{1}, {float32(math.NaN())}}, "a", "b"),
			protocol.CodeBadRecord},
		"a misspelt param":   {`{"feature": {}}`, nil, protocol.CodeSpecInvalid},
		"a scale unheard of": {`{"features": {"scale": "cubic"}}`, nil, protocol.CodeSpecInvalid},
	} {
		_, err := train(t, c.params, c.records, 1, kernelops.Generic())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || c.code != "" && fault.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever bytes a model has, it is read or refused, never a panic.
func FuzzModel(f *testing.F) {
	model, err := train(f, `{}`, fourPoints, 1, kernelops.Generic())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(model.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := jobs.Decode(data)
		if err != nil {
			return
		}
		if _, err := NewPredictor(a, kernelops.Generic()); err != nil {
			return
		}
		if _, err := Kind().Describe(a, jobs.DescribeOptions{}); err != nil {
			t.Error(fmt.Errorf("a model that predicts is not described: %w", err))
		}
	})
}
