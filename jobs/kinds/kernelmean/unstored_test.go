package kernelmean

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/jobs/learn/predictions"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// unstoring is a form whose model gives up its base.
func unstoring(params string) string {
	if params == `{}` {
		return `{"store_base": false}`
	}
	return strings.Replace(params, "{", `{"store_base": false, `, 1)
}

// decide runs a job that decides queries.
func decide(t testing.TB, kind, params string, records, queries [][]jobstest.Record,
	ops *kernelops.Set) jobstest.Result {
	t.Helper()
	r, err := tryDecide(t, specOf(kind, params), records, queries, ops)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryDecide(t testing.TB, spec protocol.JobSpec, records, queries [][]jobstest.Record,
	ops *kernelops.Set) (jobstest.Result, error) {
	t.Helper()
	var options []jobstest.Option
	if queries != nil {
		spec.Spec.Queries = &protocol.Input{}
		options = append(options, jobstest.WithQueries(queries))
	}
	algorithm, err := kindOf(spec.Kind).New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(records, 7), ops, jobstest.Grouping{}, options...)
}

// predictionsOf are the files of a job's predictions, by name.
func predictionsOf(r jobstest.Result) map[string]string {
	files := map[string]string{}
	for name, data := range r.Files {
		if strings.HasPrefix(name, predictions.Folder+"/part-") {
			files[name] = string(data)
		}
	}
	return files
}

func metricsOf(r jobstest.Result, prefix string) (text string) {
	for _, m := range r.Metrics {
		if strings.HasPrefix(m.Name, prefix) {
			text += fmt.Sprintf("%s %s\n", m.Name, m.Value)
		}
	}
	return text
}

// The job writes what the kind Predict writes with the model that holds its base, to the byte. It judges what the job
// with that model judges.
func TestDecidesAsTheStoredModel(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		records, queries := someRecords(150, sparse), someRecords(40, sparse)
		for i := range queries {
			queries[i].Label = string(rune('a' + i%2)) // some are mistakes
		}
		for i := range records {
			records[i].Weight = float32(1 + i%4)
		}
		base, asked := jobstest.Deal(records, 4), jobstest.Deal(queries, 3)
		for _, form := range forms {
			whole := decide(t, form.kind, form.params, base, asked, kernelops.Best())
			r := decide(t, form.kind, unstoring(form.params), base, asked, kernelops.Best())
			got, want := predictionsOf(r), predictionsOf(predicted(t, whole.Model, asked))
			for name, text := range want {
				// the records of the one are the queries of the other
				want[name] = strings.ReplaceAll(text, "\nrecords,", "\nqueries,")
			}
			if len(want) != 3 || !maps.Equal(got, want) {
				t.Errorf("%s %s: other predictions than those of %d shards", form.kind, form.params, len(want))
			}
			if a, b := metricsOf(r, "evaluation"), metricsOf(whole, "evaluation"); a != b || a == "" {
				t.Errorf("%s %s: judged\n%s, want\n%s", form.kind, form.params, a, b)
			}
			if a, b := metricsOf(r, "norms"), metricsOf(whole, "norms"); a != b {
				t.Errorf("%s %s: norms\n%s, want\n%s", form.kind, form.params, a, b)
			}
		}
	}
}

