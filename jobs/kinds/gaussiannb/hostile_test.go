package gaussiannb

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func wantCode(t *testing.T, name string, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code {
		t.Errorf("%s: want %s, got %v", name, code, err)
	}
}

func TestTrainingFaults(t *testing.T) {
	rows := [][]float32{{1, 2}, {3, 4}, {5, 6}}
	nan := [][]float32{{1, 2}, {3, float32(math.NaN())}, {5, 6}}
	light := jobstest.DenseRecords(rows, "a", "b", "b")
	light[1].Weight, light[2].Weight = 1, 1
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		code    protocol.Code
	}{
		"no record":      {`{}`, nil, protocol.CodeInputEmpty},
		"no labels":      {`{}`, jobstest.DenseRecords(rows), protocol.CodeInputEmpty},
		"one class":      {`{}`, jobstest.DenseRecords(rows, "a", "a", "a"), protocol.CodeInputEmpty},
		"constant":       {`{}`, jobstest.DenseRecords([][]float32{{1}, {1}}, "a", "b"), protocol.CodeInputEmpty},
		"class weighs 0": {`{}`, light, protocol.CodeInputEmpty},
		"NaN":            {`{}`, jobstest.DenseRecords(nan, "a", "b", "b"), protocol.CodeBadRecord},
		"width":          {`{}`, jobstest.DenseRecords([][]float32{{1}, {1, 2}}, "a", "b"), protocol.CodeBadRecord},
		"sparse":         {`{}`, jobstest.SparseRecords(2, rows, "a", "b", "b"), protocol.CodeSpecInvalid},
		"texts": {`{}`, []jobstest.Record{{Label: "a", Text: "x"}, {Label: "b", Text: "y"}},
			protocol.CodeSpecInvalid},
		"costs of no one": {`{"costs": {"c": {"a": 2}}}`, jobstest.DenseRecords(rows, "a", "b", "b"),
			protocol.CodeSpecInvalid},
	} {
		_, err := train(t, specOf(c.params, 0), jobstest.Deal(c.records, 2))
		wantCode(t, name, err, c.code)
	}
}

