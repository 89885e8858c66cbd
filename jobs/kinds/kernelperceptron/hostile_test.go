package kernelperceptron_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// model is that of TestXORByHand, in a form: four support vectors of two columns.
func model(t testing.TB, form string) jobs.Arrays {
	return mustRun(t, `{"shuffle": false, "form": "`+form+`"}`, jobstest.Deal(xor(), 1)).Model
}

func TestHostileModels(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	whole := model(t, "voted")
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":       func(a jobs.Arrays) { a.PutKind("KMeans", 1) },
		"another version":    func(a jobs.Arrays) { a.PutKind(kernelperceptron.KindName, 2) },
		"no kernel":          func(a jobs.Arrays) { delete(a, "kernel") },
		"form":               func(a jobs.Arrays) { a.PutText("form", "median") },
		"no support vectors": func(a jobs.Arrays) { delete(a, "supports") },
		"fewer vectors":      func(a jobs.Arrays) { jobs.Put(a, "supports", make([]float32, 6), 3, 2) },
		"another width":      func(a jobs.Arrays) { jobs.Put(a, "supports", make([]float32, 12), 4, 3) },
		"a vector NaN": func(a jobs.Arrays) {
			jobs.Put(a, "supports",
				[]float32{1, 2, 3, 4, 5, 6, 7, float32(nan)}, 4, 2)
		},
		"a class of many":     func(a jobs.Arrays) { jobs.Put(a, "supports.class", []int32{0, 1, 2, 0}) },
		"a class below 0":     func(a jobs.Arrays) { jobs.Put(a, "supports.class", []int32{0, 1, -1, 0}) },
		"fewer records":       func(a jobs.Arrays) { jobs.Put(a, "supports.record", []int64{0, 0, 1}) },
		"no records":          func(a jobs.Arrays) { delete(a, "supports.record") },
		"more columns":        func(a jobs.Arrays) { jobs.Put(a, "alpha", make([]float64, 8), 4, 2) },
		"alpha infinite":      func(a jobs.Arrays) { jobs.Put(a, "alpha", []float64{1, 1, 1, inf}, 4, 1) },
		"b NaN":               func(a jobs.Arrays) { jobs.Put(a, "b", []float64{nan}) },
		"two b":               func(a jobs.Arrays) { jobs.Put(a, "b", []float64{1, 1}) },
		"a step of no vector": func(a jobs.Arrays) { jobs.Put(a, "votes.place", []int32{0, 1, 2, 4}) },
		"a step below 0":      func(a jobs.Arrays) { jobs.Put(a, "votes.place", []int32{0, 1, 2, -1}) },
		"against itself":      func(a jobs.Arrays) { jobs.Put(a, "votes.against", []int32{0, 0, 0, 1}) },
		"against another":     func(a jobs.Arrays) { jobs.Put(a, "votes.against", []int32{1, 0, 0, 9}) },
		"a step of 0":         func(a jobs.Arrays) { jobs.Put(a, "votes.step", []float64{1, 1, 1, 0}) },
		"a step NaN":          func(a jobs.Arrays) { jobs.Put(a, "votes.step", []float64{1, 1, 1, nan}) },
		"a step back":         func(a jobs.Arrays) { jobs.Put(a, "votes.step", []float64{1, 1, 1, -1}) },
		"a step back more":    func(a jobs.Arrays) { stepBack(a) },
		"survived none":       func(a jobs.Arrays) { jobs.Put(a, "votes.survived", []int64{1, 1, 1, 0}) },
		"fewer survived":      func(a jobs.Arrays) { jobs.Put(a, "votes.survived", []int64{1, 1, 1}) },
		"fewer mistakes":      func(a jobs.Arrays) { jobs.Put(a, "mistakes", []int64{3, 0}) },
		"mistakes below 0":    func(a jobs.Arrays) { jobs.Put(a, "mistakes", []int64{5, -1}) },
		"mistakes overflow": func(a jobs.Arrays) {
			jobs.Put(a, "mistakes",
				[]int64{math.MaxInt64, math.MaxInt64, 6})
		},
		"dropped below 0": func(a jobs.Arrays) { jobs.PutScalar(a, "dropped", int64(-1)) },
		"radius NaN":      func(a jobs.Arrays) { jobs.PutScalar(a, "radius", nan) },
		"margin of 0":     func(a jobs.Arrays) { jobs.PutScalar(a, "margin", 0.0) },
		"bound below 0":   func(a jobs.Arrays) { jobs.PutScalar(a, "novikoff", -1.0) },
		"float32 margin":  func(a jobs.Arrays) { jobs.PutScalar(a, "margin", float32(1)) },
		"none": func(a jobs.Arrays) {
			jobs.Put(a, "supports", []float32{}, 0, 2)
			jobs.Put(a, "supports.class", []int32{})
			jobs.Put(a, "supports.object", []int32{})
			jobs.Put(a, "supports.offset", []int64{})
			jobs.Put(a, "alpha", []float64{}, 0, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := maps.Clone(whole)
			spoil(a)
			_, err := kernelperceptron.NewPredictor(a, kernelops.Generic())
			wantFault(t, err, protocol.CodeCorrupt)
			_, err = kernelperceptron.Kind().Describe(a, jobs.DescribeOptions{})
			wantFault(t, err, protocol.CodeCorrupt)
			_, err = kernelperceptron.Kind().Figures(a, nil)
			wantFault(t, err, protocol.CodeCorrupt)
		})
	}
}

