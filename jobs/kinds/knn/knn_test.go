package knn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// job is a job in memory.
type job struct {
	params  string
	test    float64
	base    []jobstest.Record
	queries []jobstest.Record
	shards  int // of the base; of the queries one more
	block   int
	files   bool // each shard of the base is a file of its own
	ops     *kernelops.Set
	state   protocol.ByteSize
	seed    uint64 // 7 where it is 0
	grain   grain  // where it is zero, that of a leaf for each shard of the base
}

func (j job) spec() protocol.JobSpec {
	spec := protocol.JobSpec{Kind: KindName}
	spec.Spec.Params, spec.Spec.Repro.Seed = json.RawMessage(j.params), cmp.Or(j.seed, 7)
	spec.Spec.Input.Split.Test, spec.Spec.Run.MaxStateBytes = j.test, j.state
	if len(j.base) > 0 && j.base[0].ID != "" {
		spec.Spec.Input.ID = protocol.Column{Number: 1}
	}
	if j.queries != nil {
		spec.Spec.Queries = &protocol.Input{}
		if len(j.queries) > 0 && j.queries[0].ID != "" {
			spec.Spec.Queries.ID = protocol.Column{Number: 1}
		}
	}
	return spec
}

func (j job) run(t rapid.TB) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := j.algorithm()
	if err != nil {
		return jobstest.Result{}, err
	}
	ops, shards, block := j.ops, max(j.shards, 1), j.block
	if ops == nil {
		ops = kernelops.Best()
	}
	if block == 0 {
		block = 100
	}
	var opts []jobstest.Option
	if j.queries != nil {
		opts = append(opts, jobstest.WithQueries(jobstest.Deal(j.queries, shards+1)))
	}
	cut := jobstest.Shards
	if j.files {
		cut = jobstest.Files
	}
	return jobstest.Run(context.Background(), algorithm, j.spec(), cut(jobstest.Deal(j.base, shards), block), ops,
		jobstest.Grouping{}, opts...)
}

func (j job) mustRun(t rapid.TB) jobstest.Result {
	t.Helper()
	result, err := j.run(t)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// joined is a folder's parts as one file, without the headers.
func joined(t rapid.TB, r jobstest.Result, folder string) string {
	t.Helper()
	var index struct {
		Rows  int `json:"rows"`
		Parts []struct{ Name string }
	}
	if err := json.Unmarshal(r.Files[folder+"/index.json"], &index); err != nil {
		t.Fatalf("%s: %v; files %d", folder, err, len(r.Files))
	}
	var text strings.Builder
	for _, part := range index.Parts {
		_, rows, _ := strings.Cut(string(r.Files[part.Name]), "\n")
		text.WriteString(rows)
	}
	if n := strings.Count(text.String(), "\n"); n != index.Rows {
		t.Fatalf("%s: %d rows, not %d", folder, n, index.Rows)
	}
	return text.String()
}

func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	if lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n"); !slices.Equal(lines, want) {
		t.Errorf("got\n%swant\n%s", got, strings.Join(want, "\n"))
	}
}

func wantFault(t *testing.T, err error, code protocol.Code, what string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code || !strings.Contains(err.Error(), what) {
		t.Errorf("want %s with %q, got %v", code, what, err)
	}
}

func metricOf(t rapid.TB, r jobstest.Result, name string) string {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name {
			return string(m.Value)
		}
	}
	t.Fatalf("no metric %q", name)
	return ""
}

// line is five points on a line; 1 and 2 are the same point.
func line() []jobstest.Record {
	return jobstest.DenseRecords([][]float32{{0}, {3}, {3}, {4}, {10}}, "a", "b", "a", "a", "b")
}

func at(values ...float32) []jobstest.Record {
	rows := make([][]float32, len(values))
	for i, v := range values {
		rows[i] = []float32{v}
	}
	return jobstest.DenseRecords(rows)
}

func TestSearchByHand(t *testing.T) {
	r := job{params: `{"k":3}`, base: line(), queries: at(3, 9), shards: 2}.mustRun(t)
	wantLines(t, joined(t, r, listsFolder),
		"0,0,1,0", "0,1,2,0", "0,2,3,1", // of the duplicates the first in the input comes first
		"1,0,4,1", "1,1,3,5", "1,2,1,6")
	if got := metricOf(t, r, "neighbors.queries"); got != "2" {
		t.Error(got)
	}
}

func TestLeaveOneOutByHand(t *testing.T) {
	r := job{params: `{"k":1}`, base: line(), shards: 3}.mustRun(t)
	wantLines(t, joined(t, r, listsFolder), "0,0,1,3", "1,0,2,0", "2,0,1,0", "3,0,1,1", "4,0,3,6")
}

func TestMoreNeighborsThanRecords(t *testing.T) {
	r := job{params: `{"k":100}`, base: line(), queries: at(0), shards: 7}.mustRun(t) // shards without records
	wantLines(t, joined(t, r, listsFolder), "0,0,0,0", "0,1,1,3", "0,2,2,3", "0,3,3,4", "0,4,4,10")
	r = job{params: `{"k":1}`, base: line()[:1]}.mustRun(t)
	if got := joined(t, r, listsFolder); got != "" {
		t.Errorf("the only record has a neighbor: %s", got)
	}
}

