package worker

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gram-compute/gram/attest/mlbom"
	"github.com/gram-compute/gram/jobs"
)

// Scores of a bill are those of the report, word for word.
func TestPerformance(t *testing.T) {
	metric := func(name, value string) jobs.Metric { return jobs.Metric{Name: name, Value: json.RawMessage(value)} }
	got := performance([]jobs.Metric{
		metric("counts.records", "4"), metric("evaluation", `{"records":4,"accuracy":0.75,"macro":{"f1":0.5}}`),
		metric("evaluation.confusion", `{"accuracy":1}`), metric("evaluation", `[]`),
		metric("evaluation.regression", `{"mean_squared_error":0.125,"r2":-1.5}`),
	})
	const on = "test records"
	want := []mlbom.Metric{{Type: "accuracy", Value: "0.75", Slice: on}, {Type: "macro F1", Value: "0.5", Slice: on},
		{Type: "mean squared error", Value: "0.125", Slice: on}, {Type: "R2", Value: "-1.5", Slice: on}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
