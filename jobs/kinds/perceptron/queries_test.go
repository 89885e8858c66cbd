package perceptron

import (
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The mean of the three records' weights is ((14/6, -1), 5/6): (1, 0) has the score 19/6, (0, 1) -1/6 and (0, 0.5)
// 1/3, so that the last is wrong, as is a label that training did not see. All queries are judged, and the model is
// that of a job without them.
func TestEvaluationOnQueries(t *testing.T) {
	queries := jobstest.DenseRecords([][]float32{{1, 0}, {0, 1}, {0, 0.5}, {1, 1}}, "y", "n", "n", "z")
	spec := specOf(`{"shuffle": false}`)
	spec.Spec.Queries = &protocol.Input{}
	shards := [][]jobstest.Record{three[:2], three[2:]}
	judge := func(opts ...jobstest.Option) jobstest.Result {
		result, err := tryRun(t, spec, shards, kernelops.Best(),
			append(opts, jobstest.WithQueries(jobstest.Deal(queries, 3)))...)
		if err != nil {
			t.Fatal(err)
		}
		var report struct{ Records, Correct int }
		if !metric(t, result, "evaluation", &report) || report.Records != 4 || report.Correct != 2 {
			t.Errorf("%+v", report)
		}
		return result
	}
	without := train(t, `{"shuffle": false}`, shards...)
	if got, want := jobstest.Digest(judge().Model), jobstest.Digest(without.Model); got != want {
		t.Errorf("model %s with queries, %s without", got, want)
	}
	spec.Spec.Model = "mem://models/before" // three are separated: learning on leaves the answers as they are
	judge(jobstest.WithModel(without.Model))
	spec.Spec.Input.Split.Test = 0.5
	if _, err := New(spec); err == nil {
		t.Error("queries beside a split")
	}
}