// stepBack has a mistake less than the epochs tell: three steps and one that takes a step back.
func stepBack(a jobs.Arrays) {
	jobs.Put(a, "votes.step", []float64{1, 1, 1, -1})
	jobs.Put(a, "votes.survived", []int64{1, 1, 1, 0})
}

// Whatever the bytes, loading gives a CORRUPT fault or a predictor that answers with a label it has.
func FuzzModel(f *testing.F) {
	for _, form := range []string{"plain", "averaged", "voted"} {
		f.Add(model(f, form).Encode(), float32(2))
	}
	few := digits(f, 12)
	f.Add(mustRun(f, `{"epochs": 2, "kernel": "rbf", "budget": 5}`, jobstest.Deal(few, 2)).Model.Encode(), float32(-1))
	f.Add(mustRun(f, `{"epochs": 2, "form": "voted", "budget": 5}`, jobstest.Deal(few, 2)).Model.Encode(), float32(3))
	f.Add(mustRun(f, `{"epochs": 2, "kernel": "sigmoid", "form": "voted"}`, jobstest.Deal(few, 2)).Model.Encode(),
		float32(1e30))
	f.Fuzz(func(t *testing.T, data []byte, value float32) {
		arrays, err := jobs.Decode(data)
		if err != nil {
			return
		}
		p, err := kernelperceptron.NewPredictor(arrays, kernelops.Generic())
		if err != nil {
			wantFault(t, err, protocol.CodeCorrupt)
			return
		}
		if _, err := kernelperceptron.Kind().Describe(arrays, jobs.DescribeOptions{}); err != nil {
			t.Fatal(err)
		}
		fuzzOnline(t, arrays)
		if _, err := kernelperceptron.Kind().Figures(arrays, nil); err != nil {
			t.Fatal(err)
		}
		space, err := features.ReadSpace(arrays)
		if err != nil {
			t.Fatal(err)
		}
		if space.Sparse {
			return
		}
		block := &dataset.Block{IDs: []dataset.Identity{{Object: "x"}},
			Dense: dataset.Dense{Width: space.Width, Values: slices.Repeat([]float32{value}, space.Width)}}
		outcomes, err := p.Predict(t.Context(), block)
		var fault *protocol.Fault
		switch {
		case err != nil && (!errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord):
			t.Fatal(err)
		case err == nil && !slices.Contains(p.Answers().Labels, outcomes[0].Label):
			t.Fatalf("outcome %+v", outcomes[0])
		}
	})
}

