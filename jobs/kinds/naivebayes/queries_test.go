package naivebayes

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Of the four documents 3 of 4 are ham, each class has five occurrences, and the dictionary six terms. p(ham)
// p(w|ham) against p(spam) p(w|spam), times 44:
//
//	buy    3*1 < 1*4  spam
//	see    3*2 > 1*1  ham
//	cheap  3*1 > 1*2  ham, and wrong
//	meet   3*2 > 1*1  ham; training did not see the label it has
//
// The model is that of a job without queries; a split beside them is refused.
func TestEvaluationOnQueries(t *testing.T) {
	queries := []jobstest.Record{{Label: "spam", Text: "buy"}, {Label: "ham", Text: "see"},
		{Label: "spam", Text: "cheap"}, {Label: "eggs", Text: "meet"}}
	spec := specOf(`{}`, 0)
	spec.Spec.Queries = &protocol.Input{}
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(inShards(fourDocuments, 2), 2),
		kernelops.Best(), jobstest.Grouping{},
		jobstest.WithQueries(jobstest.Deal(queries, 3)))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(result.Metrics, func(m jobs.Metric) bool { return m.Name == "evaluation" })
	var report struct{ Records, Correct int }
	if at < 0 || json.Unmarshal(result.Metrics[at].Value, &report) != nil || report.Records != 4 ||
		report.Correct != 2 {
		t.Errorf("%+v", report)
	}
	if got, want := jobstest.Digest(result.Model), jobstest.Digest(modelOf(t, `{}`, fourDocuments)); got != want {
		t.Errorf("model %s with queries, %s without", got, want)
	}
	spec.Spec.Input.Split.Test = 0.5
	if _, err := New(spec); err == nil {
		t.Error("queries beside a split")
	}
}

// Queries are texts or counts, as the input is.
func TestQueriesOfOtherRecords(t *testing.T) {
	spec := specOf(`{}`, 0)
	spec.Spec.Queries = &protocol.Input{Format: "npy"}
	wantFault(t, second(New(spec)), protocol.CodeSpecInvalid, "spec.queries: kind NaiveBayes counts words")
}

func wantFault(t testing.TB, err error, code protocol.Code, part string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code || !strings.Contains(err.Error(), part) {
		t.Errorf("want a fault of %s with %q, got %v", code, part, err)
	}
}

func second[T any](_ T, err error) error { return err }
