package knn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/protocol"
)

// Of four queries one has a nearest neighbor of the other of two classes, whatever k: R is 1/4, and R* at least
// (1 - sqrt(1/2))/2.
func TestBayesRiskByHand(t *testing.T) {
	queries := jobstest.DenseRecords([][]float32{{3}, {9}, {0}, {4}}, "b", "b", "a", "b")
	var got BayesRisk
	for _, k := range []int{1, 5} {
		j := job{params: fmt.Sprintf(`{"mode":"classify","k":%d}`, k), base: line(), queries: queries, shards: 2}
		r := j.mustRun(t)
		if err := json.Unmarshal([]byte(metricOf(t, r, bayesMetric)), &got); err != nil {
			t.Fatal(err)
		}
		near := func(v, want float64) bool { return math.Abs(v-want) < 5e-5 }
		if got.Queries != 4 || got.Errors != 1 || got.Classes != 2 || got.Rate != 0.25 || got.Most != 0.25 ||
			!near(got.Least, 0.14645) || !near(got.RateLow, 0.0456) || !near(got.RateHigh, 0.6994) {
			t.Errorf("k = %d: %+v", k, got)
		}
	}
	value, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	figures, err := Kind().Figures(nil, []jobs.Metric{{Name: bayesMetric, Value: value}})
	if err != nil || len(figures) != 1 {
		t.Fatalf("%v, %v", figures, err)
	}
	if f := figures[0]; !slices.Equal(f.Table.Rows[0], []string{"25.00 %", "14.64 %", "25.00 %"}) ||
		!strings.Contains(f.Caption, "4 queries with labels 1 ") || !strings.Contains(f.Caption, "base is finite") {
		t.Errorf("%+v %+v", f, f.Table)
	}
	if _, err := Kind().Figures(nil, []jobs.Metric{{Name: bayesMetric, Value: json.RawMessage(`[]`)}}); err == nil {
		t.Error("a list was drawn")
	}
}

// The bounds keep the inequality of Cover and Hart, and beyond the error of guessing they stay at it.
func TestBayesRiskBounds(t *testing.T) {
	for classes := 2; classes < 12; classes++ {
		for errors := range int64(101) {
			r := nearest{100, errors}.risk(classes)
			chance := float64(classes-1) / float64(classes)
			if !(r.Least >= 0 && r.Least <= min(r.Most, chance) && r.RateLow <= r.Rate && r.Rate <= r.RateHigh) {
				t.Errorf("%+v", r)
			}
			if back := r.Least * (2 - r.Least/chance); r.Rate <= chance && math.Abs(back-r.Rate) > 1e-14 {
				t.Errorf("%+v: the bound of the bound is %v", r, back)
			}
		}
	}
}

// Jobs that do not tell the nearest neighbor of each query, or have one class, have no estimate.
func TestNoBayesRisk(t *testing.T) {
	labeled := jobstest.DenseRecords([][]float32{{3}}, "b")
	alike := jobstest.DenseRecords([][]float32{{3}, {4}}, "b", "b")
	for name, j := range map[string]job{
		"by radius":     {params: `{"mode":"classify","radius":1}`, base: line(), queries: labeled},
		"by similarity": {params: `{"mode":"classify","metric":"inner_product"}`, base: line(), queries: labeled},
		"no labels":     {params: `{"mode":"classify"}`, base: line(), queries: at(3)},
		"one class":     {params: `{"mode":"classify"}`, base: alike, queries: labeled},
	} {
		for _, m := range j.mustRun(t).Metrics {
			if m.Name == bayesMetric {
				t.Errorf("%s: %s", name, m.Value)
			}
		}
	}
}

// array joins the parts of an array.
func array[T int64 | float32](t *testing.T, r jobstest.Result, folder string, header string) []T {
	t.Helper()
	index, err := parts.ReadIndex(r.Files[folder+"/index.json"])
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	joiner := parts.NewJoiner(index, &out)
	for _, part := range index.Parts {
		if err := joiner.Add(r.Files[part.Name]); err != nil {
			t.Fatal(err)
		}
	}
	elements, ok := strings.CutPrefix(out.String(), header)
	if !ok {
		t.Fatalf("%s begins with %q", folder, out.String()[:min(out.Len(), 128)])
	}
	values := make([]T, len(elements)/binary.Size(*new(T)))
	if _, err := binary.Decode([]byte(elements), binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return values
}

// Three queries in two shards, of which one has two neighbors; with ids an array has the numbers of the records.
func TestArraysByHand(t *testing.T) {
	base := func() []jobstest.Record { return jobstest.DenseRecords([][]float32{{1}, {-1}}) }
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		base []jobstest.Record
		want []int64
	}{
		"by numbers": {base(), []int64{0, 1, -1, 0, 1, -1, 1, 0, -1}},
		"by ids":     {named(base(), "b", "a"), []int64{1, 0, -1, 0, 1, -1, 1, 0, -1}},
	} {
		r := job{params: `{"k":3,"lists":"npy"}`, base: c.base, queries: at(0, 2, -3), shards: 2}.mustRun(t)
		ids := array[int64](t, r, indicesFolder, string(parts.NPYHeader("<i8", 3, 3)))
		distances := array[float32](t, r, distancesFolder, string(parts.NPYHeader("<f4", 3, 3)))
		if !slices.Equal(ids, c.want) || !slices.Equal(distances, []float32{1, 1, inf, 1, 3, inf, 2, 4, inf}) {
			t.Errorf("%s: %v, %v", name, ids, distances)
		}
	}
	_, err := job{params: `{"k":1,"lists":"npy"}`, base: at(3e38), queries: at(-3e38)}.run(t)
	wantFault(t, err, protocol.CodeInputLimit, "float32") // +Inf is what stands for no neighbor
	r := job{params: `{"radius":3,"lists":"npy"}`, base: base(), queries: at(0)}.mustRun(t)
	if _, ok := r.Files[indicesFolder+"/index.json"]; ok {
		t.Error("lists by radius have no width, and are in an array")
	}
}
