package knn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// predicted is what a model says of records, as the job writes it of its queries.
func predicted(t rapid.TB, model jobs.Arrays, records []jobstest.Record) string {
	t.Helper()
	model, err := jobs.Decode(model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	n := 0
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 3)[0](context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(context.Background(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			switch {
			case p.Answers().Labels != nil:
				fmt.Fprintf(&out, "%d,%s,%v\n", n, o.Label, o.Value)
			case !o.Rejected:
				fmt.Fprintf(&out, "%d,%v\n", n, o.Value)
			}
			n++
		}
	}
	return out.String()
}

// The model of a job with store_base predicts what the job decided, in every form of record.
func TestModelPredictsWhatTheJobDecided(t *testing.T) {
	rows, labels := digits(t)
	bits := make([][]float32, len(rows))
	for i, row := range rows {
		bits[i] = make([]float32, len(row))
		for j, v := range row {
			if v > 7 {
				bits[i][j] = 1
			}
		}
	}
	dense, ones := jobstest.DenseRecords(rows, labels...), jobstest.DenseRecords(bits, labels...)
	sparse := jobstest.SparseRecords(64, rows, labels...)
	texts := make([]jobstest.Record, 60)
	for i := range texts {
		texts[i] = jobstest.Record{Label: labels[i], Text: fmt.Sprint(rows[i][:9])}
	}
	for _, c := range []struct {
		params  string
		records []jobstest.Record
	}{
		{`{"mode":"classify","k":3`, dense},
		{`{"mode":"classify","k":3,"weights":"distance","features":{"scale":"standard"}`, dense},
		{`{"mode":"classify","radius":18,"reject_below":0.9`, dense},
		{`{"mode":"regress","metric":"l1"`, dense},
		{`{"mode":"regress","radius":15`, dense},
		{`{"mode":"classify","metric":"cosine"`, sparse},
		{`{"mode":"classify","metric":"hamming"`, ones},
		{`{"mode":"classify","projection":{"dims":20}`, dense},
		{`{"mode":"classify","projection":{"dims":20}`, sparse},
		{`{"mode":"classify","metric":"edit"`, texts},
		{`{"mode":"classify","index":"lsh"`, dense},
		{`{"mode":"classify","index":"lsh","metric":"cosine","lsh":{"tables":3,"hashes":5}`, sparse},
		{`{"mode":"regress","index":"lsh","metric":"hamming"`, ones},
	} {
		base, queries := c.records[:50], c.records[50:60]
		r := job{params: c.params + `,"store_base":true}`, base: base, queries: queries, shards: 3}.mustRun(t)
		if got, want := predicted(t, r.Model, queries), joined(t, r, predictionsFolder); got != want {
			t.Errorf("%s: the model says\n%snot\n%s", c.params, got, want)
		}
		if text, err := Kind().Describe(r.Model, jobs.DescribeOptions{}); err != nil ||
			!strings.Contains(text, "base: 50 records") {
			t.Errorf("%s: %q, %v", c.params, text, err)
		}
	}
}

// Only a job with store_base and something to decide leaves a model that predicts.
func TestModelsThatDoNotPredict(t *testing.T) {
	for params, what := range map[string]string{
		`{"mode":"classify"}`:                       "does not hold its base",
		`{"store_base":true}`:                       "mode search",
		`{"leave_one_out":false,"store_base":true}`: "mode search",
	} {
		r := job{params: params, base: line()}.mustRun(t)
		_, err := Load(r.Model, kernelops.Best())
		wantFault(t, err, protocol.CodeSpecInvalid, what)
	}
}

func TestPredictRefuses(t *testing.T) {
	r := job{params: `{"mode":"classify","store_base":true}`, base: line()}.mustRun(t)
	p, err := Load(r.Model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block := range jobstest.Shards([][]jobstest.Record{jobstest.DenseRecords([][]float32{{1, 2}})},
		1)[0](t.Context()) {
		_, err = p.Predict(t.Context(), block)
		wantFault(t, err, protocol.CodeBadRecord, "width 2")
	}
}

func storedModel(t testing.TB, params string, records []jobstest.Record) jobs.Arrays {
	return job{params: params, base: records, queries: records[:1]}.mustRun(t).Model
}

func TestHostileModels(t *testing.T) {
	sparse := jobstest.SparseRecords(2, [][]float32{{1, 0}, {2, 3}, {0, 1}}, "a", "b", "a")
	words := []jobstest.Record{{Label: "a", Text: "x"}, {Label: "b", Text: "y"}}
	const dense, params = "dense", `{"mode":"classify","k":1,"store_base":true}`
	models := map[string]func() jobs.Arrays{
		dense:    func() jobs.Arrays { return storedModel(t, params, line()) },
		"sparse": func() jobs.Arrays { return storedModel(t, params, sparse) },
		"projected": func() jobs.Arrays {
			return storedModel(t, `{"mode":"classify","k":1,"store_base":true,"projection":{"dims":2}}`, sparse)
		},
		"texts": func() jobs.Arrays {
			return storedModel(t, `{"mode":"classify","k":1,"store_base":true,"metric":"edit"}`, words)
		},
	}
	for _, c := range []struct {
		model, name string
		spoil       func(jobs.Arrays)
	}{
		{dense, "another kind", func(a jobs.Arrays) { a.PutKind("KMeans", 1) }},
		{dense, "another version", func(a jobs.Arrays) { a.PutKind(KindName, 2) }},
		{dense, "no params", func(a jobs.Arrays) { delete(a, "params") }},
		{dense, "invalid params", func(a jobs.Arrays) { a.PutText("params", `{"k":0}`) }},
		{dense, "params of another metric", func(a jobs.Arrays) {
			a.PutText("params", `{"mode":"classify","store_base":true,"metric":"hamming"}`)
		}},
		{dense, "params of texts", func(a jobs.Arrays) {
			a.PutText("params", `{"mode":"classify","store_base":true,"metric":"edit"}`)
		}},
		{dense, "params of a search", func(a jobs.Arrays) { a.PutText("params", `{"store_base":true}`) }},
		{dense, "no base", func(a jobs.Arrays) { delete(a, "base.ids") }},
		{dense, "fewer rows", func(a jobs.Arrays) { jobs.Put(a, "base.ids", []int64{0, 1}) }},
		{dense, "ids fall", func(a jobs.Arrays) { jobs.Put(a, "base.ids", []int64{0, 1, 2, 2, 4}) }},
		{dense, "a negative id", func(a jobs.Arrays) { jobs.Put(a, "base.ids", []int64{-1, 1, 2, 3, 4}) }},
		{dense, "a class beyond", func(a jobs.Arrays) { jobs.Put(a, "base.target", []float64{0, 1, 2, 0, 0}) }},
		{dense, "half a class", func(a jobs.Arrays) { jobs.Put(a, "base.target", []float64{0, 1, 0.5, 0, 0}) }},
		{dense, "no targets", func(a jobs.Arrays) { delete(a, "base.target") }},
		{dense, "NaN", func(a jobs.Arrays) {
			jobs.Put(a, rows.ArrayDense, []float32{0, 1, float32(math.NaN()), 2, 3}, 5,
				1)
		}},
		{dense, "another width", func(a jobs.Arrays) { jobs.Put(a, rows.ArrayDense, make([]float32, 10), 5, 2) }},
		{dense, "records of another number", func(a jobs.Arrays) { jobs.PutScalar(a, "features.records", int64(6)) }},
		{"sparse", "a column beyond", func(a jobs.Arrays) { jobs.Put(a, rows.ArrayIndices, []int32{0, 0, 2, 1}) }},
		{"sparse", "a column twice", func(a jobs.Arrays) { jobs.Put(a, rows.ArrayIndices, []int32{0, 1, 1, 1}) }},
		{"sparse", "rows fall", func(a jobs.Arrays) { jobs.Put(a, rows.ArrayIndptr, []int64{0, 3, 1, 4}) }},
		{"sparse", "dense rows", func(a jobs.Arrays) {
			delete(a, rows.ArrayIndptr)
			jobs.Put(a, rows.ArrayDense, make([]float32, 6), 3, 2)
		}},
		{"projected", "no dimensions", func(a jobs.Arrays) { jobs.PutScalar(a, "projection.dims", int64(0)) }},
		{"projected", "too many", func(a jobs.Arrays) { jobs.PutScalar(a, "projection.dims", int64(1)<<40) }},
		{"projected", "other dimensions", func(a jobs.Arrays) { jobs.PutScalar(a, "projection.dims", int64(3)) }},
		{"sparse", "a width that no memory holds",
			func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(1)<<30) }},
		{"texts", "fewer texts", func(a jobs.Arrays) { a.PutStrings(rows.ArrayTexts, jobs.StringsOf("x")) }},
		{"texts", "no labels", func(a jobs.Arrays) { a.PutStrings("labels", jobs.Strings{}) }},
	} {
		model := models[c.model]()
		c.spoil(model)
		_, err := Load(model, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt && fault.Code != protocol.CodeInputLimit {
			t.Errorf("%s, %s: want CORRUPT, got %v", c.model, c.name, err)
		}
		if _, err := Kind().Describe(model, jobs.DescribeOptions{}); err == nil {
			t.Errorf("%s, %s: described", c.model, c.name)
		}
	}
}

// Whatever bytes a model has, it is refused or it predicts.
func FuzzModel(f *testing.F) {
	sparse := jobstest.SparseRecords(2, [][]float32{{1, 0}, {2, 3}, {0, 1}}, "a", "b", "a")
	words := []jobstest.Record{{Label: "a", Text: "x"}, {Label: "b", Text: "y"}}
	f.Add(storedModel(f, `{"mode":"classify","k":1,"store_base":true}`, line()).Encode())
	f.Add(storedModel(f, `{"mode":"classify","k":1,"store_base":true,"projection":{"dims":2}}`, sparse).Encode())
	f.Add(storedModel(f, `{"mode":"classify","k":1,"store_base":true,"metric":"edit"}`, words).Encode())
	queries := [][]jobstest.Record{jobstest.DenseRecords([][]float32{{1}}),
		jobstest.SparseRecords(2, [][]float32{{1, 2}}), words}
	f.Fuzz(func(t *testing.T, data []byte) {
		model, err := jobs.Decode(data)
		if err != nil {
			return
		}
		p, err := Load(model, kernelops.Generic())
		if err != nil {
			return
		}
		for _, records := range queries {
			for block := range jobstest.Shards([][]jobstest.Record{records}, 9)[0](t.Context()) {
				_, err := p.Predict(t.Context(), block)
				var fault *protocol.Fault
				if err != nil && !errors.As(err, &fault) {
					t.Fatal(err)
				}
			}
		}
	})
}

// A base that stays may be more than one tile: what is packed of one is not of another.
func TestStoredBaseOfSeveralTiles(t *testing.T) {
	for _, queries := range []int{300, 1000} {
		const width, n, k = 1024, 10000, 3 // tiles of 4096 rows
		r := rand.New(rand.NewPCG(5, 6))
		fill := func(n int) *points {
			p := &points{Rows: rows.New(rows.Dense, width)}
			p.N, p.Dense = n, make([]float32, n*width)
			for i := range p.Dense {
				p.Dense[i] = float32(r.IntN(256))
			}
			for i := range n {
				p.ids = append(p.ids, int64(i))
			}
			return p
		}
		base, x := fill(n), fill(queries)
		p := Params{Mode: modeSearch, Metric: l2}
		three := k
		p.K = &three
		found := func(kept *kernelops.Base, x, base *points) *lists {
			l := &lists{rule: p.rule(), of: l2}
			s := p.searcher(kernelops.Best(), x, l)
			s.kept = kept
			if err := s.search(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			return l
		}
		want := found(nil, x, base)
		for name, got := range map[string]*lists{
			"dense": found(&kernelops.Base{}, x, base), "sparse": found(&kernelops.Base{}, sparsely(x), sparsely(base)),
		} {
			for q := range want.rows {
				if fmt.Sprint(got.rows[q]) != fmt.Sprint(want.rows[q]) {
					t.Fatalf("%s, query %d of %d: %v, want %v", name, q, queries, got.rows[q], want.rows[q])
				}
			}
		}
	}
}

// sparsely is the same points by their entries that are not 0: few are 0, so they are searched as dense ones.
func sparsely(p *points) *points {
	s := &points{Rows: rows.New(rows.Sparse, p.Width), ids: p.ids}
	for i := range p.N {
		for j, v := range p.Dense[i*p.Width:][:p.Width] {
			if v != 0 {
				s.Sparse.Indices, s.Sparse.Values = append(s.Sparse.Indices, int32(j)), append(s.Sparse.Values, v)
			}
		}
		s.N++
		s.Sparse.Indptr = append(s.Sparse.Indptr, len(s.Sparse.Indices))
	}
	return s
}

// TestModelOfSeveralTiles is the same as a job and its model.
func TestModelOfSeveralTiles(t *testing.T) {
	const width, n = 784, 6400 // tiles of 5349 rows, or 6017
	r := rand.New(rand.NewPCG(7, 8))
	data, labels := make([][]float32, n), make([]string, n)
	for i := range data {
		data[i] = make([]float32, width)
		for j := range data[i] {
			data[i][j] = float32(r.IntN(256))
		}
		labels[i] = string(rune('a' + r.IntN(10)))
	}
	all := jobstest.DenseRecords(data, labels...)
	base, queries := all[:n-60], all[n-60:]
	params := `{"mode":"classify","k":3,"store_base":true}`
	run := job{params: params, base: base, queries: queries, shards: 3}.mustRun(t)
	if got, want := predicted(t, run.Model, queries), joined(t, run, predictionsFolder); got != want {
		t.Errorf("the model says\n%snot\n%s", got, want)
	}
}
