package clustertest_test

import (
	"bufio"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var memoryBudget = flag.String("memory", "",
	"`budget` of the worker in TestMemory, which takes minutes; 128MiB is the least")

// memoryCase is a job over a data set that does not fit into memory.
type memoryCase struct {
	name string
	kind string
	// input, and queries where there are any, give the fields of the spec's data set.
	input, queries func(t *testing.T, d *bigData) string
	model          string // name of an earlier case
	params         string
	fault          string // code of the fault of a kind whose model would be the data set
}

var (
	points = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"npy"`, d.uri(t, "points.npy", npy(64)))
	}
	wide = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"npy"`, d.uri(t, "wide.npy", npy(8192)))
	}
	// fewer are five quarters of the budget: more than fits, at a third of the time.
	fewer = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"npy"`,
			d.uri(t, "fewer.npy", func(w *bufio.Writer, bytes int64) error { return npy(8192)(w, bytes*5/16) }))
	}
	// widest has few rows for its size, for what goes by pairs of them.
	widest = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"npy"`, d.uri(t, "widest.npy", npy(32768)))
	}
	table = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"csv","label":1,"split":{"test":0.1}`, d.uri(t, "table.csv", csvRows))
	}
	// rows are those of table, all to train on, and few are some 200 of them.
	rows = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"csv","label":1`, d.uri(t, "table.csv", csvRows))
	}
	few = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"csv","label":1`,
			d.uri(t, "few.csv", func(w *bufio.Writer, _ int64) error { return csvRows(w, 16<<10) }))
	}
	sparse = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"libsvm","width":%d,"index_base":1`, d.uri(t, "sparse.svm", libsvmRows),
			libsvmColumns)
	}
	documents = func(t *testing.T, d *bigData) string {
		return fmt.Sprintf(`"uri":%q,"format":"tsv","label":1,"text":3,"split":{"test":0.1}`,
			d.uri(t, "documents.tsv", corpus(glosses(t, 1))))
	}
)

var memoryCases = []memoryCase{
	{name: "kmeans", kind: "KMeans", input: points,
		params: `{"k":16,"max_rounds":3,"init":"random","assignments":true}`},
	{name: "kmeans-scaled", kind: "KMeans", input: table,
		params: `{"k":3,"max_rounds":3,"scale":"standard","silhouette_sample":500}`},
	{name: "kmeans-sparse", kind: "KMeans", input: sparse,
		params: `{"k":4,"max_rounds":2,"metric":"cosine","init":"random"}`},
	{name: "nearest-mean", kind: "NearestMean", input: table, params: `{}`},
	{name: "nearest-mean-sparse", kind: "NearestMean", input: sparse, params: `{}`},
	{name: "gaussian", kind: "GaussianNaiveBayes", input: table, params: `{}`},
	{name: "naive-bayes", kind: "NaiveBayes", input: documents, params: `{}`},
	{name: "neighbors", kind: "NearestNeighbors", input: wide, queries: fewer, params: `{"k":3}`},
	{name: "neighbors-stored", kind: "NearestNeighbors", input: points,
		params: `{"store_base":true,"leave_one_out":false}`, fault: "STATE_TOO_BIG"},
	{name: "perceptron", kind: "Perceptron", input: table, params: `{"epochs":1}`},
	{name: "perceptron-sparse", kind: "Perceptron", input: sparse, params: `{"epochs":1,"form":"voted"}`},
	{name: "perceptron-mixed", kind: "Perceptron", input: sparse, params: `{"epochs":2,"over":"mixed"}`},
	{name: "perceptron-texts", kind: "Perceptron", input: documents,
		params: `{"epochs":1,"over":"mixed","features":{"text":{"max_features":5000}}}`},
	{name: "kernel-perceptron", kind: "KernelPerceptron", input: table,
		params: `{"kernel":"rbf","gamma":0.01,"form":"plain","budget":200,"epochs":1}`},
	{name: "kernel-matrix", kind: "KernelMatrix", input: widest, params: `{"kernel":"polynomial","degree":2}`},
	{name: "kernel-mean", kind: "KernelNearestMean", input: few, queries: rows, params: `{"store_base":false}`},
	{name: "kernel-density", kind: "KernelDensityBayes", input: few, queries: rows, params: `{"store_base":false}`},
	{name: "kernel-mean-beyond", kind: "KernelNearestMean", input: rows, queries: few, params: `{"store_base":false}`,
		fault: "STATE_TOO_BIG"},
	{name: "kernel-mean-stored", kind: "KernelNearestMean", input: rows, params: `{}`, fault: "STATE_TOO_BIG"},
	{name: "predict-kmeans", kind: "Predict", input: points, model: "kmeans", params: `{"scores":true}`},
	{name: "predict-gaussian", kind: "Predict", input: table, model: "gaussian",
		params: `{"scores":true,"format":"jsonl"}`},
	{name: "predict-naive-bayes", kind: "Predict", input: documents, model: "naive-bayes", params: `{}`},
	{name: "predict-perceptron", kind: "Predict", input: sparse, model: "perceptron-mixed", params: `{"scores":true}`},
	{name: "predict-kernel-perceptron", kind: "Predict", input: table, model: "kernel-perceptron",
		params: `{"format":"npy"}`},
}

