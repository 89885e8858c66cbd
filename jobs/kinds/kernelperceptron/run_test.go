package kernelperceptron_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// specOf is a spec in blocks of 40 records, unless the parameters say otherwise, so that most tests have several.
func specOf(t testing.TB, params string, test float64) protocol.JobSpec {
	t.Helper()
	if rest := strings.TrimPrefix(params, "{"); !strings.Contains(params, "block_records") {
		if rest != "}" {
			rest = ", " + rest
		}
		params = `{"block_records": 40` + rest
	}
	full, err := kernelperceptron.Kind().Defaults(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	spec := protocol.JobSpec{Kind: kernelperceptron.KindName}
	spec.Spec.Params, spec.Spec.Repro.Seed, spec.Spec.Input.Split.Test = full, 3, test
	return spec
}

func run(t testing.TB, params string, shards [][]jobstest.Record, ops *kernelops.Set,
	opts ...jobstest.Option) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(t, params, 0)
	algorithm, err := kernelperceptron.New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 1000), ops, jobstest.Grouping{}, opts...)
}

func mustRun(t testing.TB, params string, shards [][]jobstest.Record, opts ...jobstest.Option) jobstest.Result {
	t.Helper()
	result, err := run(t, params, shards, kernelops.Best(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// decisions are the labels that a model gives records.
func decisions(t testing.TB, model jobs.Arrays, records []jobstest.Record) (labels []string, scores [][]float64) {
	t.Helper()
	predictor, err := kernelperceptron.NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 50)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := predictor.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			labels, scores = append(labels, o.Label), append(scores, slices.Clone(o.Scores))
		}
	}
	return labels, scores
}

func errorsOf(t testing.TB, model jobs.Arrays, records []jobstest.Record) (wrong int) {
	t.Helper()
	labels, _ := decisions(t, model, records)
	for i, r := range records {
		if labels[i] != r.Label {
			wrong++
		}
	}
	return wrong
}

// metric reads a number among the metrics; ok is false where there is none.
func metric(t testing.TB, result jobstest.Result, name string) (v float64, ok bool) {
	t.Helper()
	ok = decode(t, result, name, &v)
	return v, ok
}

// decode reads a metric of any form.
func decode(t testing.TB, result jobstest.Result, name string, into any) bool {
	t.Helper()
	for _, m := range result.Metrics {
		if m.Name == name {
			if err := json.Unmarshal(m.Value, into); err != nil {
				t.Fatal(err)
			}
			return true
		}
	}
	return false
}

func wantFault(t testing.TB, err error, code protocol.Code) *protocol.Fault {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code {
		t.Fatalf("%v, not %s", err, code)
	}
	return fault
}
