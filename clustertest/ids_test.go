package clustertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
)

// Two records of one id fail a job, and what a phase finds wrong with a record is told with its id and its place.
func TestIDsThatFailAJob(t *testing.T) {
	const csv = `"format":"csv","label":1,"id":2`
	npz := func(ids ...int32) string {
		return string(datasettest.NPZ(false,
			datasettest.Array{Name: "X", NPY: datasettest.NPY("<f4", "(2, 1)", []float32{1, 7})},
			datasettest.Array{Name: "k", NPY: datasettest.NPY("<i4", "(2,)", ids)}))
	}
	const arrays = `"format":"npz","features":["X"],"id":"k"`
	means := degenerate{kind: "NearestMean", params: `{}`, input: csv}
	search := degenerate{kind: "NearestNeighbors", params: `{"k":1,"metric":"hamming"}`}
	with := func(c degenerate, name, input string, data, queries objects) degenerate {
		c.name, c.input, c.data, c.queries = name, input, data, queries
		return c
	}
	runDegenerate(t, []degenerate{
		with(means, "twice", csv, objects{"a.csv": "a,k,1\nb,l,2\n", "b.csv.gz": "", "c.csv": "b,m,3\na,k,4\n"}, nil).
			fails("BAD_RECORD", `c.csv (byte 6): two records have the id "k": this one, and that at byte 0 of "a.csv"`),
		with(search, "twice-in-arrays", arrays, objects{"a.npz": npz(3, 4), "b.npz": npz(5, 4)},
			objects{"q.npz": npz(3, 4)}).
			fails("BAD_RECORD", `b.npz: row 1: two records have the id "4": this one, and row 1 of "a.npz"`),
		with(search, "twice-in-queries", arrays, objects{"a.npz": npz(3, 4)}, objects{"q.npz": npz(4, 4)}).
			fails("BAD_RECORD", `q.npz: row 1: two records have the id "4"`, "spec.queries"),
		with(search, "in-a-phase", `"format":"csv","id":2`, objects{"a.csv": "1,k\n7,l\n"}, objects{"q.csv": "1,k\n"}).
			fails("BAD_RECORD", `a.csv, line 2 (byte 4): the record with the id "l": value 1 of the vector is 7`),
		with(search, "in-a-phase-over-arrays", arrays, objects{"a.npz": npz(3, 4)}, objects{"q.npz": npz(3, 4)}).
			fails("BAD_RECORD", `npz: row 1: the record with the id "4": value 1 of the vector is 7`),
	})
}

// Results name records by their ids.
func TestIDsInResults(t *testing.T) {
	const csv = `"format":"csv","label":1,"id":2`
	data := objects{"a.csv": "a,k,1\na,l,2\n", "b.csv": "b,m,30\nb,n,31\n"}
	runDegenerate(t, []degenerate{
		{name: "model", kind: "NearestMean", params: `{}`, input: csv, data: data},
		{name: "predictions", kind: "Predict", params: `{"format":"csv"}`, input: csv, model: "model",
			data: objects{"c.csv": "b,k,29\na,x y,0\n"}, answer: func(t *testing.T, r ran) {
				r.wants(t, "predictions", "id,label,distance\nk,b,1.5\nx y,a,1.5\n")
			}},
		{name: "neighbors", kind: "NearestNeighbors", params: `{"k":2}`, input: `"format":"csv","features":[3],"id":2`,
			data: data, queries: objects{"q.csv": "x,q,1\n"}, answer: func(t *testing.T, r ran) {
				r.wants(t, "neighbors", "query,rank,neighbor,distance\nq,0,k,0\nq,1,l,1\n")
			}},
		{name: "rows", kind: "KMeans", params: `{"k":1,"assignments":true}`, input: `"format":"npy"`,
			data: objects{"a.npy": string(datasettest.NPY("<f4", "(1, 1)", []float32{1})),
				"b.npy": string(datasettest.NPY("<f4", "(1, 1)", []float32{1}))}, answer: func(t *testing.T, r ran) {
				r.wants(t, "assignments", "row,cluster,distance\n0,0,0\n1,0,0\n")
			}},
	})
}

// Of neighbors at one distance those of the least ids are taken, in whatever order and files the records are, and by
// the model too.
func TestIDsDecideTies(t *testing.T) {
	const csv = `"format":"csv","label":1,"id":2`
	const params = `{"k":2,"mode":"classify","lists":"csv","store_base":true}`
	queries := objects{"q.csv": "b,q,2\n"}
	answer := func(t *testing.T, r ran) {
		r.wants(t, "neighbors", "query,rank,neighbor,distance,label\nq,0,8,1,b\nq,1,9,1,b\n")
		r.wants(t, "predictions", "query,label,share\nq,b,1\n")
	}
	predicts := func(t *testing.T, r ran) { r.wants(t, "predictions", "id,label,share\nq,b,1\n") }
	runDegenerate(t, []degenerate{
		{name: "files", kind: "NearestNeighbors", params: params, input: csv, queries: queries, answer: answer,
			data: objects{"a.csv": "a,10,1\nb,9,3\n", "b.csv": "b,8,1\n"}},
		{name: "file", kind: "NearestNeighbors", params: params, input: csv, queries: queries, answer: answer,
			data: objects{"a.csv": "b,9,3\na,10,1\nb,8,1\n"}},
		{name: "model", kind: "Predict", params: `{"format":"csv"}`, input: csv, model: "files", data: queries,
			answer: predicts},
	})
}

// wants compares the joined parts of a folder.
func (r ran) wants(t *testing.T, folder, want string) {
	t.Helper()
	if got := r.joined(t, folder); got != want {
		t.Errorf("%s: %q, want %q", folder, got, want)
	}
}

// joined returns the parts of a folder below one header.
func (r ran) joined(t *testing.T, folder string) string {
	t.Helper()
	var index struct {
		Columns []string
		Parts   []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(r.read(t, folder+"/index.json")), &index); err != nil {
		t.Fatal(err)
	}
	joined := strings.Join(index.Columns, ",") + "\n"
	for _, part := range index.Parts {
		_, rows, _ := strings.Cut(r.read(t, part.Name), "\n")
		joined += rows
	}
	return joined
}
