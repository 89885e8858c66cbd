package kernelperceptron_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func TestSenselessParamsAreRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"kernel": "laplace"}`:                               "kernel is one of",
		`{"form": "average"}`:                                 "form is one of",
		`{"drop": "newest"}`:                                  "drop is one of",
		`{"epochs": 0}`:                                       "epochs is from 1",
		`{"budget": -1}`:                                      "budget is from 0",
		`{"class_weights": {"a": 0}}`:                         `the weight of "a"`,
		`{"class_weights": {"a": 1e9}}`:                       `the weight of "a"`,
		`{"costs": {"a": {"b": -1}}}`:                         "the cost of deciding",
		`{"features": {"scale": "cubic"}}`:                    "scale is one of",
		`{"epoch": 3}`:                                        "epoch",
		`{"kernel": "rbf", "degree": 3}`:                      "has no degree",
		`{"kernel": "polynomial", "offset": 1, "gamma": 0.5}`: "has no gamma",
	} {
		_, err := kernelperceptron.Kind().Defaults([]byte(params))
		if fault := wantFault(t, err, protocol.CodeSpecInvalid); !strings.Contains(fault.What, want) {
			t.Errorf("%s: %s", params, fault.What)
		}
	}
}

// Defaults written in once stay as they are.
func TestDefaultsAreWhole(t *testing.T) {
	for params, want := range map[string]string{
		`{}`: `{"kernel":"polynomial","scale":1,"offset":1,"degree":2,"form":"averaged","bias":true,"epochs":10,"shuffle":true,"budget":0,"drop":"oldest"`,
		`{"kernel":"rbf","gamma":0.5,"budget":7}`: `{"kernel":"rbf","gamma":0.5,"form":"plain","bias":true,"epochs":10,"shuffle":true,"budget":7,"drop":"oldest"`,
	} {
		once, err := kernelperceptron.Kind().Defaults([]byte(params))
		if err != nil || !strings.HasPrefix(string(once), want) {
			t.Errorf("%s: %s, %v", params, once, err)
		}
		if twice, err := kernelperceptron.Kind().Defaults(once); err != nil || string(twice) != string(once) {
			t.Errorf("%s became %s, %v", once, twice, err)
		}
	}
}

func TestInputsThatTeachNothing(t *testing.T) {
	point := func(label string, weight float32) jobstest.Record {
		return jobstest.Record{Label: label, Weight: weight, Dense: []float32{1, 2}}
	}
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		code    protocol.Code
		want    string
	}{
		"one class": {`{}`, []jobstest.Record{point("a", 0), point("a", 0)}, protocol.CodeInputEmpty,
			"needs 2 classes or more"},
		"no record": {`{}`, nil, protocol.CodeInputEmpty, "no training record"},
		"no label": {`{}`, []jobstest.Record{{Dense: []float32{1}}}, protocol.CodeInputEmpty,
			"learns from labels"},
		"weight below 0": {`{}`, []jobstest.Record{point("a", 1), point("b", -1)}, protocol.CodeBadRecord,
			"the weight is -1"},
		"NaN": {`{}`, []jobstest.Record{point("a", 0),
			{Label: "b", Dense: []float32{1, float32(math.NaN())}}}, protocol.CodeBadRecord, "not a finite"},
		"another width": {`{}`, []jobstest.Record{point("a", 0), {Label: "b", Dense: []float32{1}}},
			protocol.CodeBadRecord, "width 1"},
		"beyond float32": {`{"degree": 40}`, []jobstest.Record{point("a", 0),
			{Label: "b", Dense: []float32{1e3, 1e3}}}, protocol.CodeBadRecord, "beyond the range of float32"},
		"unknown weight": {`{"class_weights": {"bb": 2}}`, []jobstest.Record{point("a", 0), point("b", 0)},
			protocol.CodeSpecInvalid, `the label "bb"`},
		"unknown cost": {`{"costs": {"a": {"c": 2}}}`, []jobstest.Record{point("a", 0), point("b", 0)},
			protocol.CodeSpecInvalid, `the label "c"`},
		"too wide a space": {`{}`, []jobstest.Record{{Label: "a", Width: 1 << 20, Indices: []int32{1},
			Values: []float32{1}}, {Label: "b", Width: 1 << 20, Indices: []int32{1}, Values: []float32{1}}},
			protocol.CodeInputLimit, "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, c.params, [][]jobstest.Record{c.records}, kernelops.Best())
			if fault := wantFault(t, err, c.code); !strings.Contains(fault.What, c.want) {
				t.Error(fault.What)
			}
		})
	}
}

// Records that weigh 0 are passed over; when all do, nothing is learned.
func TestRecordsOfWeightZero(t *testing.T) {
	records := []jobstest.Record{{Label: "a", Dense: []float32{1}, Weight: 1e-30},
		{Label: "b", Dense: []float32{-1}, Weight: 1}, {Label: "b", Dense: []float32{9}}}
	model := mustRun(t, `{"kernel": "linear", "form": "plain"}`, jobstest.Deal(records, 2)).Model
	if offset, err := jobs.Get[int64](model, "supports.record"); err != nil || slices.Contains(offset, 2) {
		t.Errorf("support vectors %v, %v", offset, err)
	}
	spec := specOf(t, `{}`, 0)
	algorithm, err := kernelperceptron.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = jobstest.Run(t.Context(), algorithm, spec, weightless(jobstest.Shards(jobstest.Deal(records, 2), 9)),
		kernelops.Best(), jobstest.Grouping{})
	wantFault(t, err, protocol.CodeInputEmpty)
}

// weightless gives every record a weight of 0.
func weightless(shards []jobstest.Blocks) []jobstest.Blocks {
	for s, read := range shards {
		shards[s] = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
			return func(yield func(*dataset.Block, error) bool) {
				for block, err := range read(ctx) {
					if err == nil {
						light := *block
						light.Weights = make([]float32, len(block.IDs))
						block = &light
					}
					if !yield(block, err) {
						return
					}
				}
			}
		}
	}
	return shards
}

// One point under two labels is never learned: half of the records stay wrong, and training ends.
func TestTwinsOfTwoLabels(t *testing.T) {
	var records []jobstest.Record
	for i := range 10 {
		records = append(records, jobstest.Record{Label: fmt.Sprint(i % 2), Dense: []float32{3, 4}})
	}
	for _, form := range []string{"plain", "averaged", "voted"} {
		result := mustRun(t, `{"epochs": 4, "form": "`+form+`"}`, jobstest.Deal(records, 3))
		if wrong := errorsOf(t, result.Model, records); wrong != 5 {
			t.Errorf("%s: %d wrong", form, wrong)
		}
		if epochs, _ := metric(t, result, "train.epochs"); epochs != 4 {
			t.Errorf("%s: %v epochs", form, epochs)
		}
	}
}

// Rows of zeros differ from nothing but by b: the model answers with a label, and so do empty shards.
func TestZeroRowsAndEmptyShards(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0, 0}, {0, 0}, {0, 0}}, "a", "b", "b")
	for _, params := range []string{`{"kernel": "linear"}`, `{"kernel": "linear", "bias": false}`, `{"kernel": "rbf"}`,
		`{"features": {"scale": "l2"}}`} {
		model := mustRun(t, params, jobstest.Deal(records, 7)).Model
		labels, _ := decisions(t, model, records)
		if labels[0] != labels[1] || labels[0] != "a" && labels[0] != "b" {
			t.Errorf("%s: %v", params, labels)
		}
	}
}

// A label that training did not see is wrong, and named.
func TestEvaluationOnQueries(t *testing.T) {
	queries := append(xor(), jobstest.Record{Label: "maybe", Dense: []float32{1, 1}})
	params := `{"form": "plain", "costs": {"no": {"yes": 5}}}`
	spec := specOf(t, params, 0)
	spec.Spec.Queries = &protocol.Input{}
	algorithm, err := kernelperceptron.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(xor(), 2), 3),
		kernelops.Best(), jobstest.Grouping{},
		jobstest.WithQueries(jobstest.Deal(queries, 3)))
	if err != nil {
		t.Fatal(err)
	}
	var report evaluation.Report
	decode(t, result, "evaluation", &report)
	if report.Records != 5 || report.Correct != 4 {
		t.Errorf("%+v", report)
	}
	spec.Spec.Input.Split.Test = 0.5
	_, err = kernelperceptron.New(spec)
	wantFault(t, err, protocol.CodeSpecInvalid)
}
