package kernelmatrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func wantFault(t *testing.T, name string, err error, code protocol.Code, what string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code || !strings.Contains(fault.What, what) {
		t.Errorf("%s: want a %v fault with %q, got %v", name, code, what, err)
	}
}

func TestSenselessParams(t *testing.T) {
	for params, want := range map[string]string{
		`{"kernel": "cubic"}`:                               "kernel is one of",
		`{"kernel": "rbf", "gamma": -1}`:                    "gamma is above 0",
		`{"tile": 0}`:                                       "tile is from 1",
		`{"tile": 100000}`:                                  "tile is from 1",
		`{"psd_sample": 257}`:                               "psd_sample is from 0 to 256",
		`{"psd_sample": -1}`:                                "psd_sample is from 0 to 256",
		`{"max_bytes": 0}`:                                  "max_bytes is above 0",
		`{"features": {"scale": "robust"}}`:                 "scale",
		`{"features": {"categories": {"unseen": "zeros"}}}`: "unseen",
		`{"tiles": 5}`:                                      "tiles",
		`{"kernel": "linear", "gamma": 1, "tile":8}`:        "has no gamma",
	} {
		_, err := Kind().Defaults(json.RawMessage(params))
		wantFault(t, params, err, protocol.CodeSpecInvalid, want)
	}
	whole, err := Kind().Defaults(json.RawMessage(`{"kernel": "polynomial"}`))
	if err != nil || !strings.Contains(string(whole), `"degree":2`) || !strings.Contains(string(whole), `"tile":2048`) {
		t.Errorf("%s, %v", whole, err)
	}
	if again, err := Kind().Defaults(whole); err != nil || !bytes.Equal(again, whole) {
		t.Errorf("%s, %v", again, err)
	}
}

// A value beyond float32 names the record; too large a matrix is refused before a tile is there.
func TestWhatCannotBeComputed(t *testing.T) {
	large := [][]float32{{1, 0}, {3e30, 0}}
	_, err := run(t, `{}`, large, 2, kernelops.Best())
	wantFault(t, "overflow", err, protocol.CodeBadRecord, "beyond the range of float32")
	var fault *protocol.Fault
	if errors.As(err, &fault) && (fault.Object == "" || *fault != *fault.WithOffset(1)) {
		t.Errorf("overflow: %v", fault)
	}
	_, err = run(t, `{"kernel": "rbf"}`, [][]float32{{float32(math.NaN())}}, 1, kernelops.Best())
	wantFault(t, "NaN", err, protocol.CodeBadRecord, "not a finite number")
	_, err = run(t, `{}`, nil, 1, kernelops.Best())
	wantFault(t, "no records", err, protocol.CodeInputEmpty, "no training record")
	_, err = run(t, `{}`, three, 1, kernelops.Best(), jobstest.DenseRecords([][]float32{{1, 2, 3}}))
	wantFault(t, "another width", err, protocol.CodeBadRecord, "width")
}

// The bound on bytes is that of the files, headers of 128 bytes included. Three records in one block are one tile of
// 9 elements, 164 bytes; in tiles of two, tiles of 4, 2 and 1, 28 + 384; in two blocks of two and one the same; as
// queries of themselves 4 + 2 + 2 + 1, 36 + 512.
func TestMaxBytes(t *testing.T) {
	for _, c := range []struct {
		params  string
		shards  int
		queries bool
		bytes   int64
	}{
		{``, 1, false, 164}, {`"tile": 2, `, 1, false, 412}, {`"block_records": 2, `, 2, false, 412},
		{`"tile": 2, `, 1, true, 548},
	} {
		var queries [][]jobstest.Record
		if c.queries {
			queries = append(queries, jobstest.DenseRecords(three))
		}
		result, err := run(t, fmt.Sprintf(`{%s"max_bytes": %d}`, c.params, c.bytes), three, c.shards, kernelops.Best(),
			queries...)
		if err != nil {
			t.Fatal(err)
		}
		written := int64(0)
		for name, data := range result.Files {
			if strings.HasSuffix(name, ".npy") {
				written += int64(len(data))
			}
		}
		if written != c.bytes {
			t.Errorf("%+v: %d bytes were written", c, written)
		}
		_, err = run(t, fmt.Sprintf(`{%s"max_bytes": %d}`, c.params, c.bytes-1), three, c.shards, kernelops.Best(),
			queries...)
		wantFault(t, "max_bytes", err, protocol.CodeInputLimit, "3 x 3 float32 do not fit into params.max_bytes")
	}
	huge := grid{true, []int64{maxRecords}, []int64{maxRecords}}
	wantFault(t, "2^31 records", huge.checkSize(math.MaxInt64, 1), protocol.CodeInputLimit, "max_bytes")
	if err := huge.checkSize(math.MaxInt64, maxTile); err == nil {
		t.Error("2^64 bytes fit into an int64")
	}
}

