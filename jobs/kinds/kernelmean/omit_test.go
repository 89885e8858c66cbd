package kernelmean

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

var gap = float32(math.NaN())

func omitting(params string) string { return `{"features": {"missing": "omit"}` + params + `}` }

// Class "a" is (0, 0) and (2, missing), "b" is (5, 5), h = 1, p(a) = 2/3. At (1, missing) both records of "a" count and
// the numbers are those of TestDensityByHand; where the second number is known the second record of "a" does not count;
// without numbers the priors are left.
func TestOmitByHand(t *testing.T) {
	model := mustTrain(t, DensityName, omitting(`, "bandwidth": 1`),
		jobstest.DenseRecords([][]float32{{0, 0}, {5, 5}, {2, gap}}, "a", "b", "a"))
	phi := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	asked := [][]float32{{1, gap}, {gap, 0}, {1, 0}, {gap, gap}}
	for i, o := range outcomes(t, DensityName, model, jobstest.DenseRecords(asked)) {
		joint := [][2]float64{
			{0.1613138163, 0.0000446101}, {phi(0) * 2 / 3, phi(5) / 3},
			{phi(1) * phi(0) * 2 / 3, phi(4) * phi(5) / 3}, {2.0 / 3, 1.0 / 3},
		}[i]
		sum := joint[0] + joint[1]
		if o.Label != "a" || math.Abs(o.Scores[0]-joint[0]/sum) > 1e-9 || math.Abs(o.Value-math.Log(sum)) > 1e-8 {
			t.Errorf("%v: %+v, want %v", asked[i], o, joint)
		}
	}
	text, err := DensityKind().Describe(model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "missing numbers: left out") {
		t.Errorf("%s%v", text, err)
	}
}

