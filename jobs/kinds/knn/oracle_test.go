package knn

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// table reads the columns from first up to, not including, end of a CSV file in testdata, and
// one column more as labels.
func table(t testing.TB, name string, first, end, label, skip int) (rows [][]float32, labels []string) {
	t.Helper()
	file, err := os.Open("../../../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	for n := 0; lines.Scan(); n++ {
		cells := strings.Split(lines.Text(), ",")
		if n < skip {
			continue
		}
		row := make([]float32, 0, end-first)
		for _, cell := range cells[first:end] {
			v, err := strconv.ParseFloat(cell, 32)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, float32(v))
		}
		rows, labels = append(rows, row), append(labels, cells[label])
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows, labels
}

func digits(t testing.TB) ([][]float32, []string) {
	t.Helper()
	rows, labels := table(t, "digits.csv.gz", 0, 64, 64, 0)
	if len(rows) != 1797 {
		t.Fatalf("%d digits", len(rows))
	}
	return rows, labels
}

func sameLists(t rapid.TB, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s: line %d of %d is %q, not %q", name, i, len(a), a[i], b[i])
		}
	}
	t.Fatalf("%s: %d lines, not %d", name, len(a), len(b))
}

// Each digit's neighbors among the others are those of a float64 brute force.
func TestDigitsLeaveOneOut(t *testing.T) {
	rows, labels := digits(t)
	r := job{params: `{"mode":"classify","k":5,"lists":"csv"}`, base: jobstest.DenseRecords(rows, labels...),
		shards: 3}.mustRun(t)
	want := reference(l2, rule{k: 5}, rows, rows, true)
	var got strings.Builder
	for line := range strings.Lines(joined(t, r, listsFolder)) {
		got.WriteString(line[:strings.LastIndexByte(line, ',')] + "\n") // without the label
	}
	sameLists(t, "digits", got.String(), want)
	t.Log(metricOf(t, r, "evaluation")[:120])
}

// All metrics, on every set of kernels, by k and by radius.
func TestDigitsByEveryMetric(t *testing.T) {
	rows, _ := digits(t)
	queries, base := rows[:60], rows[60:]
	radius := map[metric]float64{l2: 30, innerProduct: -3800, cosine: 0.1, l1: 150, linf: 10}
	for of, r := range radius {
		byK := reference(of, rule{k: 7}, queries, base, false)
		byRadius := reference(of, rule{radius: r}, queries, base, false)
		if n := strings.Count(byRadius, "\n"); n < 60 || n > 60*1000 {
			t.Errorf("%s: %d neighbors within %v prove little", of, n, r)
		}
		for _, ops := range kernelops.All() {
			j := job{base: jobstest.DenseRecords(base), queries: jobstest.DenseRecords(queries), shards: 2, ops: ops}
			j.params = fmt.Sprintf(`{"metric":%q,"k":7}`, of)
			sameLists(t, ops.Name+" "+string(of), joined(t, j.mustRun(t), listsFolder), byK)
			j.params = fmt.Sprintf(`{"metric":%q,"radius":%v,"max_neighbors":100000}`, of, r)
			sameLists(t, ops.Name+" "+string(of)+" radius", joined(t, j.mustRun(t), listsFolder), byRadius)
		}
	}
}

// Places on the map: 135,233 points of two columns, far from the origin against their distances.
func TestPlaces(t *testing.T) {
	rows, _ := table(t, "geonames-cities.csv.gz", 0, 2, 3, 1)
	queries := [][]float32{rows[77777], {13.4, 52.5}, {-180, 0}}
	for _, of := range []metric{l2, l1, linf, cosine} {
		j := job{params: fmt.Sprintf(`{"metric":%q,"k":20}`, of), base: jobstest.DenseRecords(rows),
			queries: jobstest.DenseRecords(queries), shards: 3, block: 5000}
		sameLists(t, string(of), joined(t, j.mustRun(t), listsFolder), reference(of, rule{k: 20}, queries, rows, false))
	}
}

// drawRows draws rows with duplicates, zeros and several scales.
func drawRows(t *rapid.T, name string, most, width int) [][]float32 {
	value := rapid.SampledFrom([]float32{0, 0, 1, 1, -1, 2, 0.1, 0.3, 1e-30, -7e-42, 3e18, -2e19, 1e30, 33.25})
	rows := make([][]float32, rapid.IntRange(0, most).Draw(t, name))
	scale := rapid.SampledFrom([]float32{1, 1, 1.0000001, 1e-3}).Draw(t, "scale")
	for i := range rows {
		rows[i] = make([]float32, width)
		for j := range rows[i] {
			rows[i][j] = value.Draw(t, "value") * scale
		}
	}
	return rows
}

