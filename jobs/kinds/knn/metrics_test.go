package knn

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func TestMinkowskiByHand(t *testing.T) {
	base := jobstest.DenseRecords([][]float32{{3, 4}, {0, 0}, {-5, 0}, {0, 1}})
	queries := jobstest.DenseRecords([][]float32{{0, 0}})
	for p, want := range map[string]string{
		"1": "7", "2": "5", "3": strconv.FormatFloat(4*math.Cbrt(1+27.0/64), 'g', -1, 64),
	} {
		j := job{params: `{"metric":"minkowski","k":4,"p":` + p + `}`, base: base, queries: queries, shards: 2}
		got := strings.Split(strings.TrimSpace(joined(t, j.mustRun(t), listsFolder)), "\n")
		first := "0,2,2,5"
		last := "0,3,0," + want
		if p != "1" {
			first, last = "0,2,0,"+want, "0,3,2,5"
		}
		if len(got) != 4 || got[0] != "0,0,1,0" || got[1] != "0,1,3,1" || got[2] != first || got[3] != last {
			t.Errorf("p = %s: %v", p, got)
		}
	}
}

// Sets {1}, {1, 2}, {} and {3}: a query {1, 2} shares half of the first, all of the second; two empty sets are alike.
func TestJaccardByHand(t *testing.T) {
	full := [][]float32{{0, 7, 0, 0}, {0, 1, -2, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}}
	queries := [][]float32{{0, 1, 1, 0}, {0, 0, 0, 0}}
	want := []string{"0,0,1,0", "0,1,0,0.5", "0,2,2,1", "1,0,2,0", "1,1,0,1", "1,2,1,1"}
	for name, j := range map[string]job{
		"dense": {base: jobstest.DenseRecords(full), queries: jobstest.DenseRecords(queries)},
		"sparse": {base: jobstest.SparseRecords(4, full),
			queries: jobstest.SparseRecords(4, queries)},
		"texts": {base: []jobstest.Record{{Text: "b b b"}, {Text: "c b b"}, {Text: ""}, {Text: "d"}},
			queries: []jobstest.Record{{Text: "B c"}, {Text: "unknown"}}},
	} {
		t.Run(name, func(t *testing.T) {
			j.params, j.shards = `{"metric":"jaccard","k":3}`, 2
			wantLines(t, joined(t, j.mustRun(t), listsFolder), want...)
			j.params = `{"metric":"jaccard","radius":0.5}`
			wantLines(t, joined(t, j.mustRun(t), listsFolder), "0,0,1,0", "0,1,0,0.5", "1,0,2,0")
		})
	}
}

// The pole is a quarter of the circle from the equator, wherever.
func TestHaversineByHand(t *testing.T) {
	base := jobstest.DenseRecords([][]float32{{math.Pi / 2, 3}, {0, 2}, {0, -3}, {0, 1}}, "a", "b", "b", "a")
	j := job{base: base, queries: jobstest.DenseRecords([][]float32{{0, 1}, {0, 1.5}}), shards: 2}
	j.params = `{"metric":"haversine","k":4,"mode":"classify","lists":"csv","weights":"distance","store_base":true}`
	r := j.mustRun(t)
	third, got := 2*math.Pi-4, strings.Split(strings.TrimSpace(joined(t, r, listsFolder)), "\n")
	for i, want := range []struct {
		neighbor, label string
		distance        float64
	}{
		{"3", "a", 0}, {"1", "b", 1}, {"0", "a", math.Pi / 2}, {"2", "b", third},
		{"1", "b", 0.5}, {"3", "a", 0.5}, {"0", "a", math.Pi / 2}, {"2", "b", third - 0.5},
	} {
		cells := strings.Split(got[i], ",") // the pole is rounded to float32
		d, err := strconv.ParseFloat(cells[3], 64)
		if err != nil || cells[2] != want.neighbor || cells[4] != want.label || math.Abs(d-want.distance) > 5e-8 {
			t.Errorf("line %d is %q, want %v", i, got[i], want)
		}
	}
	wantLines(t, predicted(t, r.Model, j.queries), "0,a,1", "1,a,0.5072945467591929")
	j.params = `{"metric":"haversine","radius":1}`
	wantLines(t, joined(t, j.mustRun(t), listsFolder), "0,0,3,0", "0,1,1,1", "1,0,1,0.5", "1,1,3,0.5")
}

