package predict_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/gaussiannb"
	"github.com/gram-compute/gram/jobs/kinds/kmeans"
	"github.com/gram-compute/gram/jobs/kinds/knn"
	"github.com/gram-compute/gram/jobs/kinds/nearestmean"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// twoMeans is a model whose classes have their means at (0, 0) and (4, 0).
func twoMeans(t *testing.T) jobs.Arrays {
	t.Helper()
	return trained(t, nearestmean.Kind(), "", jobstest.DenseRecords([][]float32{{0, 0}, {4, 0}}, "left", "right"))
}

func ofModel(model jobs.Arrays) (jobs.Kind, error) {
	name, _, err := model.Kind()
	for _, kind := range []jobs.Kind{nearestmean.Kind(), gaussiannb.Kind(), knn.Kind(), kmeans.Kind()} {
		if kind.Name == name {
			return kind, err
		}
	}
	return jobs.Kind{Name: name}, err
}

// trained is the model of a kind from a few records.
func trained(t *testing.T, kind jobs.Kind, params string, records []jobstest.Record) jobs.Arrays {
	t.Helper()
	spec := protocol.JobSpec{Kind: kind.Name}
	spec.Spec.Params = json.RawMessage(params)
	algorithm, err := kind.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 1), 2),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Model
}

func specOf(params string) protocol.JobSpec {
	spec := protocol.JobSpec{Kind: predict.KindName}
	spec.Spec.Model, spec.Spec.Params = "s3://models/m/model.safetensors", json.RawMessage(params)
	return spec
}

var questions = jobstest.DenseRecords([][]float32{{1, 0}, {3, 0}, {2, 0}, {0, 3}, {4, 3}}, "left", "right", "right",
	"left", "left")

func run(t *testing.T, params string, model jobs.Arrays, records []jobstest.Record) (jobstest.Result, error) {
	t.Helper()
	return runSpec(t, specOf(params), model, records)
}

// judged is run with spec.evaluation.
func judged(t *testing.T, params string, model jobs.Arrays, records []jobstest.Record) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(params)
	spec.Spec.Evaluation = &protocol.Evaluation{}
	return runSpec(t, spec.WithDefaults(), model, records)
}

func runSpec(
	t *testing.T, spec protocol.JobSpec, model jobs.Arrays, records []jobstest.Record,
) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := predict.Kind(ofModel).New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 2), 2), kernelops.Best(),
		jobstest.Grouping{}, jobstest.WithModel(model))
}

// joined is the result as `gram get` writes it.
func joined(t *testing.T, files map[string][]byte) (string, parts.Index) {
	t.Helper()
	index, err := parts.ReadIndex(files["predictions/index.json"])
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	j := parts.NewJoiner(index, &out)
	for _, p := range index.Parts {
		if err := j.Add(files[p.Name]); err != nil {
			t.Fatal(err)
		}
	}
	return out.String(), index
}

// (2, 0) is as far from either mean and goes to "left", the first in byte order.
func TestPredictByHand(t *testing.T) {
	result, err := run(t, `{"scores": true}`, twoMeans(t), questions)
	if err != nil {
		t.Fatal(err)
	}
	got, index := joined(t, result.Files)
	const want = "object,offset,label,distance,score:left,score:right\n" +
		"records,0,left,1,1,3\nrecords,1,right,1,3,1\nrecords,2,left,2,2,2\nrecords,3,left,3,3,5\nrecords,4,right,3,5,3\n"
	if got != want || index.Rows != 5 || len(index.Parts) != 2 {
		t.Errorf("%d rows in %d parts:\n%s\nwant\n%s", index.Rows, len(index.Parts), got, want)
	}
	for _, m := range result.Metrics {
		if m.Name == "evaluation" && !strings.Contains(string(m.Value), `"accuracy":0.6,`) {
			t.Errorf("judged %s, want an accuracy of 3/5", m.Value)
		}
	}
	text, err := predict.Describe(result.Model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "5 records in 2 csv objects") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFormats(t *testing.T) {
	for params, want := range map[string]string{
		`{"format": "jsonl"}`: "{\"object\":\"records\",\"offset\":1,\"label\":\"right\",\"distance\":1}\n",
		`{"format": "npy"}`:   "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00",
	} {
		result, err := run(t, params, twoMeans(t), questions)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := joined(t, result.Files); !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", params, got, want)
		}
	}
}

