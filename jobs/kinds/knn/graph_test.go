package knn

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// graphSpec is the spec of a graph.
func (j job) graphSpec() protocol.JobSpec {
	spec := j.spec()
	spec.Kind = GraphKindName
	return spec
}

// graph runs the job as one of kind NeighborGraph.
func (j job) graph(t rapid.TB) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := j.graphAlgorithm()
	if err != nil {
		return jobstest.Result{}, err
	}
	ops := j.ops
	if ops == nil {
		ops = kernelops.Best()
	}
	var opts []jobstest.Option
	if j.queries != nil {
		opts = append(opts, jobstest.WithQueries(jobstest.Deal(j.queries, j.shards+1)))
	}
	return jobstest.Run(context.Background(), algorithm, j.graphSpec(),
		jobstest.Shards(jobstest.Deal(j.base, max(j.shards, 1)), max(j.block, 2)), ops, jobstest.Grouping{}, opts...)
}

func (j job) mustGraph(t rapid.TB) graphArrays {
	t.Helper()
	r, err := j.graph(t)
	if err != nil {
		t.Fatal(err)
	}
	return arraysOf(t, r)
}

// graphArrays are the files of a graph, joined as gram get does, below their headers.
type graphArrays struct {
	Indices, CSRIndices, CSREnds []int64
	Distances, CSRData           []float32
	Shape                        string // of indices
	Records                      string
}

func arraysOf(t rapid.TB, r jobstest.Result) (g graphArrays) {
	t.Helper()
	g.Shape = npyOf(t, r, indicesFolder, &g.Indices)
	if s := npyOf(t, r, distancesFolder, &g.Distances); s != g.Shape {
		t.Fatalf("indices of shape %s, distances of %s", g.Shape, s)
	}
	npyOf(t, r, csrIndices, &g.CSRIndices)
	npyOf(t, r, csrEnds, &g.CSREnds)
	npyOf(t, r, csrData, &g.CSRData)
	if r.Files[recordsFolder+"/index.json"] != nil {
		g.Records = joined(t, r, recordsFolder)
	}
	return g
}

// npyOf reads a folder into a list, and returns the shape.
func npyOf[T int64 | float32](t rapid.TB, r jobstest.Result, folder string, to *[]T) (shape string) {
	t.Helper()
	x, err := parts.ReadIndex(r.Files[folder+"/index.json"])
	if err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	var whole bytes.Buffer
	join := parts.NewJoiner(x, &whole)
	for _, p := range x.Parts {
		if err := join.Add(r.Files[p.Name]); err != nil {
			t.Fatal(err)
		}
	}
	header, data, _ := bytes.Cut(whole.Bytes(), []byte("\n"))
	_, rest, _ := strings.Cut(string(header), "'shape': ")
	shape, _, _ = strings.Cut(rest, ", }")
	*to = make([]T, len(data)/binary.Size(T(0)))
	if _, err := binary.Decode(data, binary.LittleEndian, *to); err != nil {
		t.Fatal(err)
	}
	return shape
}

// Five points on a line, 1 and 2 the same: each begins its row, also the one of two equal points that comes later.
func TestGraphByHand(t *testing.T) {
	for shards := 1; shards <= 6; shards++ {
		j := job{params: `{"k":3}`, base: line(), shards: shards}
		want := graphArrays{Shape: "(5, 3)", Indices: []int64{0, 1, 2, 1, 2, 3, 2, 1, 3, 3, 1, 2, 4, 3, 1},
			Distances: []float32{0, 3, 3, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 6, 7}, CSREnds: []int64{0, 2, 4, 6, 8, 10},
			CSRIndices: []int64{1, 2, 2, 3, 1, 3, 1, 2, 3, 1}, CSRData: []float32{3, 3, 0, 1, 0, 1, 1, 1, 6, 7}}
		if got := j.mustGraph(t); !reflect.DeepEqual(got, want) {
			t.Errorf("%d shards: %+v", shards, got)
		}
		j.params = `{"k":2,"self":false}`
		want.Shape, want.Indices, want.Distances = "(5, 2)", want.CSRIndices, want.CSRData
		if got := j.mustGraph(t); !reflect.DeepEqual(got, want) {
			t.Errorf("%d shards, without self: %+v", shards, got)
		}
	}
}

