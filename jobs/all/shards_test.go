package all

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// shardCase says of a kind, over a form of records, whether another shard_bytes gives the same model.
// docs/numerics.md, "Shards and the model", says why.
type shardCase struct {
	kind, params string
	records      []jobstest.Record
	format       string
	same         bool
}

func (c shardCase) String() string {
	return fmt.Sprintf("%s of %s with %s", c.kind, c.format, c.params)
}

// shardCases are over numbers whose sums round: float64 sums in another order are other sums.
func shardCases() []shardCase {
	const n, width = 42, 5
	random := rand.New(rand.NewPCG(3, 4))
	rows, labels := make([][]float32, n), make([]string, n)
	texts := make([]jobstest.Record, n)
	for i := range rows {
		labels[i] = []string{"a", "b", "c"}[i%3]
		for range width {
			rows[i] = append(rows[i], float32(math.Ldexp(random.NormFloat64(), random.IntN(60)-30)))
		}
		texts[i] = jobstest.Record{Label: labels[i], Text: fmt.Sprintf("word%d word%d", i%7, i%3)}
	}
	dense, sparse := jobstest.DenseRecords(rows, labels...), jobstest.SparseRecords(width, rows, labels...)
	return []shardCase{
		{"GaussianNaiveBayes", `{}`, dense, "csv", false},
		{"KMeans", `{"k":3}`, dense, "csv", false},
		{"KMeans", `{"k":3}`, sparse, "libsvm", false},
		{"KernelDensityBayes", `{}`, dense, "csv", false},
		{"KernelDensityBayes", `{}`, sparse, "libsvm", true},
		{"KernelDensityBayes", `{"features":{"scale":"standard"}}`, sparse, "libsvm", false},
		{"KernelNearestMean", `{}`, dense, "csv", false},
		{"KernelNearestMean", `{}`, sparse, "libsvm", false},
		{"KernelDensityBayes", `{"store_base":false}`, sparse, "libsvm", true},
		{"KernelDensityBayes", `{"store_base":false,"bandwidth":1}`, sparse, "libsvm", true},
		{"KernelNearestMean", `{"store_base":false}`, sparse, "libsvm", false},
		{"KernelMatrix", `{"kernel":"rbf","gamma":1}`, dense, "csv", false},
		{"KernelMatrix", `{"kernel":"rbf","gamma":1}`, sparse, "libsvm", false},
		{"KernelPerceptron", `{"shuffle":true}`, sparse, "libsvm", false},
		{"KernelPerceptron", `{"shuffle":false}`, dense, "csv", false},
		{"KernelPerceptron", `{"shuffle":false}`, sparse, "libsvm", true},
		{"NaiveBayes", `{}`, texts, "tsv", true},
		{"NearestMean", `{}`, dense, "csv", false},
		{"NearestMean", `{}`, sparse, "libsvm", false},
		{"NearestNeighbors", `{"store_base":true}`, dense, "csv", false},
		{"NearestNeighbors", `{"store_base":true}`, sparse, "libsvm", true},
		{"NearestNeighbors", `{"store_base":true,"features":{"scale":"standard"}}`, sparse, "libsvm", false},
		{"NearestNeighbors", `{"store_base":true,"metric":"edit"}`, texts, "tsv", true},
		{"Perceptron", `{}`, sparse, "libsvm", false},
		{"Perceptron", `{"shuffle":false}`, dense, "csv", false},
		{"Perceptron", `{"shuffle":false}`, sparse, "libsvm", true},
		{"Perceptron", `{"shuffle":false}`, texts, "tsv", true},
		{"Perceptron", `{"shuffle":false,"features":{"hashing":{"bits":4,"signed":true}}}`, texts, "tsv", true},
		{"KernelDensityBayes", `{"features":{"hashing":{"bits":4,"signed":false},"scale":"l2"}}`, texts, "tsv", true},
		{"Perceptron", `{"shuffle":false,"over":"mixed"}`, sparse, "libsvm", false},
	}
}

// Every kind that trains is in the table, and does as it says there.
func TestShardsAndTheModel(t *testing.T) {
	cases := shardCases()
	for _, kind := range Kinds() {
		if kind.Name != "Predict" && !slices.ContainsFunc(cases, func(c shardCase) bool {
			return c.kind == kind.Name
		}) {
			t.Errorf("the table does not say whether another shard_bytes gives another %s model", kind.Name)
		}
	}
	for _, c := range cases {
		digests := map[string]bool{}
		for _, n := range []int{1, 3, 42} {
			digests[jobstest.Digest(c.train(t, n))] = true
		}
		if same := len(digests) == 1; same != c.same {
			t.Errorf("%v: %d different models by other shards", c, len(digests))
		}
	}
}

// train is the model of the records in n shards.
func (c shardCase) train(t *testing.T, n int) jobs.Arrays {
	t.Helper()
	format := map[string]string{
		"csv": `"format":"csv","label":1`, "tsv": `"format":"tsv","label":1,"text":2`,
		"libsvm": `"format":"libsvm","width":5,"index_base":1`,
	}[c.format]
	var queries string
	var options []jobstest.Option
	if strings.Contains(c.params, `"store_base":false`) { // which decides queries
		queries = fmt.Sprintf(`"queries":{"uri":"file:///queries/",%s},`, format)
		options = append(options, jobstest.WithQueries([][]jobstest.Record{c.records}))
	}
	spec, err := protocol.ParseSpec(fmt.Appendf(nil,
		`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{"uri":"file:///in/",%s},%s
		"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, c.kind, format, queries, c.params))
	if err == nil {
		spec, err = Validate(spec)
	}
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	kind, err := Lookup(spec.Kind)
	if err != nil {
		t.Fatal(err)
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	trained, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(c.records, n), 8),
		kernelops.Best(), jobstest.Grouping{}, options...)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return trained.Model
}