// A data set of four times a worker's memory passes every kind of job, or is refused where the model would be
// the data set itself, and the worker never has more than its budget and a tenth resident. Shards are as large as a
// default, or as a person who plans for so little memory would have them: an eighth of the budget.
func TestMemory(t *testing.T) {
	if *memoryBudget == "" {
		t.Skip("takes minutes; make memory runs it")
	}
	budget, err := protocol.ParseByteSize(*memoryBudget)
	if err != nil {
		t.Fatal(err)
	}
	data := &bigData{dir: t.TempDir(), bytes: 4 * int64(budget), made: map[string]string{}}
	store := t.TempDir()
	cluster := clustertest.StartCluster(t, "file://"+store, 10*time.Second)
	for _, c := range memoryCases {
		t.Run(c.name, func(t *testing.T) {
			spec := c.spec(t, data, store, int64(budget)/8)
			worker := cluster.Work(t, kernelops.Best().Name, 2, "--memory", *memoryBudget)
			began := time.Now()
			cluster.Submit(t, c.name, spec)
			job := cluster.Wait(t, c.name, 20*time.Minute)
			if code := job.GetFailure().GetCode(); code != c.fault || c.fault == "" &&
				job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
				t.Errorf("%v: %v", job.GetState(), job.GetFailure())
			}
			if worker.Ended() {
				t.Fatalf("the worker ended:\n%s", worker.Output())
			}
			peak := worker.PeakMemory(t)
			t.Logf("%-24s %4d MiB of %d MiB, %.1f s", c.name, peak>>20, budget>>20, time.Since(began).Seconds())
			if peak > int64(budget)+int64(budget)/10 {
				t.Errorf("the worker had %d bytes resident; its budget is %d", peak, budget)
			}
			cluster.StopWorkers(t)
		})
	}
}

func (c memoryCase) spec(t *testing.T, d *bigData, store string, shard int64) string {
	t.Helper()
	var more strings.Builder
	if c.queries != nil {
		fmt.Fprintf(&more, `"queries":{%s,"shard_bytes":%d},`, c.queries(t, d), shard)
	}
	if c.model != "" {
		fmt.Fprintf(&more, `"model":%q,`, "file://"+filepath.Join(store, "models", c.model, "model.safetensors"))
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{%s,"shard_bytes":%d},%s"output":{},"params":%s,"repro":{"seed":7},"run":{"max_state_bytes":%d}}}`,
		c.kind, c.input(t, d), shard, more.String(), c.params, shard)
}
