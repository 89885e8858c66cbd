package knn

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// 4 ln(100) / (0.5^2/2 - 0.5^3/3) = 18.4207 / 0.0833333 = 221.05; the others are scikit-learn's
// johnson_lindenstrauss_min_dim before it rounds down: 663.1, 11841.9.
func TestDimensions(t *testing.T) {
	for _, c := range []struct {
		m    int64
		eps  float64
		want float64
	}{{100, 0.5, 222}, {1_000_000, 0.5, 664}, {1_000_000, 0.1, 11842}} {
		if got := johnsonLindenstrauss(c.m, c.eps); got != c.want {
			t.Errorf("%d points, eps %v: %v, not %v", c.m, c.eps, got, c.want)
		}
	}
}

// cloud is n points of uniform coordinates.
func cloud(n, width int) [][]float32 {
	rows, key := make([][]float32, n), philox.New(1, "cloud")
	for i := range rows {
		rows[i] = make([]float32, width)
		for j := range rows[i] {
			rows[i][j] = float32(key.Float64(uint64(i), uint64(j)) - 0.5)
		}
	}
	return rows
}

func measured(t *testing.T, r jobstest.Result) (m Measured) {
	t.Helper()
	if err := json.Unmarshal([]byte(metricOf(t, r, "projection.measured")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// The lemma promises that all pairs are within eps, with a probability of at least 1 - 2/m^2 for a pair.
func TestEpsKeepsDistances(t *testing.T) {
	rows := cloud(200, 800)
	r := job{params: `{"k":5,"projection":{"eps":0.4,"sample":1000}}`, base: jobstest.DenseRecords(rows[:150]),
		queries: jobstest.DenseRecords(rows[150:]), shards: 3}.mustRun(t)
	if got := metricOf(t, r, "projection.dims"); got != "362" { // 4 ln(200) / (0.08 - 0.064/3) = 361.2
		t.Errorf("%s dimensions", got)
	}
	m := measured(t, r)
	if m.Queries != 50 || m.Pairs != 50*pairsOfQuery {
		t.Errorf("%d queries and %d pairs measured", m.Queries, m.Pairs)
	}
	if m.Within[0].Eps != 0.4 || m.Within[0].Share != 1 || m.Min < 0.6 || m.Max > 1.4 {
		t.Errorf("%+v", m)
	}
	if m.Within[1].Share == 1 {
		t.Error("distances within 5 %: are they of projected points?")
	}
}

// What is measured is what the lists say: a recall below 1 in few dimensions, and 1 where no dimension is lost
// on points that lie far apart.
func TestRecall(t *testing.T) {
	rows, _ := digits(t)
	j := job{params: `{"k":5,"projection":{"dims":6}}`, base: jobstest.DenseRecords(rows[:400]), shards: 2}
	approximate := j.mustRun(t)
	m := measured(t, approximate)
	if m.Queries != 400 || !(m.Recall > 0.1 && m.Recall < 0.8) {
		t.Errorf("%+v", m)
	}
	j.params = `{"k":5}`
	exact := j.mustRun(t)
	if got := overlap(joined(t, exact, listsFolder), joined(t, approximate,
		listsFolder)) / 2000; math.Abs(got-m.Recall) > 1e-12 {
		t.Errorf("recall %v, and %v by the lists themselves", m.Recall, got)
	}
}

// overlap counts the pairs of query and neighbor in both files.
func overlap(a, b string) float64 {
	pairs, n := map[string]bool{}, 0.0
	pairOf := func(line string) string {
		cells := strings.Split(line, ",")
		return cells[0] + "," + cells[2]
	}
	for line := range strings.Lines(a) {
		pairs[pairOf(line)] = true
	}
	for line := range strings.Lines(b) {
		if pairs[pairOf(line)] {
			n++
		}
	}
	return n
}

// Shards, blocks, kernels, dense or sparse: the same lists and measures.
func TestProjectionDependsOnTheRecordsAlone(t *testing.T) {
	rows := cloud(90, 1100)
	for i := range rows {
		for j := range rows[i] {
			if (i+j)%3 > 0 {
				rows[i][j] = 0
			}
		}
	}
	j := job{params: `{"k":4,"projection":{"dims":30,"sample":40}}`, base: jobstest.DenseRecords(rows[:70]),
		queries: jobstest.DenseRecords(rows[70:])}
	first := j.mustRun(t)
	wantLists, wantMeasures := joined(t, first, listsFolder), metricOf(t, first, "projection.measured")
	for i, ops := range kernelops.All() {
		j.ops, j.shards, j.block = ops, 2+i, 7+i
		for _, sparse := range []bool{false, true} {
			if sparse {
				j.base, j.queries = jobstest.SparseRecords(1100, rows[:70]), jobstest.SparseRecords(1100, rows[70:])
			}
			got := j.mustRun(t)
			sameLists(t, ops.Name, joined(t, got, listsFolder), wantLists)
			if m := metricOf(t, got, "projection.measured"); m != wantMeasures {
				t.Errorf("%s, sparse %v: %s, not %s", ops.Name, sparse, m, wantMeasures)
			}
		}
	}
}

func TestProjectionThatGainsNothing(t *testing.T) {
	_, err := job{params: `{"projection":{"eps":0.5}}`, base: line()}.run(t)
	wantFault(t, err, protocol.CodeSpecInvalid, "which have 1")
}
