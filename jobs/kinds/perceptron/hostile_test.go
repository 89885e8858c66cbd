package perceptron

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func TestHostileModels(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":    func(a jobs.Arrays) { a.PutKind("NaiveBayes", 1) },
		"another version": func(a jobs.Arrays) { a.PutKind(KindName, 2) },
		"a form":          func(a jobs.Arrays) { a.PutText("form", "kernel") },
		"a rule":          func(a jobs.Arrays) { a.PutText("rule", "argmax") },
		"bias":            func(a jobs.Arrays) { jobs.PutScalar(a, "bias", int32(2)) },
		"distinct":        func(a jobs.Arrays) { jobs.PutScalar(a, "distinct", float32(math.NaN())) },
		"no vectors":      func(a jobs.Arrays) { jobs.PutScalar(a, "max_vectors", int64(0)) },
		"class weights":   func(a jobs.Arrays) { jobs.Put(a, "class_weights", []float32{1, 0}) },
		"more of them":    func(a jobs.Arrays) { jobs.Put(a, "class_weights", []float32{1, 1, 1}) },
		"no weights":      func(a jobs.Arrays) { delete(a, "weights") },
		"fewer weights":   func(a jobs.Arrays) { jobs.Put(a, "weights", []float32{1, 2}, 1, 2) },
		"weights NaN": func(a jobs.Arrays) {
			jobs.Put(a, "weights", []float32{1, 2, float32(math.NaN())}, 1,
				3)
		},
		"sums infinite":    func(a jobs.Arrays) { jobs.Put(a, "sums", []float64{1, 2, math.Inf(1)}, 1, 3) },
		"a mean beyond":    func(a jobs.Arrays) { jobs.Put(a, "sums", []float64{1, 2, 1e300}, 1, 3) },
		"steps below 0":    func(a jobs.Arrays) { jobs.PutScalar(a, "steps", int64(-1)) },
		"mistakes below 0": func(a jobs.Arrays) { jobs.Put(a, "training.mistakes", []int64{3, -1}) },
		"fewer updates":    func(a jobs.Arrays) { jobs.Put(a, "training.updates", []int64{3}) },
		"separated":        func(a jobs.Arrays) { jobs.PutScalar(a, "training.separated", int32(-1)) },
		"margins":          func(a jobs.Arrays) { jobs.Put(a, "training.margin", []float64{1, 2}) },
		"margin NaN":       func(a jobs.Arrays) { jobs.Put(a, "training.margin", []float64{math.NaN()}) },
		"radius":           func(a jobs.Arrays) { jobs.PutScalar(a, "training.radius", -1.0) },
		"bound":            func(a jobs.Arrays) { jobs.PutScalar(a, "training.bound", math.Inf(1)) },
	} {
		model := train(t, `{"shuffle": false}`, three).Model
		spoil(model)
		for use, err := range uses(model) {
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
				t.Errorf("%s: %s: %v", name, use, err)
			}
		}
	}
	model := train(t, `{"shuffle": false, "form": "voted"}`, three).Model
	for name, survived := range map[string][]int64{"fewer votes": {1, 1}, "votes below 0": {1, -1, 4},
		"too many": {math.MaxInt64, 1, 4}} {
		jobs.Put(model, "survived", survived)
		if _, err := NewPredictor(model, kernelops.Generic()); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

// uses tries all that reads a model.
func uses(model jobs.Arrays) map[string]error {
	errs := map[string]error{}
	_, errs["predict"] = NewPredictor(model, kernelops.Generic())
	_, errs["learn"] = Load(model, kernelops.Generic())
	_, errs["describe"] = Kind().Describe(model, jobs.DescribeOptions{})
	_, errs["figures"] = Kind().Figures(model, nil)
	return errs
}

// Whatever the bytes, loading gives a CORRUPT fault, or a model that predicts, learns and is described.
func FuzzModel(f *testing.F) {
	f.Add(train(f, `{}`, three).Model.Encode(), float32(2))
	f.Add(train(f, `{"form": "voted"}`, sectors(30, 3)).Model.Encode(), float32(0))
	f.Add(train(f, `{"form": "unweighted", "class_weights": {"y": 2}}`, asSparse(three)).Model.Encode(), float32(-1))
	f.Add(train(f, `{"classes": "one_vs_rest"}`, asSparse(sectors(30, 3))).Model.Encode(), float32(3e38))
	f.Add(train(f, `{}`, []jobstest.Record{{Label: "a", Text: "b c"}, {Label: "d", Text: "e"}}).Model.Encode(),
		float32(1))
	f.Fuzz(func(t *testing.T, data []byte, value float32) {
		arrays, err := jobs.Decode(data)
		if err != nil {
			return
		}
		errs := uses(arrays)
		if errs["predict"] != nil {
			wantFault(t, errs["predict"], protocol.CodeCorrupt, "")
			return
		}
		for use, err := range errs {
			if err != nil {
				t.Fatalf("%s: %v", use, err)
			}
		}
		o, err := Load(arrays, kernelops.Generic())
		if err != nil {
			t.Fatal(err)
		}
		tellFuzzed(t, o, value)
	})
}

// tellFuzzed predicts one record of the model's form and tells its label.
func tellFuzzed(t *testing.T, o *Online, value float32) {
	block := &dataset.Block{IDs: make([]dataset.Identity, 1)}
	switch {
	case o.space.Dictionary() != nil:
		block.Texts = [][]byte{[]byte("a b c d e")}
	case o.Sparse:
		block.Sparse = dataset.Sparse{Width: o.Width, Indptr: []int{0, 1}, Indices: []int32{int32(o.Width - 1)},
			Values: []float32{value}}
	default:
		block.Dense = dataset.Dense{Width: o.Width, Values: slices.Repeat([]float32{value}, o.Width)}
	}
	outcome, err := o.Predict(block)
	var fault *protocol.Fault
	if err != nil {
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
			t.Fatal(err)
		}
		return
	}
	if !slices.Contains(o.Labels(), outcome.Label) || outcome.Value-outcome.Value != 0 {
		t.Fatalf("outcome %+v", outcome)
	}
	if _, err := o.Update(o.Labels()[0]); err != nil &&
		(!errors.As(err, &fault) || fault.Code != protocol.CodeInputLimit) {
		t.Fatal(err)
	}
}

