package knn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/lsh"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Buckets so wide that all records lie in one or two: the exact lists, ties and all.
func TestWideBucketsFindAll(t *testing.T) {
	for _, shards := range []int{1, 3} {
		j := job{params: `{"k":3,"index":"lsh","lsh":{"tables":8,"hashes":1,"width":1e6}}`, base: line(),
			queries: at(3, 9), shards: shards}
		r := j.mustRun(t)
		wantLines(t, joined(t, r, listsFolder), "0,0,1,0", "0,1,2,0", "0,2,3,1", "1,0,4,1", "1,1,3,5", "1,2,1,6")
		c := collided(t, r)
		if c.Candidates != 5 || c.Share != 1 || c.Recall != 1 || c.Short != 0 || c.Sampled != 2 || c.Neighbors != 6 {
			t.Errorf("%+v", c)
		}
	}
}

// Buckets so narrow that only equal records share one: the duplicates are found, and short lists are counted.
func TestNarrowBucketsFindDuplicates(t *testing.T) {
	j := job{params: `{"k":2,"index":"lsh","lsh":{"tables":1,"hashes":2,"width":1e-6}}`, base: line()}
	r := j.mustRun(t)
	wantLines(t, joined(t, r, listsFolder), "1,0,2,0", "2,0,1,0")
	c := collided(t, r)
	if c.Short != 5 || c.Queries != 5 || c.Candidates != 0.4 || c.Share != 0.08 || c.Neighbors != 10 ||
		c.Recall != 0.2 {
		t.Errorf("%+v", c)
	}
	j.params = strings.Replace(j.params, `"k":2`, `"k":9`, 1) // of four other records
	if c := collided(t, j.mustRun(t)); c.Short != 5 {
		t.Errorf("%+v", c)
	}
	j.params = strings.Replace(j.params, `"k":9`, `"radius":1`, 1) // 3, 3 and 4 have two each
	if c := collided(t, j.mustRun(t)); c.Short != 0 || c.Neighbors != 6 || c.Recall != 2./6 {
		t.Errorf("%+v", c)
	}
	j.params = strings.Replace(j.params, `"radius":1`, `"k":2,"lists":"npy"`, 1)
	if got := j.mustRun(t).Files["indices/part-000000.npy"]; len(got) < 16 || got[len(got)-1] != 0xff {
		t.Error("a short list is not padded with -1")
	}
}

// collidingPairs are the pairs of rows that share a key.
func collidingPairs(t *testing.T, of metric, seed uint64, tables, hashes int, width float64, x [][]float32) [][]bool {
	t.Helper()
	s := &space{params: Params{Metric: of}}
	family, _ := of.family()
	c := lsh.Curve{Family: family, Width: width, Tables: tables, Hashes: hashes, Columns: len(x[0])}
	r := rows.New(rows.Dense, len(x[0]))
	if s.params.Metric == hamming {
		r = rows.New(rows.Bits, len(x[0]))
	}
	for _, row := range x {
		r.N++
		if r.Form == rows.Dense {
			r.Dense = append(r.Dense, row...)
			continue
		}
		word := uint64(0)
		for j, v := range row {
			word |= uint64(v) << j
		}
		r.Bits = append(r.Bits, word)
	}
	keys := make([]uint64, len(x)*tables)
	lsh.NewHasher(c, r.Form, seed).Keys(kernelops.Generic(), keys, &r, 0, r.N)
	pairs := make([][]bool, len(x))
	for i := range x {
		for k := range x {
			same := false
			for t := range tables {
				same = same || keys[i*tables+t] == keys[k*tables+t]
			}
			pairs[i] = append(pairs[i], same)
		}
	}
	return pairs
}

