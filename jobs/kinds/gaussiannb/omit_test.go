package gaussiannb

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

var gap = float32(math.NaN())

// Column 1 is that of fivePoints. Column 2 has 2 in class a (mean 2, variance 0), 6 and 10 in class b (mean 8, variance
// 4), and over all three the variance 32/3, which is the largest: 3/32 of it is 1.
var gappedPoints = jobstest.DenseRecords([][]float32{{-1, 2}, {1, gap}, {3, gap}, {5, 6}, {7, 10}},
	"a", "a", "b", "b", "b")

const omitByHand = `{"var_smoothing": 0.09375, "features": {"missing": "omit"}}`

func TestOmitByHand(t *testing.T) {
	arrays := modelOf(t, omitByHand, gappedPoints)
	m, err := jobs.Load[model](arrays)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.weight, []float64{2, 3}) || !near(m.mean, []float64{0, 2, 5, 8}) ||
		!near(m.variance, []float64{2, 1, 11.0 / 3, 5}) {
		t.Errorf("weights %v, means %v, variances %v", m.weight, m.mean, m.variance)
	}
	a, b := 0.4*math.Exp(-1)/math.Sqrt(2), 0.6*math.Exp(-27.0/22)/math.Sqrt(11.0/3)
	c, d := 0.4, 0.6*math.Exp(-3.6)/math.Sqrt(5)
	o := predict(t, arrays, jobstest.DenseRecords([][]float32{{2, gap}, {gap, 2}, {gap, gap}, {2, 2}}, "?", "?", "?", "?"))
	for i, want := range [][]float64{
		{a / (a + b), b / (a + b)}, {c / (c + d), d / (c + d)}, {0.4, 0.6},
		{a * c / 0.4 / (a*c/0.4 + b*d/0.6), b * d / 0.6 / (a*c/0.4 + b*d/0.6)},
	} {
		if !near(o[i].Scores, want) {
			t.Errorf("record %d: %v, want %v", i, o[i].Scores, want)
		}
	}
}

// randomGaps are weighted records of three classes, some of whose numbers are missing.
func randomGaps() (records []jobstest.Record) {
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 60 {
		r := jobstest.Record{Label: []string{"a", "b", "c"}[i%3], Weight: float32(1+random.IntN(8)) / 4}
		for j := range 4 {
			v := float32(random.NormFloat64()) + float32(i%3*j)
			if random.IntN(4) == 0 {
				v = gap
			}
			r.Dense = append(r.Dense, v)
		}
		records = append(records, r)
	}
	return records
}

// reference is the log of p(x, y) of each class in plain float64, up to a constant.
func reference(records []jobstest.Record, x []float32, smoothing float64) []float64 {
	joint, total := make([]float64, 3), 0.0
	for y, label := range []string{"a", "b", "c"} {
		weight := 0.0
		for _, r := range records {
			if r.Label == label {
				weight += float64(r.Weight)
			}
		}
		joint[y], total = math.Log(weight), total+weight
		for j, v := range x {
			if v != v {
				continue
			}
			var w, sum, squares float64
			for _, r := range records {
				if d := float64(r.Dense[j]); r.Label == label && d == d {
					w, sum = w+float64(r.Weight), sum+float64(r.Weight)*d
				}
			}
			for _, r := range records {
				if d := float64(r.Dense[j]) - sum/w; r.Label == label && d == d {
					squares += float64(r.Weight) * d * d
				}
			}
			variance, d := squares/w+smoothing, float64(v)-sum/w
			joint[y] -= 0.5*math.Log(2*math.Pi*variance) + d*d/variance/2
		}
	}
	return joint
}

func TestOmitEqualsReference(t *testing.T) {
	records := randomGaps()
	result, err := train(t, specOf(`{"features": {"missing": "omit"}}`, 0), jobstest.Deal(records, 4))
	if err != nil {
		t.Fatal(err)
	}
	smoothing := 0.0
	for _, metric := range result.Metrics {
		if metric.Name == "moments.smoothing" {
			if err := json.Unmarshal(metric.Value, &smoothing); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, o := range predict(t, result.Model, records) {
		joint := reference(records, records[i].Dense, smoothing)
		most, sum := slices.Max(joint), 0.0
		for y := range joint {
			joint[y] = math.Exp(joint[y] - most)
			sum += joint[y]
		}
		for y, p := range o.Scores {
			if math.Abs(p-joint[y]/sum) > 1e-12 {
				t.Errorf("record %d, class %d: %v, want %v", i, y, p, joint[y]/sum)
			}
		}
	}
}

// Shards and kernel sets change nothing; of records that miss nothing the model is that of missing: error.
func TestOmitChangesNothingElse(t *testing.T) {
	records := randomGaps()
	const omit = `{"features": {"missing": "omit", "scale": "standard"}}`
	want := jobstest.Digest(modelOf(t, omit, records))
	for _, n := range []int{1, 2, 7} {
		for _, ops := range kernelops.All() {
			algorithm, err := New(specOf(omit, 0))
			if err != nil {
				t.Fatal(err)
			}
			result, err := jobstest.Run(t.Context(), algorithm, specOf(omit, 0),
				jobstest.Shards(jobstest.Deal(records, n), 5), ops, jobstest.Grouping{})
			if err != nil || jobstest.Digest(result.Model) != want {
				t.Errorf("another model in %d shards (%v)", n, err)
			}
		}
	}
	got, plain := modelOf(t, omit, fivePoints), modelOf(t, `{"features": {"scale": "standard"}}`, fivePoints)
	if delete(got, "features.omits"); jobstest.Digest(got) != jobstest.Digest(plain) {
		t.Error("another model of records that miss nothing")
	}
}

func TestOmitRefused(t *testing.T) {
	for _, params := range []string{`"scale":"l2"`, `"scale":"robust"`, `"map":{"degree":2}`, `"fill":1`} {
		_, err := New(specOf(`{"features":{"missing":"omit",`+params+`}}`, 0))
		wantCode(t, params, err, protocol.CodeSpecInvalid)
	}
	for name, rows := range map[string][][]float32{
		"a column of a class": {{-1, gap}, {1, gap}, {3, 1}, {5, 6}, {7, 10}},
		"a column":            {{-1, gap}, {1, gap}, {3, gap}, {5, gap}, {7, gap}},
	} {
		_, err := train(t, specOf(omitByHand, 0), [][]jobstest.Record{jobstest.DenseRecords(rows, "a", "a", "b", "b", "b")})
		wantCode(t, name, err, protocol.CodeInputEmpty)
	}
	infinite := [][]float32{{-1, 2}, {float32(math.Inf(1)), gap}}
	_, err := train(t, specOf(omitByHand, 0), [][]jobstest.Record{jobstest.DenseRecords(infinite, "a", "b")})
	wantCode(t, "infinity", err, protocol.CodeBadRecord)
}