// Distances and similarities of four records, of which the third is asked for without itself, and of others.
func TestGivenByHand(t *testing.T) {
	rows := [][]float32{{0, 1, 5, 2}, {1, 0, 4, 4}, {5, 4, 0, 0.5}, {2, 3, 0.5, 0}}
	base := jobstest.DenseRecords(rows, "a", "a", "b", "b")
	j := job{params: `{"metric":"precomputed","k":2}`, base: base, shards: 3}
	wantLines(t, joined(t, j.mustRun(t), listsFolder), "0,0,1,1", "0,1,3,2", "1,0,0,1", "1,1,2,4", "2,0,3,0.5",
		"2,1,1,4", "3,0,2,0.5", "3,1,0,2")
	j.queries = jobstest.DenseRecords([][]float32{{3, 3, 3, 1}})
	wantLines(t, joined(t, j.mustRun(t), listsFolder), "0,0,3,1", "0,1,0,3")
	j.params = `{"metric":"precomputed","radius":2,"mode":"classify"}`
	wantLines(t, joined(t, j.mustRun(t), predictionsFolder), "0,b,1")
	j.queries, j.params = jobstest.DenseRecords([][]float32{{3, -3, 4, 1}}), `{"metric":"similarity","k":2}`
	wantLines(t, joined(t, j.mustRun(t), listsFolder), "0,0,2,-4", "0,1,0,-3")
}

// Given distances find the lists of the distances that they are, whatever the shards, with ids and held-out records.
func TestGivenIsTheSearch(t *testing.T) {
	rows, labels := digits(t)
	rows, labels = rows[:90], labels[:90]
	matrix := make([][]float32, len(rows))
	for i, x := range rows {
		for _, y := range rows {
			matrix[i] = append(matrix[i], float32(manhattan64(x, y))) // whole numbers
		}
	}
	for _, test := range []float64{0, 0.3} {
		for shards := 1; shards <= 3; shards++ {
			ids := make([]string, len(rows))
			for i := range ids {
				ids[i] = fmt.Sprint(i * 7 % 90)
			}
			search := job{params: `{"metric":"l1","k":4,"mode":"classify","lists":"csv"}`, test: test, shards: shards,
				base: named(jobstest.DenseRecords(rows, labels...), ids...)}
			given := search
			given.params = `{"metric":"precomputed","k":4,"mode":"classify","lists":"csv"}`
			given.base = named(jobstest.DenseRecords(matrix, labels...), ids...)
			for _, folder := range []string{listsFolder, predictionsFolder} {
				sameLists(t, folder, joined(t, given.mustRun(t), folder), joined(t, search.mustRun(t), folder))
			}
		}
	}
}

// Distances by scikit-learn: testdata has the script.
func TestMetricsAreThoseOfScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Metric    metric
		P         float64
		Rows      [][]float32
		Distances [][]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		params := fmt.Sprintf(`{"metric":%q,"k":100}`, c.Metric)
		if c.P > 0 {
			params = fmt.Sprintf(`{"metric":%q,"k":100,"p":%v}`, c.Metric, c.P)
		}
		rows := jobstest.DenseRecords(c.Rows)
		j := job{params: params, base: rows, queries: append([]jobstest.Record{}, rows...), shards: 2}
		n := 0
		for line := range strings.Lines(joined(t, j.mustRun(t), listsFolder)) {
			var q, rank, i int
			var d float64
			if _, err := fmt.Sscanf(line, "%d,%d,%d,%g", &q, &rank, &i, &d); err != nil {
				t.Fatal(err)
			}
			if want := c.Distances[q][i]; !(math.Abs(d-want) <= 1e-14*want+1e-15) {
				t.Errorf("%s: distance of %d and %d is %v, not %v", params, q, i, d, want)
			}
			n++
		}
		if n != len(c.Rows)*len(c.Rows) {
			t.Errorf("%s: %d pairs", params, n)
		}
	}
}