func TestGroupingNeverShows(t *testing.T) {
	spec := specOf(`{}`)
	algorithm, err := predict.Kind(ofModel).New(spec)
	if err != nil {
		t.Fatal(err)
	}
	jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(questions, 4), kernelops.Best(),
		jobstest.WithModel(twoMeans(t)))
}

func TestRefused(t *testing.T) {
	other := jobs.Arrays{}
	other.PutKind("Other", 1)
	for name, c := range map[string]struct {
		params  string
		model   jobs.Arrays
		records []jobstest.Record
	}{
		"another width":      {`{}`, twoMeans(t), jobstest.DenseRecords([][]float32{{1, 2, 3}})},
		"no such format":     {`{"format": "xls"}`, twoMeans(t), questions},
		"does not predict":   {`{}`, other, questions},
		"no model of a kind": {`{}`, jobs.Arrays{}, questions},
	} {
		_, err := run(t, c.params, c.model, c.records)
		var fault *protocol.Fault
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var without protocol.JobSpec
	if _, err := predict.Kind(ofModel).New(without); err == nil {
		t.Error("a spec without a model passed")
	}
}

func metricsOf(t *testing.T, params string, model jobs.Arrays, records []jobstest.Record) map[string]string {
	t.Helper()
	result, err := run(t, params, model, records)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, m := range result.Metrics {
		named[m.Name] = string(m.Value)
	}
	return named
}

// Records with labels are judged under the costs that the model decides by, and those without are left alone.
func TestJudgedByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{1, 0}, {3, 0}, {4, 3}, {0, 1}}, "left", "right", "left", "")
	metrics := metricsOf(t, `{}`, twoMeans(t), records)
	const want = `{"labels":["left","right"],"cells":[[0,0,1],[0,1,1],[1,1,1]]}`
	if metrics["evaluation.confusion"] != want {
		t.Errorf("%s", metrics["evaluation.confusion"])
	}
	if want := `[{"id":{"Object":"records","Offset":2},"truth":"left","decided":"right"}]`; metrics["evaluation.mistakes"] != want {
		t.Errorf("%s", metrics["evaluation.mistakes"])
	}
	figures, err := predict.Kind(nil).Figures(nil,
		[]jobs.Metric{{Name: "evaluation.confusion", Value: json.RawMessage(metrics["evaluation.confusion"])}})
	if err != nil || len(figures) != 1 {
		t.Errorf("%v, %v", figures, err)
	}
}

// A model that decides under costs is judged under them: of two decisions, "a" for "b" costs 9.
func TestJudgedUnderTheCostsOfTheModel(t *testing.T) {
	model := trained(t, gaussiannb.Kind(), `{"costs": {"b": {"a": 9}}}`,
		jobstest.DenseRecords([][]float32{{0}, {1}, {10}, {11}}, "a", "a", "b", "b"))
	metrics := metricsOf(t, `{}`, model, jobstest.DenseRecords([][]float32{{0}, {1}}, "a", "b"))
	if want := `{"records":2,"total":9,"mean":4.5}`; metrics["evaluation.cost"] != want {
		t.Errorf("%s", metrics["evaluation.cost"])
	}
}

// Where a model predicts numbers the labels are numbers, and errors come of them.
func TestRegressionErrors(t *testing.T) {
	model := trained(t, knn.Kind(), `{"mode": "regress", "k": 1, "store_base": true}`,
		jobstest.DenseRecords([][]float32{{0}, {4}}, "1", "3"))
	metrics := metricsOf(t, `{}`, model, jobstest.DenseRecords([][]float32{{1}, {5}, {5}}, "1", "5", ""))
	const want = `{"records":2,"mean_squared_error":2,"mean_absolute_error":1,"r2":0.5}`
	if metrics["evaluation.regression"] != want {
		t.Errorf("%s", metrics["evaluation.regression"])
	}
	_, err := run(t, `{}`, model, jobstest.DenseRecords([][]float32{{1}, {5}}, "1", "five"))
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || *fault != *fault.WithOffset(1) {
		t.Errorf("a label that is no number: %v", err)
	}
}