// fuzzOnline teaches a model a record; what it becomes is a model again.
func fuzzOnline(t *testing.T, a jobs.Arrays) {
	o, err := kernelperceptron.Load(a, kernelops.Generic())
	if err != nil {
		wantFault(t, err, protocol.CodeSpecInvalid)
		return
	}
	space, err := features.ReadSpace(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Predict(blockOf(jobstest.Record{Dense: make([]float32, space.Width)})); err != nil {
		return
	}
	if _, err := o.Update(string(space.Labels.At(0))); err != nil {
		return
	}
	if _, err := kernelperceptron.NewPredictor(o.Model(), kernelops.Generic()); err != nil {
		t.Fatal(err)
	}
}

func TestDescribe(t *testing.T) {
	text, err := kernelperceptron.Kind().Describe(model(t, "plain"), jobs.DescribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Kernel perceptron, plain: 2 classes of vectors with 2 columns", "kernel: polynomial, (1 <x, y> + 1)^2",
		"4 support vectors of 4 training records; 4 mistakes in 2 epochs: 4 0",
		"R = 3; the last epoch made no mistake: margin 1.41421, Novikoff's bound 5 mistakes",
		"no                                  1  3\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// What became of support vectors that a budget dropped depends on the form.
func TestDescribeDropped(t *testing.T) {
	for form, want := range map[string]string{"plain": "2 support vectors were dropped",
		"averaged": "2 times a support vector was dropped; here"} {
		model := mustRun(t, `{"shuffle": false, "epochs": 1, "budget": 2, "form": "`+form+`"}`,
			jobstest.Deal(xor(), 1)).Model
		if text, err := kernelperceptron.Kind().Describe(model, jobs.DescribeOptions{}); err != nil ||
			!strings.Contains(text, want) {
			t.Errorf("%v, %s", err, text)
		}
	}
}

// Pictures show the support vectors of digits, largest first.
func TestFigures(t *testing.T) {
	result := mustRun(t, `{"epochs": 3, "form": "plain"}`, jobstest.Deal(digits(t, 100), 1))
	figures, err := kernelperceptron.Kind().Figures(result.Model, result.Metrics)
	if err != nil || len(figures) != 2 {
		t.Fatalf("%d figures, %v", len(figures), err)
	}
	mistakes, err := jobs.Get[int64](result.Model, "mistakes")
	if err != nil {
		t.Fatal(err)
	}
	line := figures[0].Lines.Series[0]
	for i, n := range mistakes {
		if line.X[i] != float64(i+1) || line.Y[i] != float64(n) {
			t.Errorf("epoch %d: %v, %v", i, line.X[i], line.Y[i])
		}
	}
	for _, image := range figures[1].Images {
		if image.Width != 8 || len(image.Values) != 64 {
			t.Errorf("%+v", image)
		}
	}
	if figures, err := kernelperceptron.Kind().Figures(model(t, "plain"), nil); err != nil || len(figures) != 1 {
		t.Errorf("two columns are no picture: %d figures, %v", len(figures), err)
	}
}

// Sparse records of a few bytes are filled up as support vectors, and refused before they fill the memory. All
// products are 0, so that each of them is a mistake; 8 fit.
func TestSupportsTooBig(t *testing.T) {
	var records []jobstest.Record
	for i := range int32(40) {
		records = append(records, jobstest.Record{Label: string('a' + i%2), Width: 1 << 17, Indices: []int32{i},
			Values: []float32{1}})
	}
	spec := specOf(t, `{"kernel": "linear", "bias": false}`, 0)
	spec.Spec.Run.MaxStateBytes = 4<<20 + 1000
	algorithm, err := kernelperceptron.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 1), 1000),
		kernelops.Best(), jobstest.Grouping{})
	if fault := wantFault(t, err, protocol.CodeStateTooBig); !strings.HasPrefix(fault.What, "9 support vectors take") {
		t.Error(fault)
	}
}