// Minkowski's distance of large, small and equal values is near that of the definition, between linf and l1.
func TestMinkowskiIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(1, 30).Draw(rt, "width")
		value := rapid.SampledFrom([]float32{0, 1, -1, 0.3, 1e30, -3e38, 1e-40, 7, 7.000001})
		x := rapid.SliceOfN(value, width, width).Draw(rt, "x")
		y := rapid.SliceOfN(value, width, width).Draw(rt, "y")
		p := power(rapid.SampledFrom([]float64{1, 1.25, 2, 3, 8, 9, 100, 1e6}).Draw(rt, "p"))
		most, got := chebyshev64(x, y), p.distance(x, y)
		sum := 0.0
		for i := range x {
			sum += math.Pow(math.Abs(float64(x[i])-float64(y[i]))/max(most, 0x1p-1000), float64(p))
		}
		want := most * math.Pow(sum, 1/float64(p))
		if !(math.Abs(got-want) <= 4e-15*want) || got < most || got > manhattan64(x, y)*(1+1e-14) {
			rt.Fatalf("p = %v: %v, not %v; linf %v, l1 %v", p, got, want, most, manhattan64(x, y))
		}
	})
}

// The lists of new metrics do not depend on shards, blocks, kernels or the form of rows.
func TestNewMetricsByEveryKernelSet(t *testing.T) {
	rows, _ := digits(t)
	rows = rows[:150]
	for _, metric := range []string{`"minkowski","p":1.5`, `"minkowski","p":3`, `"jaccard"`} {
		params, want := `{"k":6,"metric":`+metric+`}`, ""
		for _, ops := range kernelops.All() {
			forms := [][]jobstest.Record{jobstest.DenseRecords(rows), jobstest.SparseRecords(64, rows)}
			for shards, records := range forms {
				j := job{params: params, base: records, shards: shards + 1, block: 40 + shards, ops: ops}
				got := joined(t, j.mustRun(t), listsFolder)
				if want == "" {
					want = got
				}
				sameLists(t, ops.Name+" "+metric, got, want)
			}
		}
	}
}

func TestFaultsOfMetrics(t *testing.T) {
	square := jobstest.DenseRecords([][]float32{{0, 1}, {1, 0}})
	for _, c := range []struct {
		metric  string
		base    []jobstest.Record
		queries []jobstest.Record
		what    string
	}{
		{"haversine", jobstest.DenseRecords([][]float32{{1, 2, 3}, {1, 2, 3}}), nil, "vectors of width 3"},
		{"haversine", jobstest.SparseRecords(2, [][]float32{{1, 2}, {1, 1}}), nil, "dense records of two columns"},
		{"haversine", []jobstest.Record{{Text: "a"}, {Text: "b"}}, nil, "the records are texts"},
		{"haversine", jobstest.DenseRecords([][]float32{{1, 2}, {52.5, 13.4}}), nil, "the latitude is 52.5"},
		{"haversine", jobstest.DenseRecords([][]float32{{1, 2}, {1, 13.4}}), nil, "the longitude is 13.4"},
		{"precomputed", jobstest.DenseRecords([][]float32{{0, 1, 2}, {1, 0, 2}}), nil, "there are 2 records"},
		{"precomputed", jobstest.SparseRecords(2, [][]float32{{0, 1}, {1, 0}}), nil, "which are sparse"},
		{"similarity", []jobstest.Record{{Text: "a b"}, {Text: "b"}}, nil, "which are texts"},
		{"precomputed", jobstest.DenseRecords([][]float32{{0, 1}, {-1, 0}}), nil, "column 1 is -1"},
		{"precomputed", square, jobstest.DenseRecords([][]float32{{1, -2}}), "column 2 is -2"},
		{"precomputed", square, jobstest.DenseRecords([][]float32{{1, 2, 3}}), "width 3"},
	} {
		_, err := job{params: `{"metric":"` + c.metric + `"}`, base: c.base, queries: c.queries}.run(t)
		wantFault(t, err, protocol.CodeBadRecord, c.what)
	}
	for params, what := range map[string]string{
		`{"metric":"minkowski"}`:         "needs its power",
		`{"metric":"minkowski","p":0.5}`: "at least 1, not 0.5",
		`{"p":2}`:                        "not of l2",
		`{"metric":"haversine","features":{"scale":"standard"}}`:               "no features.scale",
		`{"metric":"jaccard","features":{"hashing":{"bits":4,"signed":true}}}`: "may cancel",
		`{"metric":"similarity","mode":"classify","weights":"distance"}`:       "weights by distance",
		`{"metric":"precomputed","radius":-1}`:                                 "radius is at least 0",
		`{"metric":"precomputed","store_base":true}`:                           "of no use to a model",
		`{"metric":"minkowski","p":3,"projection":{"dims":3}}`:                 "metric l2",
	} {
		_, err := Kind().Defaults(json.RawMessage(params))
		wantFault(t, err, protocol.CodeSpecInvalid, what)
	}
}