// Two tables are joined by their nearest, of which no query is one; ids name the rows and order ties.
func TestGraphOfQueriesByHand(t *testing.T) {
	j := job{params: `{"k":1}`, base: named(line(), "10", "9", "8", "7", "6"),
		queries: named(at(3, 9), "q", "p"), shards: 2}
	want := graphArrays{Shape: "(2, 1)", Indices: []int64{2, 4}, Distances: []float32{0, 1}, CSREnds: []int64{0, 1, 2},
		CSRIndices: []int64{2, 4}, CSRData: []float32{0, 1}, Records: "0,q\n1,p\n"}
	if got := j.mustGraph(t); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// A graph holds the lists of a brute force, whatever the data, the shards, the kernels, dense or sparse; ties are many.
func TestGraphIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{1, 3, 9}).Draw(rt, "width")
		rows := make([][]float32, rapid.IntRange(2, 30).Draw(rt, "records"))
		scale := rapid.SampledFrom([]float32{1, 1e-3, 1e15}).Draw(rt, "scale")
		for i := range rows {
			rows[i] = make([]float32, width)
			for j := range rows[i] {
				rows[i][j] = float32(rapid.IntRange(1000, 1002).Draw(rt, "value")) * scale
			}
		}
		of := rapid.SampledFrom([]metric{l2, cosine, l1, linf}).Draw(rt, "metric")
		k := rapid.IntRange(2, len(rows)).Draw(rt, "k")
		j := job{params: fmt.Sprintf(`{"metric":%q,"k":%d}`, of, k), base: jobstest.DenseRecords(rows),
			shards: rapid.IntRange(1, 5).Draw(rt, "shards"), ops: rapid.SampledFrom(kernelops.All()).Draw(rt, "ops")}
		if rapid.Bool().Draw(rt, "sparse") {
			j.base = jobstest.SparseRecords(width, rows)
		}
		var want graphArrays
		want.CSREnds = []int64{0}
		for text := range strings.Lines(reference(of, rule{k: k - 1}, rows, rows, true)) {
			cells := strings.Split(strings.TrimSpace(text), ",")
			row, _ := strconv.ParseInt(cells[0], 10, 64)
			id, _ := strconv.ParseInt(cells[2], 10, 64)
			d, err := strconv.ParseFloat(cells[3], 64)
			if err != nil {
				rt.Fatal(err)
			}
			if cells[1] == "0" {
				want.Indices, want.Distances = append(want.Indices, row), append(want.Distances, 0)
				want.CSREnds = append(want.CSREnds, want.CSREnds[row]+int64(k)-1)
			}
			want.Indices, want.Distances = append(want.Indices, id), append(want.Distances, float32(d))
			want.CSRIndices, want.CSRData = append(want.CSRIndices, id), append(want.CSRData, float32(d))
		}
		want.Shape = fmt.Sprintf("(%d, %d)", len(rows), k)
		if got := j.mustGraph(rt); !reflect.DeepEqual(got, want) {
			rt.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// By every metric, the graph is the lists of NearestNeighbors with the record itself before them.
func TestGraphIsTheListsOfEveryMetric(t *testing.T) {
	texts := make([]jobstest.Record, 9)
	bits := make([][]float32, 9)
	for i := range texts {
		texts[i].Text = strings.Repeat("ab", i%4) + strings.Repeat("c", i%3)
		bits[i] = []float32{float32(i & 1), float32(i >> 1 & 1), float32(i >> 2 & 1), 0}
	}
	for _, of := range graphMetrics {
		params, base := fmt.Sprintf(`"metric":%q`, of), jobstest.DenseRecords(bits)
		switch of {
		case minkowski:
			params += `,"p":1.5`
		case edit:
			base = texts
		case haversine:
			base = jobstest.DenseRecords([][]float32{{0, 0}, {1, 1}, {1, 1}, {-1, 3}, {0.5, 0}})
		case precomputed:
			base = jobstest.DenseRecords([][]float32{{0, 1, 5, 2}, {1, 0, 4, 4}, {5, 4, 0, 0.5}, {2, 3, 0.5, 0}})
		}
		j := job{params: `{"k":3,` + params + `}`, base: base, shards: 3}
		got := j.mustGraph(t)
		j.params = `{"k":2,` + params + `}`
		for i, cells := range cells(t, j.mustRun(t), listsFolder) {
			d, err := strconv.ParseFloat(cells[3], 64)
			at := i/2*3 + i%2 + 1
			if err != nil || fmt.Sprint(got.Indices[at]) != cells[2] || got.Distances[at] != float32(d) ||
				got.Indices[at-at%3] != int64(i/2) || got.Distances[at-at%3] != 0 {
				t.Errorf("%s: entry %d is (%d, %v), the list has %v", of, i, got.Indices[at], got.Distances[at], cells)
			}
		}
	}
}

// A table whose rows are permuted has the same graph of ids.
func TestGraphOfAPermutedTable(t *testing.T) {
	rows, order := [][]float32{{0}, {2}, {2}, {4}, {0}, {6}, {2}}, []int{4, 6, 0, 3, 1, 5, 2}
	edges := func(order []int, shards int) string {
		base := make([]jobstest.Record, len(order))
		for i, at := range order {
			base[i] = named(jobstest.DenseRecords(rows[at:at+1]), fmt.Sprint(at*at))[0]
		}
		g := job{params: `{"k":4}`, base: base, shards: shards}.mustGraph(t)
		var all []string
		for i, to := range g.Indices {
			all = append(all, fmt.Sprintln(base[i/4].ID, i%4, base[to].ID, g.Distances[i]))
		}
		slices.Sort(all)
		return strings.Join(all, "")
	}
	want := edges(every(len(rows)), 1)
	for shards := 1; shards <= 4; shards++ {
		if got := edges(order, shards); got != want {
			t.Errorf("%d shards:\n%s\nwant\n%s", shards, got, want)
		}
	}
}

func TestGraphRefuses(t *testing.T) {
	base := line()
	for name, c := range map[string]struct {
		job
		code protocol.Code
		says string
	}{
		"as many as records":  {job{params: `{"k":6}`, base: base}, protocol.CodeInputEmpty, "5 records"},
		"as many as others":   {job{params: `{"k":5,"self":false}`, base: base}, protocol.CodeInputEmpty, "at most 4"},
		"more than the base":  {job{params: `{"k":6}`, base: base, queries: at(1)}, protocol.CodeInputEmpty, "5 records"},
		"itself alone":        {job{params: `{"k":1}`, base: base}, protocol.CodeSpecInvalid, "nothing is searched"},
		"no neighbor":         {job{params: `{"k":0}`, base: base}, protocol.CodeSpecInvalid, "k is from 1"},
		"split":               {job{test: 0.5, base: base}, protocol.CodeSpecInvalid, "spec.input.split"},
		"signed metric":       {job{params: `{"metric":"inner_product"}`}, protocol.CodeSpecInvalid, "metric is"},
		"power of nothing":    {job{params: `{"p":3}`}, protocol.CodeSpecInvalid, "p is the power"},
		"minkowski without p": {job{params: `{"metric":"minkowski"}`}, protocol.CodeSpecInvalid, "needs its power"},
		"robust scale":        {job{params: `{"features":{"scale":"robust"}}`}, protocol.CodeSpecInvalid, "passes"},
		"unseen as zeros": {job{params: `{"features":{"categories":{"unseen":"zeros"}}}`}, protocol.CodeSpecInvalid,
			"does not count"},
		"scaled bits": {job{params: `{"metric":"hamming","features":{"scale":"l2"}}`}, protocol.CodeSpecInvalid,
			"0 and 1"},
		"no bits":              {job{params: `{"metric":"hamming","k":2}`, base: base}, protocol.CodeBadRecord, "needs 0 or 1"},
		"beyond float32":       {job{params: `{"k":2}`, base: at(3e38, -3e38)}, protocol.CodeInputLimit, "row 0"},
		"unknown parameter":    {job{params: `{"radius":1}`}, protocol.CodeSpecInvalid, "radius"},
		"rows of no distances": {job{params: `{"metric":"precomputed"}`, base: base}, protocol.CodeBadRecord, "a column for"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.graph(t)
			wantFault(t, err, c.code, c.says)
		})
	}
}

