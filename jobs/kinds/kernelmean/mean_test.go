package kernelmean

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
	"github.com/gram-compute/gram/jobs/kinds/nearestmean"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func specOf(kind, params string) protocol.JobSpec {
	spec := protocol.JobSpec{Kind: kind}
	spec.Spec.Params = json.RawMessage(params)
	return spec
}

func kindOf(name string) jobs.Kind {
	switch name {
	case DensityName:
		return DensityKind()
	case nearestmean.KindName:
		return nearestmean.Kind()
	}
	return MeanKind()
}

func train(t testing.TB, kind, params string, records []jobstest.Record, shards int, ops *kernelops.Set) (jobs.Arrays,
	error) {
	t.Helper()
	spec := specOf(kind, params)
	algorithm, err := kindOf(kind).New(spec)
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

func mustTrain(t testing.TB, kind, params string, records []jobstest.Record) jobs.Arrays {
	t.Helper()
	model, err := train(t, kind, params, records, 3, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// outcomes predicts records with a model.
func outcomes(t testing.TB, kind string, model jobs.Arrays, records []jobstest.Record) []jobs.Outcome {
	t.Helper()
	p, err := kindOf(kind).Predict(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	var all []jobs.Outcome
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 700)[0](t.Context()) {
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

// Class "-" is (0,0) and (2,0), class "+" is (2,6) and (4,2). With k(x, y) = <x, y>^2 the sums over
// the class are 0+0+0+16 for "-", so that its norm is 16/4 = 4, and 40^2 + 20^2 + 20^2 + 20^2 = 2,800 for "+", 700.
// At (1,1): k = 0 and 4 for "-", 64 and 36 for "+", and k(x,x) = 4.
func TestMeanByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0, 0}, {2, 6}, {2, 0}, {4, 2}}, "-", "+", "-", "+")
	model := mustTrain(t, MeanName, `{"kernel": "polynomial", "offset": 0, "degree": 2}`, records)
	norms, err := jobs.Get[float64](model, "norms", 2)
	if err != nil || !slices.Equal(norms, []float64{700, 4}) { // "+" is before "-"
		t.Errorf("norms %v, %v", norms, err)
	}
	o := outcomes(t, MeanName, model, jobstest.DenseRecords([][]float32{{1, 1}}))[0]
	want := []float64{math.Sqrt(4 - 100 + 700), 2}
	if o.Label != "-" || o.Value != 2 || !slices.Equal(o.Scores, want) {
		t.Errorf("%+v, want %v", o, want)
	}
	text, err := MeanKind().Describe(model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "above 0 for -") || !strings.Contains(text, "b = 348") {
		t.Errorf("%s%v", text, err)
	}
}

// circles are points at radius 1 and 2.
func circles(n int) []jobstest.Record {
	var rows [][]float32
	var labels []string
	for i := range n {
		radius, label := 1.0, "inner"
		if i%2 == 1 {
			radius, label = 2, "outer"
		}
		angle := 2 * math.Pi * float64(i) / float64(n)
		rows, labels = append(rows, []float32{float32(radius * math.Cos(angle)), float32(radius * math.Sin(angle))}),
			append(labels, label)
	}
	return jobstest.DenseRecords(rows, labels...)
}

// No line parts a circle from the one around it; the kernels that see radii do.
func TestCircles(t *testing.T) {
	right := func(kind, params string) (share float64) {
		records := circles(200)
		for i, o := range outcomes(t, kind, mustTrain(t, kind, params, records), records) {
			if o.Label == records[i].Label {
				share += 1.0 / 200
			}
		}
		return share
	}
	if share := right(MeanName, `{}`); share > 0.75 {
		t.Errorf("linear: %v are right", share)
	}
	for _, c := range [][2]string{{MeanName, `{"kernel": "polynomial"}`}, {DensityName, `{"bandwidth": 0.3}`}} {
		if share := right(c[0], c[1]); share < 0.9999 {
			t.Errorf("%s %s: only %v are right", c[0], c[1], share)
		}
	}
}

// kernelOf is the kernel in float64.
func kernelOf(params string, x, y []float32) float64 {
	dot, squared := 0.0, 0.0
	for j := range x {
		dot += float64(x[j]) * float64(y[j])
		squared += math.Pow(float64(x[j])-float64(y[j]), 2)
	}
	switch {
	case strings.Contains(params, "polynomial"):
		return math.Pow(0.25*dot+1, 3)
	case strings.Contains(params, "rbf"):
		return math.Exp(-0.5 * squared)
	case strings.Contains(params, "sigmoid"):
		return math.Tanh(0.1*dot - 0.5)
	}
	return dot
}

var kernelParams = []string{
	`{"kernel": "linear"}`,
	`{"kernel": "polynomial", "scale": 0.25, "offset": 1, "degree": 3}`,
	`{"kernel": "rbf", "gamma": 0.5}`,
	`{"kernel": "sigmoid", "scale": 0.1, "offset": -0.5}`,
}

// Every kernel against (1.24) in float64, with weights and without, dense and sparse. Squares agree to
// what float32 values allow.
func TestMeanAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, params := rapid.IntRange(3, 30).Draw(rt, "records"), rapid.SampledFrom(kernelParams).Draw(rt, "kernel")
		rows, labels, weights := make([][]float32, n), make([]string, n), make([]float64, n)
		weighted, sparse := rapid.Bool().Draw(rt, "weighted"), rapid.Bool().Draw(rt, "sparse")
		for i := range rows {
			rows[i] = rapid.SliceOfN(rapid.Float32Range(-2, 2), 5, 5).Draw(rt, "row")
			rows[i][rapid.IntRange(0, 4).Draw(rt, "zero")] = 0
			labels[i], weights[i] = string(rune('a'+i%3)), 1
			if weighted {
				weights[i] = float64(rapid.IntRange(1, 4).Draw(rt, "weight"))
			}
		}
		form := func(labels ...string) []jobstest.Record {
			if sparse {
				return jobstest.SparseRecords(5, rows, labels...)
			}
			return jobstest.DenseRecords(rows, labels...)
		}
		records := form(labels...)
		for i := range records {
			if weighted {
				records[i].Weight = float32(weights[i])
			}
		}
		for i, o := range outcomes(t, MeanName, mustTrain(t, MeanName, params, records), form()) {
			for y := range 3 {
				want, scale := squaredToMean(params, rows, weights, rows[i], y)
				if got := o.Scores[y] * o.Scores[y]; math.Abs(got-max(0, want)) > 1e-6*scale {
					rt.Fatalf("%s: record %d is %v from class %d, not %v", params, i, got, y, want)
				}
			}
		}
	})
}

