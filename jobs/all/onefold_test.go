package all_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/gaussiannb"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func gaussian(t *testing.T) jobs.Kind {
	t.Helper()
	kind, err := all.Lookup(gaussiannb.KindName)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

func foldsSpec(t *testing.T, folds int, more string) protocol.JobSpec {
	t.Helper()
	spec, err := protocol.ParseSpec(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"GaussianNaiveBayes","metadata":{},"spec":{
		"input":{"uri":"file:///in/","format":"csv","label":1,"split":{"folds":%d}},%s"output":{},"params":{},
		"repro":{"seed":7},"run":{}}}`, folds, more))
	if err != nil {
		t.Fatal(err)
	}
	spec = spec.WithDefaults()
	if spec.Spec.Params, err = gaussian(t).Defaults(spec.Spec.Params); err != nil {
		t.Fatal(err)
	}
	return spec
}

// Twenty numbers of class a below 0, and twenty of class b above.
func twoClasses() []jobstest.Record {
	var rows [][]float32
	var labels []string
	for i := range 40 {
		rows = append(rows, []float32{float32(i)/8 - 2.5})
		labels = append(labels, []string{"a", "b"}[i/20])
	}
	return jobstest.DenseRecords(rows, labels...)
}

func runFolds(t *testing.T, spec protocol.JobSpec) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := gaussian(t).New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(twoClasses(), 3), 8),
		kernelops.Generic(), jobstest.Grouping{})
}

// A fold has the figures of a job whose queries are its records, and which trains on the others.
func TestFoldIsAJobOfItsOwn(t *testing.T) {
	spec := foldsSpec(t, 4, `"evaluation":{},`)
	result, err := runFolds(t, spec)
	if err != nil {
		t.Fatal(err)
	}
	var folds evaluation.Folds
	if err := jobs.ReadMetric(result.Metrics, evaluation.FoldsMetric, &folds); err != nil || len(folds.Folds) != 4 {
		t.Fatal(folds, err)
	}
	for _, f := range folds.Folds {
		one := spec
		one.Spec.Input.Split.Out = f.Fold
		algorithm, err := gaussiannb.New(one)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := jobstest.Run(t.Context(), algorithm, one, jobstest.Shards([][]jobstest.Record{twoClasses()}, 40),
			kernelops.Generic(), jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		want := evaluation.Fold{Fold: f.Fold}
		if err := want.Take(alone.Metrics); err != nil {
			t.Fatal(err)
		}
		if *f.LogLoss != *want.LogLoss || *f.Accuracy != *want.Accuracy || f.Records != want.Records {
			t.Errorf("fold %+v is not %+v", f, want)
		}
	}
}

func TestFoldsByHand(t *testing.T) {
	v := []float64{0.5, 0.75, 1}
	got := evaluation.FoldsOf([]evaluation.Fold{{Accuracy: &v[0]}, {Accuracy: &v[1], AUC: &v[1]}, {Accuracy: &v[2]}})
	want := evaluation.Spread{Figure: "accuracy", Mean: 0.75, Deviation: 0.25}
	if len(got.Summaries) != 1 || got.Summaries[0] != want {
		t.Errorf("%+v", got.Summaries)
	}
}

func TestFoldsRefuse(t *testing.T) {
	_, err := runFolds(t, foldsSpec(t, 90, "")) // of 40 records
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeInputEmpty {
		t.Errorf("more folds than records: %v", err)
	}
	spec := foldsSpec(t, 3, `"model":"file:///m/model.safetensors",`)
	if _, err := runFolds(t, spec); !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
		t.Errorf("folds of a model that goes on: %v", err)
	}
}