// The numbers of clusters are no labels, even where they look like them.
func TestClustersAreNotJudged(t *testing.T) {
	model := trained(t, kmeans.Kind(), `{"k": 2}`, jobstest.DenseRecords([][]float32{{0}, {4}}))
	if metrics := metricsOf(t, `{}`, model, jobstest.DenseRecords([][]float32{{1}, {5}}, "0", "1")); len(metrics) != 1 {
		t.Errorf("%v", metrics)
	}
}

// A worker is told that a shard's predictions take memory beside it.
func TestGathers(t *testing.T) {
	algorithm, err := predict.Kind(ofModel).New(specOf(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	phase, ok := algorithm.Phases()[0].(jobs.Gatherer)
	if !ok {
		t.Fatal("the phase keeps nothing")
	}
	records := func(from jobs.Source, shard int) int64 { return int64(1000*int(from) + 100 + shard) }
	if got := phase.Gathers(jobs.Leaf{Index: 7}, records); got != 4*107 {
		t.Errorf("%d bytes, not four times the shard's records", got)
	}
}

// Centers 0.5 and 6, of a soft model too: a record at 7 is 6.5 and 1 away from them.
func TestDistancesToAllCenters(t *testing.T) {
	line := jobstest.DenseRecords([][]float32{{0}, {1}, {5}, {6}, {7}})
	const want = "object,offset,label,distance,distance:0,distance:1\nrecords,0,0,0.5,0.5,6\nrecords,1,1,1,6.5,1\n"
	for _, params := range []string{`{"k": 2}`, `{"k": 2, "algorithm": "soft", "stiffness": 1000}`} {
		model := trained(t, kmeans.Kind(), params, line)
		result, err := run(t, `{"distances": true}`, model, jobstest.DenseRecords([][]float32{{0}, {7}}))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := joined(t, result.Files); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", params, got, want)
		}
	}
	_, err := run(t, `{"distances": true}`, twoMeans(t), questions)
	if err == nil || !strings.Contains(err.Error(), "spec.model is a model of kind NearestMean") {
		t.Errorf("of nearest means: %v", err)
	}
	for _, params := range []string{`{"distances": true, "scores": true}`, `{"distances": true, "reject_below": 1}`} {
		if _, err := predict.Kind(ofModel).Defaults([]byte(params)); err == nil {
			t.Errorf("%s is taken", params)
		}
	}
}

// More records than one part has of distances to 2,048 centers: parts of 256, which are one file when joined.
func TestDistancesInParts(t *testing.T) {
	const k, n = 2048, 600
	var centers, asked [][]float32
	var given []string
	for i := range k {
		centers, given = append(centers, []float32{float32(i)}), append(given, fmt.Sprintf("[%d]", i))
	}
	for i := range n {
		asked = append(asked, []float32{float32(i)})
	}
	model := trained(t, kmeans.Kind(), fmt.Sprintf(`{"init": "given", "centers": [%s]}`, strings.Join(given, ",")),
		jobstest.DenseRecords(centers))
	spec := specOf(`{"distances": true}`)
	algorithm, err := predict.Kind(ofModel).New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec,
		jobstest.Shards(jobstest.Deal(jobstest.DenseRecords(asked), 1), 64), kernelops.Best(), jobstest.Grouping{},
		jobstest.WithModel(model))
	if err != nil {
		t.Fatal(err)
	}
	got, index := joined(t, result.Files)
	lines := strings.Split(got, "\n")
	if len(index.Parts) != 3 || index.Parts[0].Rows != 256 || len(lines) != n+2 ||
		!strings.HasPrefix(lines[n], "records,599,599,0,599,598,") {
		t.Errorf("%d parts, the first of %d rows, %d lines; the last %.60s", len(index.Parts), index.Parts[0].Rows,
			len(lines), lines[n])
	}
}

// spec.evaluation without a column of labels is refused when the job is submitted.
func TestEvaluationNeedsLabels(t *testing.T) {
	spec := specOf(`{}`)
	spec.Spec.Input.Format, spec.Spec.Evaluation = "csv", &protocol.Evaluation{}
	_, err := predict.Kind(nil).New(spec.WithDefaults())
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
		t.Error(err)
	}
	spec.Spec.Input.Label = protocol.Column{Number: 1}
	if _, err := predict.Kind(nil).New(spec.WithDefaults()); err != nil {
		t.Error(err)
	}
}