// More blocks than there may be pairs of are refused before a tile is computed; 200 shards, nearly all empty, have the
// matrix of one.
func TestPairsOfBlocks(t *testing.T) {
	for _, ok := range []error{checkPairs(1447, 1447, true), checkPairs(1<<14, 64, false),
		checkPairs(1, 1<<20, false)} {
		if ok != nil {
			t.Error(ok)
		}
	}
	wantFault(t, "1448 blocks", checkPairs(1448, 1448, true), protocol.CodeInputLimit,
		"1448 blocks have 1049076 pairs; a kernel matrix takes up to 1048576")
	wantFault(t, "queries", checkPairs(1<<14+1, 1, false), protocol.CodeInputLimit,
		"16385 blocks of queries and 1 of the input")
	wantFault(t, "a base", checkPairs(2, 1<<20, false), protocol.CodeInputLimit, "pairs")
	many := make([][]float32, 1448)
	for i := range many {
		many[i] = []float32{1}
	}
	_, err := run(t, `{"block_records": 1}`, many, 3, kernelops.Best())
	wantFault(t, "after the first round", err, protocol.CodeInputLimit, "1448 blocks")

	_, want, _ := assembled(t, mustRun(t, `{}`, three, 1, kernelops.Best()).Files)
	_, got, _ := assembled(t, mustRun(t, `{}`, three, 200, kernelops.Best()).Files)
	if !slices.Equal(got, want) {
		t.Errorf("%v by 200 shards, %v by one", got, want)
	}
	_, queried, _ := assembled(t, mustRun(t, `{}`, three, 200, kernelops.Best(), jobstest.DenseRecords(three)).Files)
	if !slices.Equal(queried, want) {
		t.Errorf("%v by queries, %v without", queried, want)
	}
}

// Leaves that the grid does not have, and partials that no leaf writes.
func TestHostileTiles(t *testing.T) {
	g := grid{true, make([]int64, 3), make([]int64, 3)}
	for _, at := range [][2]int{{-1, 0}, {3, 0}, {0, 3}, {2, 1}, {0, -1}} {
		if _, _, err := g.pair(at[0], at[1]); err == nil {
			t.Errorf("leaf %d of tree %d", at[1], at[0])
		}
	}
	phase := (&tilesPhase{&plan{}}).phase()
	whole := jobs.ArraysOf(&written{sample: sampling.New(2), tiles: []Tile{{Rows: 1, Columns: 1}}})
	right := jobs.ArraysOf(&written{tiles: []Tile{{Rows: 2, Columns: 1}}})
	merged, err := phase.Merge(whole, right)
	if err != nil {
		t.Fatal(err)
	}
	if both, err := jobs.Read(merged, &written{}); err != nil || both.sample == nil || len(both.tiles) != 2 ||
		both.tiles[1].Rows != 2 {
		t.Errorf("%+v, %v", both, err)
	}
	_, err = phase.Merge(right, whole)
	wantFault(t, "a sample at the right", err, protocol.CodeCorrupt, "off the diagonal")
	_, err = phase.Merge(right, jobs.Arrays{})
	wantFault(t, "nothing", err, protocol.CodeCorrupt, "")
}

// One record, rows of zeros, duplicates, and shards without records.
func TestDegenerateInput(t *testing.T) {
	for name, c := range map[string]struct {
		rows    [][]float32
		params  string
		want    []float32
		verdict string
	}{
		"one record": {[][]float32{{2}}, `{}`, []float32{4}, Holds},
		"zeros":      {[][]float32{{0}, {0}}, `{"kernel": "rbf"}`, []float32{1, 1, 1, 1}, Untold},
		"all zero":   {[][]float32{{0}, {0}}, `{}`, []float32{0, 0, 0, 0}, Untold},
		"duplicates": {[][]float32{{3}, {3}}, `{}`, []float32{9, 9, 9, 9}, Untold},
		"unit rows":  {[][]float32{{3, 4}, {0, 0}}, `{"features": {"scale": "l2"}}`, []float32{1, 0, 0, 0}, Untold},
	} {
		result := mustRun(t, c.params, c.rows, 5, kernelops.Best())
		_, got, _ := assembled(t, result.Files)
		certificate, err := Certify(result.Model)
		if fmt.Sprint(got) != fmt.Sprint(c.want) && name != "unit rows" || err != nil ||
			certificate.Verdict != c.verdict {
			t.Errorf("%s: %v, %+v, %v", name, got, certificate, err)
		}
	}
	result := mustRun(t, `{}`, three, 1, kernelops.Best(), nil, nil)
	if x, got, _ := assembled(t, result.Files); x.Rows != 0 || x.Columns != 3 || len(got) != 0 {
		t.Errorf("no queries: %+v", x)
	}
}