func TestRadiusByHand(t *testing.T) {
	j := job{params: `{"radius":1}`, base: line(), queries: at(3, 20), shards: 2}
	wantLines(t, joined(t, j.mustRun(t), listsFolder), "0,0,1,0", "0,1,2,0", "0,2,3,1")
	j.params = `{"radius":1,"counts":true}`
	wantLines(t, joined(t, j.mustRun(t), countsFolder), "0,3", "1,0")
	for shards := 1; shards < 4; shards++ {
		j.params, j.shards = `{"radius":1,"max_neighbors":2}`, shards
		_, err := j.run(t)
		wantFault(t, err, protocol.CodeInputLimit, "more than 2 neighbors within 1")
	}
}

func TestClassifyByHand(t *testing.T) {
	j := job{base: line(), queries: at(3, 9), shards: 2}
	for params, want := range map[string][]string{
		`{"mode":"classify","k":3}`: {"0,a,0.6666666666666666",
			"1,b,0.6666666666666666"},
		// ties: the first label
		`{"mode":"classify","k":2}`:                      {"0,a,0.5", "1,a,0.5"},
		`{"mode":"classify","k":2,"ties":"nearest"}`:     {"0,b,0.5", "1,b,0.5"},
		`{"mode":"classify","k":3,"weights":"distance"}`: {"0,a,0.5", "1,b,0.8536585365853658"},
		`{"mode":"classify","k":3,"reject_below":0.6}`: {"0,a,0.6666666666666666",
			"1,b,0.6666666666666666"},
		`{"mode":"classify","k":2,"reject_below":0.6}`: {"0,,0.5", "1,,0.5"},
		// without neighbors refused
		`{"mode":"classify","radius":0.5}`:                                      {"0,a,0.5", "1,,0"},
		`{"mode":"classify","k":1,"lists":"csv","features":{"scale":"minmax"}}`: {"0,b,1", "1,b,1"},
	} {
		j.params = params
		if got := joined(t, j.mustRun(t), predictionsFolder); got != strings.Join(want, "\n")+"\n" {
			t.Errorf("%s: got\n%s", params, got)
		}
	}
}

func TestEvaluation(t *testing.T) {
	queries := jobstest.DenseRecords([][]float32{{3}, {9}, {0}}, "b", "b", "zebra")
	r := job{params: `{"mode":"classify","k":1}`, base: line(), queries: queries}.mustRun(t)
	const matrix = `{"labels":["a","b","zebra"],"cells":[[1,1,2],[2,0,1]]}`
	if got := metricOf(t, r, "evaluation.confusion"); got != matrix {
		t.Error(got)
	}
}

func TestRegressByHand(t *testing.T) {
	base := jobstest.DenseRecords([][]float32{{0}, {2}, {5}}, "1", "3", "-2.5")
	queries := jobstest.DenseRecords([][]float32{{0}, {3}}, "1", "1")
	j := job{params: `{"mode":"regress","k":2}`, base: base, queries: queries, shards: 2}
	r := j.mustRun(t)
	wantLines(t, joined(t, r, predictionsFolder), "0,2", "1,0.25")
	if got := metricOf(t, r, "evaluation.regression"); got != `{"records":2,"mean_squared_error":0.78125,"mean_absolute_error":0.875,"r2":0}` {
		t.Error(got)
	}
	j.params = `{"mode":"regress","k":2,"weights":"distance"}` // 1 alone; (3/1 - 2.5/2) / (1 + 1/2)
	wantLines(t, joined(t, j.mustRun(t), predictionsFolder), "0,1", "1,1.1666666666666667")
	j.base = jobstest.DenseRecords([][]float32{{0}, {2}, {5}}, "1", "three", "2")
	_, err := j.run(t)
	wantFault(t, err, protocol.CodeBadRecord, `"three" is not a finite number`)
	var fault *protocol.Fault
	if errors.As(err, &fault) && (fault.Object != "records" || *fault != *fault.WithOffset(1)) {
		t.Errorf("another position: %v", fault)
	}
}

