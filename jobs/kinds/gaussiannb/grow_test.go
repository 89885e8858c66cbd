package gaussiannb

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// added trains on records, in shards, after those of a model where there is one; it returns the model as it is read
// back from its bytes.
func added(t testing.TB, spec protocol.JobSpec, model jobs.Arrays, records []jobstest.Record,
	shards int) (jobs.Arrays, error) {
	t.Helper()
	var opts []jobstest.Option
	if model != nil {
		spec.Spec.Model, opts = "mem://models/before", []jobstest.Option{jobstest.WithModel(model)}
	}
	algorithm, err := New(spec)
	if err != nil {
		return nil, err
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, shards), 4),
		kernelops.Best(), jobstest.Grouping{}, opts...)
	if err != nil {
		return nil, err
	}
	return jobs.Decode(result.Model.Encode())
}

func mustAdd(t testing.TB, params string, model jobs.Arrays, records []jobstest.Record, shards int) jobs.Arrays {
	t.Helper()
	got, err := added(t, specOf(params, 0), model, records, shards)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The five points, three and two: of class b the first job sees 3 alone, and V is 8/3. The model is that of
// TestModelByHand, in which V is 8.
func TestGrowthByHand(t *testing.T) {
	const grows = `{"var_smoothing": 0.125, "grows": true}`
	first := mustAdd(t, grows, nil, fivePoints[:3], 2)
	m, err := jobs.Load[model](first)
	if err != nil {
		t.Fatal(err)
	}
	if !near(m.mean, []float64{0, 2, 3, 2}) || !near(m.variance, []float64{4.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}) {
		t.Errorf("of three points: means %v, variances %v", m.mean, m.variance)
	}
	if m, err = jobs.Load[model](mustAdd(t, grows, first, fivePoints[3:], 1)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.weight, []float64{2, 3}) || !near(m.mean, []float64{0, 2, 5, 2}) ||
		!near(m.variance, []float64{2, 1, 11.0 / 3, 1}) || m.space.Records != 5 || m.space.Max[0] != 7 {
		t.Errorf("weights %v, means %v, variances %v", m.weight, m.mean, m.variance)
	}
	text, err := Kind().Describe(first, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "grows ") {
		t.Errorf("%s, %v", text, err)
	}
}

// grownRecords draws weighted records of three labels, of which the first three have one each, and of one more label,
// the last one's. Their numbers differ by many orders of magnitude. Others miss some of them.
func grownRecords(t *rapid.T, gaps bool) []jobstest.Record {
	n, width := rapid.IntRange(5, 30).Draw(t, "records"), rapid.IntRange(1, 3).Draw(t, "width")
	records := make([]jobstest.Record, n)
	for i := range records {
		r := jobstest.Record{Label: []string{"a", "m", "z"}[i%3],
			Weight: float32(rapid.IntRange(1, 9).Draw(t, "weight")) / 4}
		if i == n-1 {
			r.Label = rapid.SampledFrom([]string{"", "b", "zz"}).Draw(t, "label") + "new"
		}
		for j := range width {
			v := float32(i*(j+1)) * rapid.SampledFrom([]float32{1e-12, 1, 1e3, 1e12}).Draw(t, "unit")
			if gaps && i >= 3 && i < n-1 && rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
				v = gap
			}
			r.Dense = append(r.Dense, v)
		}
		records[i] = r
	}
	return records
}

// Adding to a model gives the model of all records at once: three parts in either order, some of them empty, with new
// labels, the models between read back from their bytes. What the last job decides by is its own.
func TestAddingOnIsAddingAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		features := rapid.SampledFrom([]string{"", `"scale": "l2"`, `"missing": "omit"`, `"missing": "constant", "fill": 3`,
			`"map": {"degree": 2}`}).Draw(rt, "features")
		records := grownRecords(rt, strings.Contains(features, "missing"))
		grows := `{"grows": true, "var_smoothing": 0.01, "features": {` + features + `}}`
		last := rapid.SampledFrom([]string{`{"grows": true, `, `{`,
			`{"prior": "uniform", "var_smoothing": 0.5, `}).Draw(rt, "last") + `"features": {` + features + `}}`
		first := rapid.IntRange(3, len(records)).Draw(rt, "first")
		second := rapid.IntRange(first, len(records)).Draw(rt, "second")
		shards := func(name string) int { return rapid.IntRange(1, 4).Draw(rt, name) }
		want, err := added(t, specOf(last, 0), nil, records, shards("at once"))
		if err != nil {
			rt.Fatal(err)
		}
		b, c := records[first:second], records[second:]
		if rapid.Bool().Draw(rt, "swap") {
			b, c = c, b
		}
		model, err := added(t, specOf(grows, 0), nil, records[:first], shards("of the first"))
		if err != nil {
			rt.Skip(err) // every column is still constant
		}
		model = mustAdd(t, grows, model, b, shards("of the second"))
		if got := mustAdd(t, last, model, c, shards("of the third")); jobstest.Digest(got) != jobstest.Digest(want) {
			rt.Errorf("%s, then %s: another model than that of all records at once", grows, last)
		}
	})
}