// Column 1 of class "a" has 0 and 4 (variance 4), column 2 only 3 and 5 (variance 1): s = sqrt(2.5), m = 3, d = 2. With
// gaps in class "a" alone, "b" has the bandwidth of TestRulesOfThumb.
func TestOmitRuleOfThumb(t *testing.T) {
	rows := [][]float32{{0, 3}, {4, 5}, {2, gap}, {9, 9}, {11, 9}, {9, 11}, {11, 11}}
	rows[2][0] = gap
	model := mustTrain(t, DensityName, omitting(""), jobstest.DenseRecords(rows, "a", "a", "a", "b", "b", "b", "b"))
	want := []float64{math.Sqrt(2.5) * math.Pow(3, -1.0/6), math.Pow(4, -1.0/6)}
	got, err := jobs.Get[float64](model, "bandwidth", 2)
	if err != nil || math.Abs(got[0]-want[0]) > 1e-15 || math.Abs(got[1]-want[1]) > 1e-15 {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// gappy are weighted records of three classes that miss some numbers; those of class "c" miss none.
func gappy(n int) (rows [][]float32, labels []string, weights []float64) {
	random := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		y := i % 3
		row := make([]float32, 4)
		for j := range row {
			row[j] = float32(random.NormFloat64()) + float32(y*j)
			if y < 2 && random.IntN(6) == 0 {
				row[j] = gap
			}
		}
		rows, labels = append(rows, row), append(labels, string(rune('a'+y)))
		weights = append(weights, float64(1+random.IntN(8))/4)
	}
	return rows, labels, weights
}

func weighted(rows [][]float32, labels []string, weights []float64) []jobstest.Record {
	records := jobstest.DenseRecords(rows, labels...)
	for i := range records {
		records[i].Weight = float32(weights[i])
	}
	return records
}

// plainOmitted is plainDensity over the columns that x has, of the records that have them all.
func plainOmitted(rows [][]float32, labels []string, weights []float64, class string, h float64, x []float32) float64 {
	var some [][]float32
	var of []string
	var weigh []float64
	var all, total, has, left float64
	pick := func(row []float32) (picked []float32) {
		for j, v := range x {
			if v == v {
				picked = append(picked, row[j])
			}
		}
		return picked
	}
	for i, row := range rows {
		all += weights[i]
		if labels[i] == class {
			total += weights[i]
		}
		if slices.ContainsFunc(pick(row), func(v float32) bool { return v != v }) {
			continue
		}
		some, of, weigh = append(some, pick(row)), append(of, labels[i]), append(weigh, weights[i])
		if left += weights[i]; labels[i] == class {
			has += weights[i]
		}
	}
	return plainDensity(some, of, weigh, class, h, pick(x)) - math.Log(has/left) + math.Log(total/all)
}

func TestOmitAgainstTheDefinition(t *testing.T) {
	rows, labels, weights := gappy(90)
	asked, _, _ := gappy(60)
	asked = append(asked, []float32{gap, gap, gap, 1}, []float32{gap, gap, gap, gap})
	classes := []string{"a", "b", "c"}
	for _, h := range []float64{0.05, 0.7, 50} {
		params := omitting(fmt.Sprintf(`, "bandwidth": %g`, h))
		model := mustTrain(t, DensityName, params, weighted(rows, labels, weights))
		for i, o := range outcomes(t, DensityName, model, jobstest.DenseRecords(asked)) {
			var joint []float64
			for _, class := range classes {
				joint = append(joint, plainOmitted(rows, labels, weights, class, h, asked[i]))
			}
			checkDensity(t, o, classes, joint)
		}
	}
}

// Shards and kernel sets change nothing. Of records that miss nothing the model is that of missing: error, and so are
// its predictions, to the bit, beside a query that misses a number.
func TestOmitChangesNothingElse(t *testing.T) {
	rows, labels, weights := gappy(60)
	records, params := weighted(rows, labels, weights), omitting(`, "bandwidth_rule": "silverman"`)
	want := jobstest.Digest(mustTrain(t, DensityName, params, records))
	for _, n := range []int{1, 2, 7} {
		for _, ops := range kernelops.All() {
			model, err := train(t, DensityName, params, records, n, ops)
			if err != nil || jobstest.Digest(model) != want {
				t.Errorf("another model in %d shards (%v)", n, err)
			}
		}
	}
	iris, names := jobstest.Table(t, "iris.csv", 1)
	plain := mustTrain(t, DensityName, `{}`, jobstest.DenseRecords(iris, names...))
	omits := mustTrain(t, DensityName, omitting(""), jobstest.DenseRecords(iris, names...))
	asked := append(slices.Clone(iris[:20]), []float32{1, gap, 1, 1})
	some, all := outcomes(t, DensityName, omits, jobstest.DenseRecords(asked)),
		outcomes(t, DensityName, plain, jobstest.DenseRecords(asked[:20]))
	for i, o := range all {
		if o.Label != some[i].Label || o.Value != some[i].Value || !slices.Equal(o.Scores, some[i].Scores) {
			t.Errorf("record %d: %+v, not %+v", i, some[i], o)
		}
	}
	if delete(omits, "features.omits"); jobstest.Digest(omits) != jobstest.Digest(plain) {
		t.Error("another model of records that miss nothing")
	}
}

// NaN of an array format has other bits; the model is the same.
func TestOmitOfAnyNaN(t *testing.T) {
	digest := ""
	for _, bits := range []uint32{0x7fc00000, 0xffc00123} {
		rows := [][]float32{{0, 0}, {5, 5}, {2, math.Float32frombits(bits)}, {3, 8}}
		model := mustTrain(t, DensityName, omitting(`, "bandwidth": 1`),
			jobstest.DenseRecords(rows, "a", "b", "a", "b"))
		if got := jobstest.Digest(model); digest == "" {
			digest = got
		} else if got != digest {
			t.Error("the bits of a NaN show")
		}
	}
}

func TestOmitRefused(t *testing.T) {
	for _, params := range []string{`"scale":"l2"`, `"scale":"robust"`, `"map":{"degree":2}`, `"fill":1`,
		`"categories":{"sparse":true}`} {
		_, err := NewDensity(specOf(DensityName, `{"features":{"missing":"omit",`+params+`}}`))
		wantFault(t, err, protocol.CodeSpecInvalid)
	}
	_, err := NewMean(specOf(MeanName, omitting("")))
	wantFault(t, err, protocol.CodeSpecInvalid)
	for _, in := range []protocol.Input{{Format: "libsvm"}, {Format: "tsv"}, {Format: "mail"},
		{Format: "csv", Text: protocol.Column{Number: 2}}} {
		spec := specOf(DensityName, omitting(""))
		spec.Spec.Input = in
		_, err := NewDensity(spec)
		wantFault(t, err, protocol.CodeSpecInvalid)
	}
	_, err = train(t, DensityName, omitting(`, "bandwidth": 1`),
		jobstest.SparseRecords(2, [][]float32{{1, 0}, {0, 1}}, "a", "b"), 1, kernelops.Generic())
	wantFault(t, err, protocol.CodeSpecInvalid)
	_, err = train(t, DensityName, omitting(`, "bandwidth": 1`),
		jobstest.DenseRecords([][]float32{{0, gap}, {gap, 1}, {2, 2}}, "a", "a", "b"), 1, kernelops.Generic())
	wantFault(t, err, protocol.CodeInputEmpty)
	_, err = train(t, DensityName, omitting(`, "bandwidth": 1`),
		jobstest.DenseRecords([][]float32{{0, float32(math.Inf(1))}, {2, 2}}, "a", "b"), 1, kernelops.Generic())
	wantFault(t, err, protocol.CodeBadRecord)
}

// A model of a class whose records all miss a number, and one with NaN where no number may be missing, are refused.
func TestOmitHostile(t *testing.T) {
	rows := [][]float32{{0, 0}, {5, 5}, {2, gap}}
	model := mustTrain(t, DensityName, omitting(`, "bandwidth": 1`), jobstest.DenseRecords(rows, "a", "b", "a"))
	m, err := jobs.Load[densityModel](model)
	if err != nil {
		t.Fatal(err)
	}
	m.base.Dense[0] = m.base.Dense[3]
	_, err = jobs.Load[densityModel](jobs.ArraysOf(m))
	wantFault(t, err, protocol.CodeCorrupt)
	delete(model, "features.omits")
	_, err = jobs.Load[densityModel](model)
	wantFault(t, err, protocol.CodeCorrupt)
}