func TestHostileModels(t *testing.T) {
	good := mustRun(t, `{"kernel": "rbf"}`, three, 1, kernelops.Best()).Model
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":       func(a jobs.Arrays) { a.PutKind("KMeans", 1) },
		"no kernel":          func(a jobs.Arrays) { delete(a, "kernel") },
		"no origin":          func(a jobs.Arrays) { delete(a, "kernel.origin") },
		"a short origin":     func(a jobs.Arrays) { jobs.Put(a, "kernel.origin", []float32{1}) },
		"an origin of zeros": func(a jobs.Arrays) { jobs.Put(a, "kernel.origin", []float32{0, 0}) },
		"an origin of NaN":   func(a jobs.Arrays) { jobs.Put(a, "kernel.origin", []float32{1, float32(math.NaN())}) },
		"no bound":           func(a jobs.Arrays) { delete(a, "kernel.bound") },
		"a large bound":      func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.bound", 0.1) },
		"no count":           func(a jobs.Arrays) { delete(a, "kernel.differences") },
		"a negative count":   func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.differences", int64(-1)) },
		"no space":           func(a jobs.Arrays) { delete(a, "features.form") },
		"symmetric 2":        func(a jobs.Arrays) { jobs.PutScalar(a, "matrix.symmetric", int32(2)) },
		"rectangular sample": func(a jobs.Arrays) { jobs.PutScalar(a, "matrix.symmetric", int32(0)) },
		"sizes":              func(a jobs.Arrays) { jobs.Put(a, "matrix", []int64{3, 4, 1, 1}) },
		"three sizes":        func(a jobs.Arrays) { jobs.Put(a, "matrix", []int64{3, 3, 1}) },
		"negative":           func(a jobs.Arrays) { jobs.Put(a, "matrix", []int64{-1, -1, 1, 1}) },
		"fewer records":      func(a jobs.Arrays) { jobs.Put(a, "matrix", []int64{2, 2, 1, 1}) },
		"no digest":          func(a jobs.Arrays) { a.PutText(modelIndex, "abc") },
		"no values":          func(a jobs.Arrays) { delete(a, modelValues) },
		"another shape":      func(a jobs.Arrays) { jobs.Put(a, modelValues, make([]float32, 9)) },
		"NaN": func(a jobs.Arrays) {
			jobs.Put(a, modelValues, []float32{1, 0, 0, 0, 1, 0, 0, 0, float32(math.NaN())}, 3, 3)
		},
		"asymmetric": func(a jobs.Arrays) {
			jobs.Put(a, modelValues, []float32{1, 0, 0, 1, 1, 0, 0, 0, 1}, 3,
				3)
		},
		"tolerance":          func(a jobs.Arrays) { jobs.PutScalar(a, modelError, -1.0) },
		"tolerance infinite": func(a jobs.Arrays) { jobs.PutScalar(a, modelError, math.Inf(1)) },
		"fewer drawn":        func(a jobs.Arrays) { jobs.Put(a, modelDrawn, []int64{1}) },
		"none drawn":         func(a jobs.Arrays) { delete(a, modelDrawn) },
		"a large sample": func(a jobs.Arrays) {
			jobs.Put(a, modelDrawn, make([]int64, 257))
			jobs.Put(a, modelValues, make([]float32, 257*257), 257, 257)
		},
	} {
		bad, err := jobs.Decode(good.Encode())
		if err != nil {
			t.Fatal(err)
		}
		spoil(bad)
		_, err = Kind().Describe(bad, jobs.DescribeOptions{})
		wantFault(t, name, err, protocol.CodeCorrupt, "")
		_, err = Certify(bad)
		wantFault(t, name, err, protocol.CodeCorrupt, "")
	}
}