// The lists are those of all pairs that collide, ranked as the exact search ranks; dense or sparse, by every kernel
// set, however records are cut, and so is what is measured.
func TestHashedSearchIsTheDefinition(t *testing.T) {
	x := grown01(100, 9)
	for _, of := range []metric{l2, l1, cosine, hamming} {
		width, section := 0.0, `"tables":3,"hashes":4`
		if family, _ := of.family(); family.Wide() {
			width = map[metric]float64{l2: 3, l1: 12}[of]
			section += fmt.Sprintf(`,"width":%v`, width)
		}
		pairs := collidingPairs(t, of, 7, 3, 4, width, x)
		var want strings.Builder
		candidates := 0
		for q := range 20 {
			var all []neighbor
			for i := range 80 {
				if pairs[80+q][i] {
					all = append(all, neighbor{key: plain(of, x[80+q], x[i]), id: int64(i)})
				}
			}
			candidates += len(all)
			slices.SortFunc(all, neighbor.compare)
			for rank, n := range all[:min(3, len(all))] {
				fmt.Fprintf(&want, "%d,%d,%d,%v\n", q, rank, n.id, of.distance(n.key))
			}
		}
		if candidates < 100 || candidates > 1400 {
			t.Fatalf("%s: %d candidates of 1600", of, candidates)
		}
		j := job{params: fmt.Sprintf(`{"k":3,"metric":%q,"index":"lsh","lsh":{%s,"sample":8}}`, of, section)}
		first := ""
		for i, ops := range kernelops.All() {
			for shards := 1; shards <= 4; shards++ {
				j.ops, j.shards, j.block = ops, shards, 3+i
				j.base, j.queries = jobstest.DenseRecords(x[:80]), jobstest.DenseRecords(x[80:])
				if shards%2 == 0 {
					j.base, j.queries = jobstest.SparseRecords(9, x[:80]), jobstest.SparseRecords(9, x[80:])
				}
				r := j.mustRun(t)
				sameLists(t, string(of)+" "+ops.Name, joined(t, r, listsFolder), want.String())
				if got := metricOf(t, r, collisionsMetric); first == "" {
					first = got
				} else if got != first {
					t.Errorf("%s, %s, %d shards: %s, not %s", of, ops.Name, shards, got, first)
				}
			}
		}
		if c := collided(t, j.mustRun(t)); c.Candidates != float64(candidates)/20 || c.Sampled == 0 || c.Sampled == 20 {
			t.Errorf("%s: %d candidates, %+v", of, candidates, c)
		}
	}
}

// grown01 are rows of 0 and 1.
func grown01(n, width int) [][]float32 {
	x := cloud(n, width)
	for i := range x {
		for j, v := range x[i] {
			x[i][j] = 0
			if v > 0 {
				x[i][j] = 1
			}
		}
	}
	return x
}

// What is chosen for a recall is the same however records are cut, dense or sparse, with and without queries.
func TestChosenTablesDependOnTheRecordsAlone(t *testing.T) {
	x := grown01(90, 12)
	for _, of := range []string{`"l2"`, `"l1"`, `"cosine"`, `"hamming"`, `"l2","radius":1.5`} {
		for _, asked := range []int{0, 10} {
			want := ""
			for shards := 1; shards <= 3; shards++ {
				j := job{params: `{"metric":` + of + `,"index":"lsh"}`, shards: shards, block: 5 + shards,
					ops: kernelops.All()[shards%len(kernelops.All())]}
				records := func(x [][]float32) []jobstest.Record { return jobstest.DenseRecords(x) }
				if shards == 2 {
					records = func(x [][]float32) []jobstest.Record { return jobstest.SparseRecords(12, x) }
				}
				if j.base = records(x[asked:]); asked > 0 {
					j.queries = records(x[:asked])
				}
				r := j.mustRun(t)
				got := metricOf(t, r, chosenMetric) + metricOf(t, r, collisionsMetric) + joined(t, r, listsFolder)
				if want == "" {
					want = got
				}
				sameLists(t, of, got, want)
			}
		}
	}
}

// The one record of a base has no neighbors and no distances; tables are chosen all the same.
func TestTablesOfOneRecord(t *testing.T) {
	for _, records := range [][]jobstest.Record{line()[:1], at(0), at(2, 2, 2)} {
		r := job{params: `{"index":"lsh"}`, base: records}.mustRun(t)
		if c := collided(t, r); c.Tables < 1 || c.Hashes < 1 || !(c.Width > 0) || c.Short != 0 {
			t.Errorf("%+v", c)
		}
	}
}