// Whatever the data, the shards, the blocks, the kernels, dense or sparse: the lists are those
// of the definition.
func TestSearchIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{1, 2, 9, 40}).Draw(rt, "width")
		base := append(drawRows(rt, "base", 30, width), make([]float32, width))
		queries := drawRows(rt, "queries", 6, width)
		of := rapid.SampledFrom([]metric{l2, innerProduct, cosine, l1, linf}).Draw(rt, "metric")
		r := rule{k: rapid.IntRange(1, 35).Draw(rt, "k")}
		params := fmt.Sprintf(`{"metric":%q,"k":%d}`, of, r.k)
		if rapid.Bool().Draw(rt, "by radius") {
			r = rule{radius: rapid.SampledFrom([]float64{0, 0.5, 1, 2, 3e18, 1e38}).Draw(rt, "radius")}
			params = fmt.Sprintf(`{"metric":%q,"radius":%v}`, of, r.radius)
		}
		records := func(rows [][]float32) []jobstest.Record { return jobstest.DenseRecords(rows) }
		if rapid.Bool().Draw(rt, "sparse") {
			records = func(rows [][]float32) []jobstest.Record { return jobstest.SparseRecords(width, rows) }
		}
		j := job{params: params, base: records(base), shards: rapid.IntRange(1, 5).Draw(rt, "shards"),
			block: rapid.IntRange(1, 40).Draw(rt, "block"), ops: rapid.SampledFrom(kernelops.All()).Draw(rt, "ops")}
		own := rapid.Bool().Draw(rt, "leave one out")
		if own {
			queries = base
		} else {
			j.queries = append([]jobstest.Record{}, records(queries)...)
		}
		sameLists(rt, params, joined(rt, j.mustRun(rt), listsFolder), reference(of, r, queries, base, own))
	})
}

func TestHammingIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{1, 63, 64, 65, 130}).Draw(rt, "width")
		draw := func(n int) [][]float32 {
			rows := make([][]float32, n)
			for i := range rows {
				rows[i] = make([]float32, width)
				for j := range rows[i] {
					rows[i][j] = float32(rapid.IntRange(0, 1).Draw(rt, "bit"))
				}
			}
			return rows
		}
		base, queries := draw(12), draw(3)
		j := job{params: `{"metric":"hamming","k":4}`, base: jobstest.DenseRecords(base),
			queries: jobstest.DenseRecords(queries), shards: 3}
		want := reference(hamming, rule{k: 4}, queries, base, false)
		sameLists(rt, "dense", joined(rt, j.mustRun(rt), listsFolder), want)
		j.base, j.queries = jobstest.SparseRecords(width, base), jobstest.SparseRecords(width, queries)
		sameLists(rt, "sparse", joined(rt, j.mustRun(rt), listsFolder), want)
	})
}

// A list by radius is the list of all records as far as the radius.
func TestRadiusIsFilteredK(t *testing.T) {
	rows, _ := digits(t)
	j := job{params: `{"k":200}`, base: jobstest.DenseRecords(rows[:200]), shards: 2}
	var want strings.Builder
	for line := range strings.Lines(joined(t, j.mustRun(t), listsFolder)) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if d, err := strconv.ParseFloat(cells[3], 64); err != nil || d <= 25 {
			want.WriteString(line)
		}
	}
	j.params = `{"radius":25}`
	sameLists(t, "radius", joined(t, j.mustRun(t), listsFolder), want.String())
}

// No grouping into tasks changes the model, the files' digests in the index, or the figures.
func TestGrouping(t *testing.T) {
	rows, labels := digits(t)
	shards := jobstest.Deal(jobstest.DenseRecords(rows[:40], labels[:40]...), 5)
	queries := jobstest.Deal(jobstest.DenseRecords(rows[40:50], labels[40:50]...), 3)
	for _, params := range []string{
		`{"mode":"classify","k":3,"weights":"distance","store_base":true}`,
		`{"radius":30,"lists":"npy"}`,
		`{"k":4,"lists":"npy","metric":"minkowski","p":2.5}`,
		`{"radius":30,"counts":true}`,
		`{"mode":"regress","metric":"cosine","features":{"scale":"standard"}}`,
		`{"projection":{"dims":8,"sample":5}}`,
	} {
		j := job{params: params, queries: []jobstest.Record{}}
		algorithm, err := j.algorithm()
		if err != nil {
			t.Fatal(err)
		}
		jobstest.CheckGrouping(t, algorithm, j.spec(), shards, kernelops.Best(), jobstest.WithQueries(queries))
	}
}