// predicted is what the kind Predict makes of records.
func predicted(t *testing.T, model jobs.Arrays, records [][]jobstest.Record) jobstest.Result {
	t.Helper()
	spec := specOf(predict.KindName, `{}`)
	spec.Spec.Model = "s3://models/m/model.safetensors"
	algorithm, err := predict.Kind(func(model jobs.Arrays) (jobs.Kind, error) {
		name, _, err := model.Kind()
		return kindOf(name), err
	}).New(spec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(records, 7), kernelops.Best(),
		jobstest.Grouping{}, jobstest.WithModel(model))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The records that a split holds out are decided by the others.
func TestDecidesHeldOutRecords(t *testing.T) {
	for _, form := range forms {
		spec := specOf(form.kind, unstoring(form.params))
		spec.Spec.Input.Split.Test = 0.3
		records := jobstest.Deal(someRecords(90, false), 4)
		r, err := tryDecide(t, spec, records, nil, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		spec.Spec.Params = []byte(form.params)
		whole, err := tryDecide(t, spec, records, nil, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := metricsOf(r, "evaluation"), metricsOf(whole, "evaluation"); a != b || a == "" {
			t.Errorf("%s %s: judged\n%s, want\n%s", form.kind, form.params, a, b)
		}
	}
}

// Whatever tasks and blocks: one model, the same files.
func TestDecidingGroupingNeverShows(t *testing.T) {
	for i, form := range forms {
		spec := specOf(form.kind, unstoring(form.params))
		spec.Spec.Queries = &protocol.Input{}
		algorithm, err := kindOf(form.kind).New(spec)
		if err != nil {
			t.Fatal(err)
		}
		records, queries := someRecords(23, i%2 == 1), someRecords(10, i%2 == 1)
		jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(records, 4), kernelops.Best(),
			jobstest.WithQueries(jobstest.Deal(queries, 3)))
	}
}

func TestDecidingKernelSetsAgree(t *testing.T) {
	for _, form := range forms {
		digests := map[string]bool{}
		for _, ops := range kernelops.All() {
			r := decide(t, form.kind, unstoring(form.params), jobstest.Deal(someRecords(300, false), 3),
				jobstest.Deal(someRecords(40, false), 2), ops)
			digests[jobstest.Digest(r.Model)+metricsOf(r, "")+fmt.Sprint(predictionsOf(r))] = true
		}
		if len(digests) != 1 {
			t.Errorf("%s %s: %d results", form.kind, form.params, len(digests))
		}
	}
}

// What is not stored does not grow with the records, predicts nothing and says so.
func TestUnstoredModel(t *testing.T) {
	for _, form := range forms {
		few := decide(t, form.kind, unstoring(form.params), jobstest.Deal(someRecords(60, false), 2),
			jobstest.Deal(someRecords(5, false), 1), kernelops.Best())
		many := decide(t, form.kind, unstoring(form.params), jobstest.Deal(someRecords(600, false), 9),
			jobstest.Deal(someRecords(5, false), 1), kernelops.Best())
		if a, b := few.Model.EncodedSize(), many.Model.EncodedSize(); a != b {
			t.Errorf("%s %s: models of %d and %d bytes", form.kind, form.params, a, b)
		}
		text, err := kindOf(form.kind).Describe(many.Model, jobs.DescribeOptions{})
		if err != nil || !strings.Contains(text, "600 records of width 6, not stored") ||
			!strings.Contains(text, " 200  ") {
			t.Errorf("%s, %v", text, err)
		}
		_, err = kindOf(form.kind).Predict(many.Model, kernelops.Best())
		wantFault(t, err, protocol.CodeSpecInvalid)
	}
}

func wantFault(t testing.TB, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code {
		t.Errorf("%v; want %s", err, code)
	}
}

// What cannot be decided is refused.
func TestDecidingRefuses(t *testing.T) {
	queries := jobstest.Deal(someRecords(20, false), 2)
	for _, form := range forms {
		_, err := kindOf(form.kind).New(specOf(form.kind, unstoring(form.params)))
		wantFault(t, err, protocol.CodeSpecInvalid) // nothing to decide
		spec := specOf(form.kind, unstoring(form.params))
		spec.Spec.Run.MaxStateBytes = 100
		_, err = tryDecide(t, spec, queries, queries, kernelops.Best())
		wantFault(t, err, protocol.CodeStateTooBig)
		light := someRecords(20, false)
		for i := range light {
			light[i].Weight = float32(i % 3)
		}
		_, err = tryDecide(t, specOf(form.kind, unstoring(form.params)), jobstest.Deal(light, 2), queries,
			kernelops.Best())
		wantFault(t, err, protocol.CodeInputEmpty)
	}
	huge := jobstest.DenseRecords([][]float32{{1e30, 0}, {0, 1}}, "a", "b")
	_, err := tryDecide(t, specOf(MeanName, `{"store_base": false, "kernel": "polynomial"}`), [][]jobstest.Record{huge},
		queries, kernelops.Best())
	wantFault(t, err, protocol.CodeBadRecord)
	_, err = tryDecide(t, specOf(MeanName, `{"store_base": false}`),
		[][]jobstest.Record{jobstest.DenseRecords([][]float32{{1e20}, {1}}, "a", "b")},
		[][]jobstest.Record{jobstest.DenseRecords([][]float32{{1e20}})}, kernelops.Best())
	wantFault(t, err, protocol.CodeBadRecord)
}

// Queries without labels are decided and not judged.
func TestDecidesWithoutLabels(t *testing.T) {
	queries := someRecords(12, false)
	for i := range queries {
		queries[i].Label = ""
	}
	rows := make([][]float32, len(queries))
	for i := range rows {
		rows[i] = queries[i].Dense
	}
	for _, form := range forms {
		r := decide(t, form.kind, unstoring(form.params), jobstest.Deal(someRecords(60, false), 3),
			jobstest.Deal(jobstest.DenseRecords(rows), 2), kernelops.Best())
		if n := metricsOf(r, "predict"); n != "predict.records 12\n" || metricsOf(r, "evaluation") != "" {
			t.Errorf("%s %s: %s, judged %s", form.kind, form.params, n, metricsOf(r, "evaluation"))
		}
	}
}