// With held-out records these are the queries, and no neighbor is one of them.
func TestSplit(t *testing.T) {
	rows := make([][]float32, 200)
	for i := range rows {
		rows[i] = []float32{float32(i)}
	}
	r := job{params: `{"k":2}`, test: 0.3, base: jobstest.DenseRecords(rows), shards: 3}.mustRun(t)
	queries, neighbors := map[string]bool{}, map[string]bool{}
	for row := range strings.Lines(joined(t, r, listsFolder)) {
		cells := strings.Split(row, ",")
		queries[cells[0]], neighbors[cells[2]] = true, true
	}
	for q := range queries {
		if neighbors[q] {
			t.Errorf("record %s is a query and a neighbor", q)
		}
	}
	if n := len(queries); n < 40 || n > 80 {
		t.Errorf("%d queries of 200 at a share of 0.3", n)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		job  job
		code protocol.Code
		what string
	}{
		{job{base: line(), queries: jobstest.DenseRecords([][]float32{{1, 2}})}, protocol.CodeBadRecord,
			"width 2, not dense vectors of width 1"},
		{job{base: jobstest.SparseRecords(1<<23, [][]float32{{1}})}, protocol.CodeInputLimit, "width 8388608"},
		{job{base: nil, queries: at(1)}, protocol.CodeInputEmpty, "no training record"},
		{job{params: `{"metric":"edit"}`, base: line()}, protocol.CodeBadRecord, "not texts"},
		{job{params: `{"metric":"hamming"}`, base: line()}, protocol.CodeBadRecord, "value 1 of the vector is 3"},
		{job{params: `{"mode":"classify"}`, base: at(1, 2)}, protocol.CodeInputEmpty, "have none"},
		{job{params: `{"mode":"regress"}`, base: at(1, 2)}, protocol.CodeBadRecord, "no label"},
		{job{params: `{"mode":"classify","metric":"edit"}`, base: []jobstest.Record{{Text: "a"}}}, "", ""},
		{job{base: line(), queries: at(float32(math.NaN()))}, protocol.CodeBadRecord, "value 1"},
		{job{params: `{"store_base":true}`, base: line(), shards: 2, state: 700}, protocol.CodeStateTooBig,
			"max_state_bytes is 700"},
		{job{params: `{"leave_one_out":false}`, base: line()}, protocol.CodeSpecInvalid, "nothing to search for"},
	} {
		_, err := c.job.run(t)
		if c.code == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantFault(t, err, c.code, c.what)
	}
}

func TestParams(t *testing.T) {
	for params, what := range map[string]string{
		`{"k":0}`:            "k is from 1",
		`{"k":3,"radius":1}`: "exclude each other",
		`{"radius":-1}`:      "radius is at least 0",
		`{"metric":"l3"}`:    "metric is one of",
		`{"mode":"guess"}`:   "mode is one of",
		`{"counts":true}`:    "counts needs a radius",
		`{"lists":"none"}`:   "leaves nothing",
		`{"weights":"distance","metric":"inner_product"}`: "weights by distance",
		`{"reject_below":0.5}`:                            "reject_below is for",
		`{"metric":"edit","features":{"scale":"l2"}}`:     "compares texts",
		`{"metric":"hamming","features":{"scale":"l2"}}`:  "features of 0 and 1",
		`{"metric":"l1","projection":{"eps":0.5}}`:        "metric l2",
		`{"projection":{}}`:                               "one of eps and dims",
		`{"projection":{"eps":1}}`:                        "eps is in (0, 1)",
		`{"projection":{"dims":-1}}`:                      "dims is from 1",
		`{"projection":{"dims":3,"smaple":1}}`:            `"sample"`,
		`{"neigbors":3}`:                                  "neigbors",
		`{"features":{"scale":"log"}}`:                    "scale is one of",
	} {
		_, err := Kind().Defaults(json.RawMessage(params))
		wantFault(t, err, protocol.CodeSpecInvalid, what)
	}
	once, err := Kind().Defaults(json.RawMessage(`{"projection":{"dims":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := Kind().Defaults(once); err != nil || string(twice) != string(once) {
		t.Errorf("%s, then %s, %v", once, twice, err)
	}
}

// reference is the text's algorithm: the distance to every record, sorted.
func reference(of metric, r rule, queries, base [][]float32, own bool) string {
	var out strings.Builder
	for q, x := range queries {
		var all []neighbor
		for i, y := range base {
			if !own || i != q {
				all = append(all, neighbor{key: plain(of, x, y), id: int64(i)})
			}
		}
		slices.SortFunc(all, func(a, b neighbor) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
		})
		for rank, n := range all {
			if r.k > 0 && rank == r.k || r.k == 0 && of.distance(n.key) > r.radius {
				break
			}
			fmt.Fprintf(&out, "%d,%d,%d,%s\n", q, rank, n.id, strconv.FormatFloat(of.distance(n.key), 'g', -1, 64))
		}
	}
	return out.String()
}

// plain is the definition of a distance in the documentation, written anew.
func plain(of metric, x, y []float32) float64 {
	var sum, xx, yy [8]float64
	most, differ := 0.0, 0.0
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		d := a - b
		switch of {
		case l2:
			sum[i%8] += float64(d * d)
		case l1:
			sum[i%8] += math.Abs(d)
		default:
			sum[i%8] += float64(a * b)
		}
		xx[i%8] += float64(a * a)
		yy[i%8] += float64(b * b)
		most = math.Max(most, math.Abs(d))
		if d != 0 {
			differ++
		}
	}
	tree := func(v [8]float64) float64 {
		for h := 4; h > 0; h /= 2 {
			for j := range h {
				v[j] += v[j+h]
			}
		}
		return v[0]
	}
	switch of {
	case innerProduct:
		return 0 - tree(sum)
	case cosine:
		norm := math.Sqrt(tree(xx)) * math.Sqrt(tree(yy))
		if norm == 0 {
			return 1
		}
		return 1 - math.Max(-1, math.Min(1, tree(sum)/norm))
	case linf:
		return most
	case hamming:
		return differ
	}
	return tree(sum)
}