// Lists that are not as long as a row are damaged, and never an array of another shape.
func TestGraphOfDamagedLists(t *testing.T) {
	j := job{params: `{"k":3}`, base: line()}
	own := GraphParams{K: 3, Self: true, Metric: l2}
	p := newPlan(own.search(2), j.graphSpec(), usual)
	p.graph = &graph{own}
	o := &graphOutput{plan: p}
	root := p.newPartial()
	root.found.rows = [][]neighbor{{{id: 1}}}
	for _, queries := range [][]int64{{0}, {0, 1}} {
		err := o.Decide(t.Context(), pairwise.Tree{Queries: queries}, root)
		wantFault(t, err, protocol.CodeCorrupt, "of ")
	}
}

func TestGraphGrouping(t *testing.T) {
	rows, _ := digits(t)
	for _, queries := range [][]jobstest.Record{nil, jobstest.DenseRecords(rows[40:50])} {
		j := job{params: `{"k":4,"features":{"scale":"standard"}}`, queries: queries}
		algorithm, err := j.graphAlgorithm()
		if err != nil {
			t.Fatal(err)
		}
		var opts []jobstest.Option
		if queries != nil {
			opts = append(opts, jobstest.WithQueries(jobstest.Deal(queries, 3)))
		}
		jobstest.CheckGrouping(t, algorithm, j.graphSpec(), jobstest.Deal(jobstest.DenseRecords(rows[:40]), 5),
			kernelops.Best(), opts...)
	}
}

// The model keeps the parameters and the space, reads back, and damaged is refused.
func TestGraphModel(t *testing.T) {
	r, err := job{params: `{"k":3,"metric":"minkowski","p":3,"features":{"scale":"standard"}}`, base: line()}.graph(t)
	if err != nil {
		t.Fatal(err)
	}
	if got := metricOf(t, r, "graph.edges"); got != "10" {
		t.Errorf("%s edges", got)
	}
	m, err := jobs.Load[graphModel](r.Model)
	if err != nil || m.params.K != 3 || *m.params.P != 3 || m.records != 5 || m.vectors.Width != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	text, err := GraphKind().Describe(r.Model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "minkowski (p = 3)") || !strings.Contains(text, "csr-indptr") {
		t.Errorf("%q, %v", text, err)
	}
	spoiled, err := json.Marshal(map[string]any{"k": -1})
	if err != nil {
		t.Fatal(err)
	}
	r.Model.PutText("params", string(spoiled))
	_, err = jobs.Load[graphModel](r.Model)
	wantFault(t, err, protocol.CodeCorrupt, "parameters")
}