func TestDescribe(t *testing.T) {
	texts := []jobstest.Record{{Label: "spam", Text: "win money"}, {Label: "ham", Text: "see you"}}
	text, err := Kind().Describe(train(t, `{}`, texts).Model, jobs.DescribeOptions{Top: 1})
	if err != nil || !strings.Contains(text, `"spam"`) || !strings.Contains(text, `"money" `) ||
		!strings.Contains(text, `"see" `) || strings.Contains(text, `"win" `) {
		t.Errorf("%s%v", text, err)
	}
	model := train(t, `{}`, sectors(200, 4)).Model
	text, err = Kind().Describe(model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "rule argmax") || !strings.Contains(text, `"c3"`) {
		t.Errorf("%s%v", text, err)
	}
	for line := range strings.Lines(text) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > describe.Width {
			t.Errorf("a line beyond %d columns: %q", describe.Width, line)
		}
	}
	_, err = Kind().Describe(model, jobs.DescribeOptions{Classes: []string{"c9"}})
	wantFault(t, err, protocol.CodeSpecInvalid, `"c9"`)
}

func TestFigures(t *testing.T) {
	figures, err := Kind().Figures(train(t, `{"classes": "one_vs_rest"}`, digits(t)[:200]).Model, nil)
	if err != nil || len(figures) != 3 {
		t.Fatalf("%d figures, %v", len(figures), err)
	}
	if lines := figures[0].Lines; len(lines.Series) != 2 || len(lines.Series[0].Y) == 0 || lines.Series[0].Y[0] == 0 {
		t.Errorf("mistakes %+v", lines)
	}
	if images := figures[2].Images; len(images) != 10 || images[0].Width != 8 || len(images[0].Values) != 64 {
		t.Errorf("%d images", len(images))
	}
}