func TestHostilePartials(t *testing.T) {
	spec := specOf(t, `{}`, false)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	phase := algorithm.Phases()[0]
	shards := jobstest.Shards(jobstest.Deal(jobstest.DenseRecords(three), 2), 10)
	partial := func(i int) jobs.Arrays {
		a, _, err := phase.Map(t.Context(), nil, jobstest.Leaf(0, i, shards), nil, kernelops.Generic())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"no shards":   func(a jobs.Arrays) { delete(a, "parts.shards") },
		"data set 7":  func(a jobs.Arrays) { jobs.Put(a, "parts.shards", []int64{7, 0}, 1, 2) },
		"no parts":    func(a jobs.Arrays) { delete(a, "parts.rows") },
		"more shards": func(a jobs.Arrays) { jobs.Put(a, "parts.shards", []int64{0, 0, 0, 1}, 2, 2) },
	} {
		bad := partial(0)
		spoil(bad)
		_, err := phase.Merge(bad, partial(1))
		wantFault(t, name, err, protocol.CodeCorrupt, "")
	}
	for name, second := range map[string]int64{"twice": 0, "out of place": 2, "negative": -1} {
		bad := partial(1)
		jobs.Put(bad, "parts.shards", []int64{0, second}, 1, 2)
		merged, err := phase.Merge(partial(0), bad)
		if err != nil {
			t.Fatal(err)
		}
		_, err = phase.Step(t.Context(), nil, jobs.RoundOf(jobs.Plan{Shards: 2}, merged))
		wantFault(t, name, err, protocol.CodeCorrupt, "")
	}
}

func TestDamage(t *testing.T) {
	files := mustRun(t, `{"tile": 2}`, three, 1, kernelops.Generic()).Files
	index := string(files["tiles/index.json"])
	for name, c := range map[string][2]string{
		"no JSON":          {"{", ""},
		"an unknown field": {`"format"`, `"color"`},
		"another version":  {`"schema_version": 1`, `"schema_version": 2`},
		"another type":     {`float32`, `float64`},
		"more rows":        {"\"rows\": 3", "\"rows\": 4"},
		"another place":    {`"column": 2`, `"column": 1`},
		"beyond the edge":  {`"column": 2`, `"column": 3`},
		"below":            {`"row": 0`, `"row": 2`},
		"not symmetric":    {`"symmetric": true`, `"symmetric": false`},
	} {
		if _, err := ReadIndex([]byte(strings.Replace(index, c[0], c[1], 1))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, err := ReadIndex([]byte(index))
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func([]byte) []byte{
		"another byte": func(b []byte) []byte { b[130]++; return b },
		"cut":          func(b []byte) []byte { return b[:len(b)-1] },
		"nothing":      func([]byte) []byte { return nil },
	} {
		read := func(_ context.Context, tile Tile) ([]byte, error) { return spoil(bytes.Clone(files[tile.Name])), nil }
		if err := Assemble(t.Context(), x, read, &buffer{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x.Tiles[0].Rows = 1
	read := func(_ context.Context, tile Tile) ([]byte, error) { return files[tile.Name], nil }
	if err := Assemble(t.Context(), x, read, &buffer{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("another shape: %v", err)
	}
}

// Whatever the bytes, reading gives a CORRUPT fault or a model that is described and writes itself down to
// the same bytes.
func FuzzModel(f *testing.F) {
	f.Add(mustRun(f, `{"kernel": "rbf"}`, three, 1, kernelops.Generic()).Model.Encode())
	f.Add(mustRun(f, `{"psd_sample": 0, "features": {"scale": "standard"}}`, three, 2,
		kernelops.Generic()).Model.Encode())
	f.Add(mustRun(f, `{}`, three, 2, kernelops.Generic(), jobstest.DenseRecords(three)).Model.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := jobs.Decode(data)
		if err != nil {
			return
		}
		m, err := jobs.Load[model](a)
		if err != nil {
			wantFault(t, "model", err, protocol.CodeCorrupt, "")
			return
		}
		if _, err := Kind().Describe(a, jobs.DescribeOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := jobs.Load[model](jobs.ArraysOf(m))
		if err != nil || back.index != m.index || back.rows != m.rows {
			t.Fatal(back, err)
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(mustRun(f, `{"tile": 2}`, three, 1, kernelops.Generic()).Files["tiles/index.json"])
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := ReadIndex(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		elements := int64(0)
		for _, tile := range x.Tiles {
			elements += int64(tile.Rows) * int64(tile.Columns)
		}
		if elements > x.Rows*x.Columns || x.Symmetric && 2*elements < x.Rows*x.Columns {
			t.Errorf("%d elements of %d x %d", elements, x.Rows, x.Columns)
		}
	})
}