// squaredToMean is |phi(x) - mu_y|^2, y being the number of every third record, and the size of its parts.
func squaredToMean(params string, rows [][]float32, weights []float64, x []float32, y int) (squared, scale float64) {
	cross, norm, total := 0.0, 0.0, 0.0
	for i := y; i < len(rows); i += 3 {
		total += weights[i]
		cross += weights[i] * kernelOf(params, x, rows[i])
		for j := y; j < len(rows); j += 3 {
			norm += weights[i] * weights[j] * kernelOf(params, rows[i], rows[j])
		}
	}
	self := kernelOf(params, x, x)
	return self - 2*cross/total + norm/total/total, 10 + math.Abs(self) + 2*math.Abs(cross/total) + norm/total/total
}

// The linear kernel is the plain rule: squared distances to 1e-6 of |x|^2 + |mu|^2, the same decisions
// wherever two differ by more.
func TestLinearKernelIsThePlainRule(t *testing.T) {
	for _, file := range []string{"digits.csv.gz", "iris.csv", "wine_data.csv", "breast_cancer.csv"} {
		skip := 1
		if file == "digits.csv.gz" {
			skip = 0
		}
		rows, labels := jobstest.Table(t, file, skip)
		for _, scale := range []string{"none", "standard"} {
			params := fmt.Sprintf(`{"features": {"scale": %q}}`, scale)
			records := jobstest.DenseRecords(rows, labels...)
			plain := outcomes(t, nearestmean.KindName, mustTrain(t, nearestmean.KindName, params, records), records)
			kernel := outcomes(t, MeanName, mustTrain(t, MeanName, params, records), records)
			for i, o := range kernel {
				size := sizeOf(rows[i], scale)
				near := false
				for y, d := range o.Scores {
					if diff := math.Abs(d*d - plain[i].Scores[y]*plain[i].Scores[y]); diff > 1e-6*size {
						t.Fatalf("%s, %s: record %d, class %d: %v and %v", file, scale, i, y, d, plain[i].Scores[y])
					}
					best := slices.Min(plain[i].Scores)
					if gap := plain[i].Scores[y]*plain[i].Scores[y] - best*best; gap > 0 && gap < 1e-6*size {
						near = true
					}
				}
				if !near && o.Label != plain[i].Label {
					t.Errorf("%s, %s: record %d is %q, not %q", file, scale, i, o.Label, plain[i].Label)
				}
			}
		}
	}
}

// sizeOf is about |x|^2 + |mu|^2, of scaled rows the number of columns.
func sizeOf(row []float32, scale string) float64 {
	if scale != "none" {
		return float64(1 + 40*len(row))
	}
	size := 1.0
	for _, v := range row {
		size += 4 * float64(v) * float64(v)
	}
	return size
}

// Equally close means go to the first label in byte order.
func TestMeanTies(t *testing.T) {
	for _, params := range kernelParams {
		records := jobstest.DenseRecords([][]float32{{1, 0}, {1, 0}, {-1, 0}, {0, 1}}, "b", "a", "d", "c")
		o := outcomes(t, MeanName, mustTrain(t, MeanName, params, records),
			jobstest.DenseRecords([][]float32{{1, 0}}))[0]
		if o.Label != "a" || o.Scores[0] != o.Scores[1] {
			t.Errorf("%s: %+v", params, o)
		}
	}
}

// A value beyond float32 is a fault of its record, in training and in prediction.
func TestBeyondFloat32(t *testing.T) {
	const params = `{"kernel": "polynomial", "degree": 10}`
	var fault *protocol.Fault
	_, err := train(t, MeanName, params, jobstest.DenseRecords([][]float32{{1e4}, {2e4}}, "a", "b"), 1,
		kernelops.Best())
	if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
		t.Errorf("training: %v", err)
	}
	model := mustTrain(t, MeanName, params, jobstest.DenseRecords([][]float32{{1}, {2}}, "a", "b"))
	p, err := NewMeanPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block := range jobstest.Shards([][]jobstest.Record{jobstest.DenseRecords([][]float32{{1}, {1e8}})},
		5)[0](t.Context()) {
		if _, err := p.Predict(t.Context(), block); !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord ||
			*fault != *fault.WithOffset(1) {
			t.Errorf("prediction: %v", err)
		}
	}
}