func TestParamsAreChecked(t *testing.T) {
	for _, params := range []string{
		`{"prior": "given"}`, `{"prior": {"a": 0.5, "b": 0.4}}`,
		`{"var_smoothing": 0}`, `{"var_smoothing": 2}`, `{"reject_below": 1}`, `{"alpha": 1}`,
		`{"costs": {"a": {"b": -1}}}`, `{"costs": {}, "reject_below": 0.5}`, `{"features": {"scale": "big"}}`,
		`{"features": {"text": {}}}`,
	} {
		_, err := Kind().Defaults([]byte(params))
		wantCode(t, params, err, protocol.CodeSpecInvalid)
	}
	got, err := Kind().Defaults(nil)
	if want := `{"prior":"learned","var_smoothing":1e-9,"reject_below":0,"features":{"scale":"none"}}`; err != nil ||
		string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestPredictRefusesAnotherWidth(t *testing.T) {
	p, err := NewPredictor(modelOf(t, `{}`, fivePoints), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Predict(t.Context(), &dataset.Block{IDs: make([]dataset.Identity, 1),
		Dense: dataset.Dense{Width: 3, Values: make([]float32, 3)}})
	wantCode(t, "width 3", err, protocol.CodeBadRecord)
}

func TestHostileModels(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":     func(a jobs.Arrays) { a.PutKind("NaiveBayes", 1) },
		"another version":  func(a jobs.Arrays) { a.PutKind(KindName, 2) },
		"no space":         func(a jobs.Arrays) { delete(a, "features.mean") },
		"prior unknown":    func(a jobs.Arrays) { a.PutText("prior", "flat") },
		"reject above":     func(a jobs.Arrays) { jobs.PutScalar(a, "reject_below", 1.0) },
		"reject NaN":       func(a jobs.Arrays) { jobs.PutScalar(a, "reject_below", math.NaN()) },
		"weight 0":         func(a jobs.Arrays) { jobs.Put(a, "classes.weight", []float64{2, 0}) },
		"weight infinite":  func(a jobs.Arrays) { jobs.Put(a, "classes.weight", []float64{2, math.Inf(1)}) },
		"three weights":    func(a jobs.Arrays) { jobs.Put(a, "classes.weight", []float64{2, 3, 4}) },
		"mean NaN":         func(a jobs.Arrays) { jobs.Put(a, "classes.mean", []float64{0, 2, math.NaN(), 2}, 2, 2) },
		"mean transposed":  func(a jobs.Arrays) { jobs.Put(a, "classes.mean", []float64{0, 2, 5, 2}, 1, 4) },
		"variance 0":       func(a jobs.Arrays) { jobs.Put(a, "classes.variance", []float64{1, 1, 0, 1}, 2, 2) },
		"variance too low": func(a jobs.Arrays) { jobs.Put(a, "classes.variance", []float64{1, 1, 1e-310, 1}, 2, 2) },
		"variance missing": func(a jobs.Arrays) { delete(a, "classes.variance") },
		"cost of no class": func(a jobs.Arrays) {
			jobs.Put(a, "costs.truth", []int32{2})
			jobs.Put(a, "costs.decided", []int32{0})
			jobs.Put(a, "costs.cost", []float64{1})
		},
	} {
		model := modelOf(t, `{}`, fivePoints)
		spoil(model)
		_, err := NewPredictor(model, nil)
		wantCode(t, name, err, protocol.CodeCorrupt)
		_, err = Kind().Describe(model, jobs.DescribeOptions{})
		wantCode(t, name, err, protocol.CodeCorrupt)
	}
}

func TestHostilePartials(t *testing.T) {
	var of momentsPhase
	params.Reset(of.Params.Parameters())
	phase := of.phase()
	moments := func(classes, width int) jobs.Arrays {
		return jobs.ArraysOf(sums.NewMomentAdder(classes, width, kernelops.Generic()).Moments())
	}
	good := moments(2, 2)
	for name, bad := range map[string]jobs.Arrays{
		"nothing":       {},
		"another width": moments(2, 3),
		"more classes":  moments(3, 2),
		"no classes":    moments(0, 2),
	} {
		_, err := phase.Merge(good, bad)
		wantCode(t, name, err, protocol.CodeCorrupt)
	}
}

func TestDescribe(t *testing.T) {
	model := modelOf(t, `{}`, table(t, "iris.csv"))
	text, err := Kind().Describe(model, jobs.DescribeOptions{Classes: []string{"setosa"}, Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	// the petals, columns 3 and 4, tell setosa from the rest
	for _, want := range []string{"classes      3\n", "150 of width 4", "\"setosa\" (weight 50)\n  column 3 ",
		"  column 4 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "virginica") || strings.Contains(text, "column 1") {
		t.Errorf("too much in\n%s", text)
	}
	_, err = Kind().Describe(model, jobs.DescribeOptions{Classes: []string{"rose"}})
	wantCode(t, "rose", err, protocol.CodeSpecInvalid)
}

// The bytes of a model are a promise. They change only with the version of its layout.
func TestModelDigest(t *testing.T) {
	const want = "496479efebd1b5ab48189ad3aa1f30b6c39b9e84cff28fcd5759aac74ca8514e"
	if got := jobstest.Digest(modelOf(t, `{}`, fivePoints)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Whatever the bytes, loading gives a CORRUPT fault or a predictor whose posteriors sum to 1.
func FuzzModel(f *testing.F) {
	for _, params := range []string{`{}`, `{"grows": true}`, `{"reject_below": 0.6, "features": {"scale": "standard"}}`,
		`{"costs": {"a": {"b": 2}}}`} {
		f.Add(modelOf(f, params, fivePoints).Encode(), float32(1), float32(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, x, y float32) {
		model, err := jobs.Decode(data)
		if err != nil {
			return
		}
		p, err := NewPredictor(model, kernelops.Generic())
		if err != nil {
			wantCode(t, "load", err, protocol.CodeCorrupt)
			return
		}
		if _, err := Kind().Describe(model, jobs.DescribeOptions{}); err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(t.Context(), &dataset.Block{IDs: make([]dataset.Identity, 1),
			Dense: dataset.Dense{Width: 2, Values: []float32{x, y}}})
		if err != nil {
			wantCode(t, "predict", err, protocol.CodeBadRecord)
			return
		}
		sum := 0.0
		for _, p := range outcomes[0].Scores {
			sum += p
		}
		if !(math.Abs(sum-1) < 1e-9) {
			t.Fatalf("posteriors sum to %v", sum)
		}
	})
}