// Each job holds out its own records by their identities: the model is that of the training records of both.
func TestAddingOnWithASplit(t *testing.T) {
	records := table(t, "iris.csv")
	half := len(records) / 2 // setosa and half of versicolor
	spec := specOf(`{"grows": true}`, 0.3)
	chosen := jobs.TrainingRecords(spec)()
	var model jobs.Arrays
	var training []jobstest.Record
	for _, part := range [][]jobstest.Record{records[:half], records[half:]} {
		var err error
		if model, err = added(t, spec, model, part, 2); err != nil {
			t.Fatal(err)
		}
		for i, r := range part {
			if chosen(&dataset.Block{IDs: []dataset.Identity{dataset.ByPlace("records", int64(i))}}, 0) {
				training = append(training, r)
			}
		}
	}
	if len(training) == len(records) {
		t.Fatal("no record was held out")
	}
	if want := mustAdd(t, `{"grows": true}`, nil, training, 3); jobstest.Digest(model) != jobstest.Digest(want) {
		t.Error("another model than that of the training records at once")
	}
}

// A model that grows is, without what it keeps for that, the model of a job without grows, to the byte.
func TestGrowingChangesNothingElse(t *testing.T) {
	for _, features := range []string{``, `"missing": "omit"`} {
		with := modelOf(t, `{"grows": true, "features": {`+features+`}}`, fivePoints)
		for name := range with {
			if strings.HasPrefix(name, "growth.") {
				delete(with, name)
			}
		}
		if jobstest.Digest(with) != jobstest.Digest(modelOf(t, `{"features": {`+features+`}}`, fivePoints)) {
			t.Errorf("%s: more than the growth differs", features)
		}
	}
}

func wantRefused(t *testing.T, err error, part string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), part) {
		t.Errorf("want a SPEC_INVALID fault with %q, got %v", part, err)
	}
}

func TestAddingOnIsRefused(t *testing.T) {
	grown := modelOf(t, `{"grows": true}`, fivePoints)
	for params, part := range map[string]string{
		`{"features": {"scale": "standard"}}`:                  "spec.model needs features.scale none or l2; standard",
		`{"features": {"scale": "robust"}}`:                    "spec.model needs features.scale none or l2; robust",
		`{"features": {"missing": "mean"}}`:                    "spec.model needs features.missing error, constant or omit",
		`{"features": {"scale": "l2"}}`:                        "features.scale is none in the model of spec.model, l2 in this job",
		`{"features": {"missing": "omit"}}`:                    "features.missing is not omit in the model of spec.model, omit",
		`{"features": {"missing": "constant"}}`:                "features.missing is error in the model of spec.model, constant",
		`{"features": {"map": {"degree": 2}}}`:                 "features.map is",
		`{"prior": {"a": 0.5, "c": 0.5}}`:                      "prior names the labels",
		`{"grows": true, "features": {"missing": "constant"}}`: "features.missing is error in",
	} {
		_, err := added(t, specOf(params, 0), grown, fivePoints, 2)
		wantRefused(t, err, part)
	}
	three := modelOf(t, `{"grows": true, "features": {"missing": "constant", "fill": 3}}`, fivePoints)
	_, err := added(t, specOf(`{"features": {"missing": "constant", "fill": 4}}`, 0), three, fivePoints, 2)
	wantRefused(t, err, "features.fill is 3 in the model of spec.model, 4 in this job")

	_, err = added(t, specOf(`{}`, 0), modelOf(t, `{}`, fivePoints), fivePoints, 2)
	wantRefused(t, err, "without grows")
	wantRefused(t, Kind().CheckModel(modelOf(t, `{}`, fivePoints)), "params.grows: true")
	if err := Kind().CheckModel(grown); err != nil {
		t.Error(err)
	}
	for _, params := range []string{`"scale": "standard"`, `"scale": "minmax"`, `"missing": "indicator"`,
		`"categories": {}`} {
		_, err := Kind().Defaults([]byte(`{"grows": true, "features": {` + params + `}}`))
		wantRefused(t, err, "grows ")
	}
	spec := specOf(`{"grows": true}`, 0)
	spec.Spec.Input.Categorical = []protocol.Column{{Number: 1}}
	_, err = New(spec)
	wantRefused(t, err, "params.grows takes no spec.input.categorical")

	_, err = added(t, specOf(`{}`, 0), grown, jobstest.DenseRecords([][]float32{{1, 2, 3}}, "a"), 1)
	wantRefused(t, err, "the training records are dense vectors of width 3")
	_, err = added(t, specOf(`{}`, 0), grown, jobstest.DenseRecords([][]float32{{1, 2}}), 1)
	wantCode(t, "without a label", err, protocol.CodeInputEmpty)
}