func TestFaultsOfAnIndex(t *testing.T) {
	for params, what := range map[string]string{
		`{"index":"lsh","metric":"linf"}`:                     "no hash functions for metric linf",
		`{"index":"lsh","metric":"precomputed"}`:              "no hash functions for metric precomputed",
		`{"index":"lsh","metric":"edit"}`:                     "no hash functions for metric edit",
		`{"index":"lsh","lsh":{"tables":0,"hashes":2}}`:       "tables is from 1 to 1024, not 0",
		`{"index":"lsh","lsh":{"tables":2,"hashes":65}}`:      "hashes is from 1 to 64, not 65",
		`{"index":"lsh","lsh":{"tables":2}}`:                  "given together",
		`{"index":"lsh","lsh":{"tables":2,"hashes":2}}`:       "lsh.width is needed",
		`{"index":"lsh","lsh":{"recall":1}}`:                  "recall is in (0, 1)",
		`{"index":"lsh","lsh":{"recall":0.5,"tables":2}}`:     "recall excludes tables",
		`{"index":"lsh","lsh":{"width":0}}`:                   "width is from 1e-30",
		`{"index":"lsh","lsh":{"sample":-1}}`:                 "sample is from 0",
		`{"index":"lsh","lsh":{"tabels":2}}`:                  `"tables"`,
		`{"index":"lsh","metric":"cosine","lsh":{"width":1}}`: "with metric cosine a hash value has no width",
		`{"index":"lsh","projection":{"dims":2}}`:             "exclude each other",
		`{"index":"lsh","radius":1,"counts":true}`:            "counts is of index exact",
		`{"lsh":{"recall":0.5}}`:                              "set index to lsh",
		`{"index":"exact","lsh":{"recall":0.5}}`:              "set index to lsh",
		`{"index":"hnsw"}`:                                    "index is one of",
	} {
		_, err := Kind().Defaults(json.RawMessage(params))
		wantFault(t, err, protocol.CodeSpecInvalid, what)
	}
	wide := jobstest.SparseRecords(1<<20, [][]float32{{1}, {2}})
	_, err := job{params: `{"index":"lsh","metric":"cosine","lsh":{"tables":3,"hashes":3}}`, base: wide}.run(t)
	wantFault(t, err, protocol.CodeInputLimit, "9437184 in all, at most 8388608")
	_, err = job{params: `{"index":"lsh","metric":"cosine","lsh":{"recall":0.999999}}`, base: at(1, -1)}.run(t)
	wantFault(t, err, protocol.CodeSpecInvalid, "lsh.recall 0.999999 is not reached")
}

// Specs without an index, and with the exact one, have the parameters that they had.
func TestTheExactIndexHasNoName(t *testing.T) {
	plain, err := Kind().Defaults(json.RawMessage(`{}`))
	if err != nil || strings.Contains(string(plain), "index") || strings.Contains(string(plain), "lsh") {
		t.Errorf("%s, %v", plain, err)
	}
	exact, err := Kind().Defaults(json.RawMessage(`{"index":"exact"}`))
	if err != nil || string(exact) != string(plain) {
		t.Errorf("%s, %v", exact, err)
	}
	once, err := Kind().Defaults(json.RawMessage(`{"index":"lsh"}`))
	if err != nil || !strings.Contains(string(once), `"lsh":{"recall":0.9,"sample":1000}`) {
		t.Errorf("%s, %v", once, err)
	}
	if twice, err := Kind().Defaults(once); err != nil || string(twice) != string(once) {
		t.Errorf("%s, then %s, %v", once, twice, err)
	}
}

// A state or model whose tables do not fit is refused.
func TestHostileIndexes(t *testing.T) {
	r := job{params: `{"index":"lsh","mode":"classify","store_base":true,"lsh":{"tables":2,"hashes":3,"width":2}}`,
		base: line()}.mustRun(t)
	for name, spoil := range map[string]func(jobs.Arrays){
		"no tables": func(a jobs.Arrays) { jobs.PutScalar(a, "lsh.tables", int64(0)) },
		"no hashes": func(a jobs.Arrays) { jobs.PutScalar(a, "lsh.hashes", int64(0)) },
		"neither": func(a jobs.Arrays) {
			jobs.PutScalar(a, "lsh.tables", int64(0))
			jobs.PutScalar(a, "lsh.hashes", int64(0))
		},
		"many tables":    func(a jobs.Arrays) { jobs.PutScalar(a, "lsh.tables", int64(1<<40)) },
		"a width of 0":   func(a jobs.Arrays) { jobs.PutScalar(a, "lsh.width", 0.0) },
		"no width":       func(a jobs.Arrays) { delete(a, "lsh.width") },
		"a narrow width": func(a jobs.Arrays) { jobs.PutScalar(a, "lsh.width", 1e-300) },
	} {
		model, err := jobs.Decode(r.Model.Encode())
		if err != nil {
			t.Fatal(err)
		}
		spoil(model)
		if _, err = Load(model, kernelops.Best()); err == nil {
			t.Errorf("%s: loaded", name)
		}
		wantFault(t, err, protocol.CodeCorrupt, "")
	}
}