// flipped adds one to a limb of sums.
func flipped(t *testing.T, name string, i int) func(jobs.Arrays) {
	return func(a jobs.Arrays) {
		limbs, err := jobs.Get[uint64](a, name, a[name].Shape...)
		if err != nil {
			t.Fatal(err)
		}
		limbs = slices.Clone(limbs)
		limbs[i%len(limbs)]++
		jobs.Put(a, name, limbs, a[name].Shape...)
	}
}

// A model whose sums are not its own, or do not fit it, is neither loaded nor added to.
func TestHostileGrowth(t *testing.T) {
	const omits = `{"grows": true, "features": {"missing": "omit"}}`
	models := map[string]jobs.Arrays{
		"plain": modelOf(t, `{"grows": true}`, fivePoints), "omit": modelOf(t, omits, fivePoints),
	}
	spoils := map[string]func(jobs.Arrays){
		"no sums":          func(a jobs.Arrays) { delete(a, "growth.sums") },
		"no columns":       func(a jobs.Arrays) { delete(a, "growth.columns.squares") },
		"no smoothing":     func(a jobs.Arrays) { delete(a, "growth.var_smoothing") },
		"other smoothing":  func(a jobs.Arrays) { jobs.PutScalar(a, "growth.var_smoothing", 0.5) },
		"smoothing NaN":    func(a jobs.Arrays) { jobs.PutScalar(a, "growth.var_smoothing", math.NaN()) },
		"another width":    func(a jobs.Arrays) { jobs.PutScalar(a, "growth.sums.width", int64(1)) },
		"shifted":          func(a jobs.Arrays) { jobs.PutScalar(a, "growth.squares.low", int64(1)) },
		"beyond float64":   func(a jobs.Arrays) { jobs.PutScalar(a, "growth.columns.sums.low", int64(18)) },
		"another mean":     func(a jobs.Arrays) { jobs.Put(a, "classes.mean", []float64{0, 2, 5.5, 2}, 2, 2) },
		"another variance": func(a jobs.Arrays) { jobs.Put(a, "features.variance", []float64{9, 0}, 2) },
		"other records":    func(a jobs.Arrays) { jobs.PutScalar(a, "features.records", int64(6)) },
		"missing numbers":  func(a jobs.Arrays) { jobs.Put(a, "growth.columns.missing", []int64{1, 0}) },
		"missing all":      func(a jobs.Arrays) { jobs.Put(a, "growth.columns.missing", []int64{5, 0}) },
	}
	for _, name := range []string{"growth.sums", "growth.weight", "growth.squares", "growth.columns.sums",
		"growth.columns.weight", "growth.columns.squares"} {
		for i := range 8 {
			spoils[name+" "+string(rune('0'+i))] = flipped(t, name, i)
		}
	}
	for of, model := range models {
		for name, spoil := range spoils {
			a := maps.Clone(model)
			spoil(a)
			_, err := NewPredictor(a, nil)
			wantCode(t, of+", "+name, err, protocol.CodeCorrupt)
			if err := Kind().CheckModel(a); err == nil {
				t.Errorf("%s, %s: accepted", of, name)
			}
			params := map[string]string{"plain": `{}`, "omit": omits}[of]
			if _, err := added(t, specOf(params, 0), a, fivePoints, 1); err == nil {
				t.Errorf("%s, %s: added to", of, name)
			}
		}
	}
}

// How the tree over the new records is cut among workers is no part of the model.
func TestAddingOnIsGroupedWithoutABit(t *testing.T) {
	spec := specOf(`{"grows": true, "features": {"missing": "omit"}}`, 0)
	spec.Spec.Model = "mem://models/before"
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	before := modelOf(t, `{"grows": true, "features": {"missing": "omit"}}`, randomGaps())
	jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(randomGaps(), 5), kernelops.Best(),
		jobstest.WithModel(before))
}
