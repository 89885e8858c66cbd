package knn

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
)

// named gives records their ids.
func named(records []jobstest.Record, ids ...string) []jobstest.Record {
	for i := range records {
		records[i].ID = ids[i]
	}
	return records
}

// Of two records at the same distance the one with the lesser id is nearer, though it comes later; of ids the shorter
// is less.
func TestTiesByHand(t *testing.T) {
	for _, ids := range [][2]string{{"b", "a"}, {"10", "9"}} {
		base := named(jobstest.DenseRecords([][]float32{{1}, {-1}}, "1", "2"), ids[:]...)
		for shards := 1; shards <= 2; shards++ {
			j := job{base: base, queries: named(at(0), "q"), shards: shards}
			j.params = `{"k":1}`
			wantLines(t, joined(t, j.mustRun(t), listsFolder), "q,0,"+ids[1]+",1")
			j.params = `{"radius":1,"lists":"npy","mode":"regress"}`
			if got := cells(t, j.mustRun(t), listsFolder); fmt.Sprint(got) != "[[0 0 1 1 2] [0 1 0 1 1]]" {
				t.Errorf("%d shards: %v", shards, got)
			}
			j.params = `{"k":1,"mode":"classify","store_base":true}`
			r := j.mustRun(t)
			wantLines(t, joined(t, r, predictionsFolder), "q,2,1")
			wantLines(t, predicted(t, r.Model, j.queries), "0,2,1")
		}
	}
}

// cells are the rows of a folder in any format.
func cells(t rapid.TB, r jobstest.Result, folder string) (all [][]string) {
	t.Helper()
	var index parts.Index
	if err := json.Unmarshal(r.Files[folder+"/index.json"], &index); err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	for _, part := range index.Parts {
		data := r.Files[part.Name]
		if index.Format == parts.NPY {
			_, data, _ = bytes.Cut(data, []byte("\n"))
			numbers := make([]float64, len(data)/8)
			if _, err := binary.Decode(data, binary.LittleEndian, numbers); err != nil {
				t.Fatal(err)
			}
			for row := range slices.Chunk(numbers, len(index.Columns)) {
				all = append(all, strings.Fields(strings.Trim(fmt.Sprint(row), "[]")))
			}
			continue
		}
		for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			switch {
			case line == "" || index.Format == parts.CSV && i == 0:
			case index.Format == parts.CSV:
				all = append(all, strings.Split(line, ","))
			default:
				row, values := make([]string, len(index.Columns)), map[string]any{}
				if err := json.Unmarshal([]byte(line), &values); err != nil {
					t.Fatal(err)
				}
				for c, name := range index.Columns {
					row[c] = fmt.Sprint(values[name])
				}
				all = append(all, row)
			}
		}
	}
	return all
}

// told is what a job tells of its queries, in the order of their ids: lists, decisions and what the model decides.
func (j job) told(t rapid.TB) string {
	t.Helper()
	r, queries := j.mustRun(t), j.queries
	if queries == nil {
		queries = j.base
	}
	var lines []string
	idOf := func(records []jobstest.Record, cell string) string {
		if strings.HasPrefix(cell, "id-") {
			return cell
		}
		n, err := strconv.Atoi(cell)
		if err != nil {
			t.Fatal(err)
		}
		return records[n].ID
	}
	for _, folder := range []string{listsFolder, countsFolder, predictionsFolder} {
		if r.Files[folder+"/index.json"] == nil {
			continue
		}
		for _, row := range cells(t, r, folder) {
			if row[0] = idOf(queries, row[0]); folder == listsFolder {
				row[2] = idOf(j.base, row[2])
			}
			lines = append(lines, folder+" "+strings.Join(row, " "))
		}
	}
	if strings.Contains(j.params, `"store_base":true`) && !strings.Contains(j.params, `"mode":"search"`) {
		for line := range strings.Lines(predicted(t, r.Model, queries)) {
			query, decision, _ := strings.Cut(strings.TrimSpace(line), ",")
			lines = append(lines, fmt.Sprintf("model %s %s", idOf(queries, query), decision))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + fmt.Sprintf("\nmodel %s\n", jobstest.Digest(r.Model)) + measuredOf(r)
}

// measuredOf is the recall of a projection, or what an index by hashing found.
func measuredOf(r jobstest.Result) string {
	for _, m := range r.Metrics {
		if m.Name == collisionsMetric {
			return string(m.Value)
		}
		if m.Name == measuredMetric {
			recall, _, _ := strings.Cut(string(m.Value), `"pairs"`)
			return recall
		}
	}
	return ""
}

// ties are what jobs of the property are made of.
type ties struct {
	metrics []string
	record  func(rt *rapid.T) jobstest.Record
}

// grid are records of small numbers, many of which are as far from each other.
func grid(width, most int, sparse bool) func(*rapid.T) jobstest.Record {
	return func(rt *rapid.T) jobstest.Record {
		row := make([]float32, width)
		for j := range row {
			row[j] = float32(rapid.IntRange(0, most).Draw(rt, "coordinate"))
		}
		if sparse {
			return jobstest.SparseRecords(width, [][]float32{row})[0]
		}
		return jobstest.DenseRecords([][]float32{row})[0]
	}
}

func word(rt *rapid.T) jobstest.Record {
	return jobstest.Record{Text: rapid.StringMatching(`[ab]{0,3}`).Draw(rt, "text")}
}

// A table with ids says the same whatever the order of its rows and wherever it is cut: by every metric, mode and rule,
// in every format of lists, and by the model that it leaves.
func TestPermutedTable(t *testing.T) {
	numbers := `"l2","l1","linf","cosine","inner_product"`
	for name, of := range map[string]ties{
		"dense":     {metrics: strings.Split(numbers, ","), record: grid(3, 2, false)},
		"sparse":    {metrics: strings.Split(numbers, ","), record: grid(3, 2, true)},
		"bits":      {metrics: []string{`"hamming"`}, record: grid(70, 1, false)},
		"few bits":  {metrics: []string{`"hamming"`}, record: grid(4, 1, true)},
		"texts":     {metrics: []string{`"edit"`}, record: word},
		"projected": {metrics: []string{`"l2","projection":{"dims":2,"sample":20}`}, record: grid(3, 1, false)},
		"hashed": {metrics: []string{`"l2","index":"lsh","lsh":{"tables":2,"hashes":2,"width":2}`,
			`"l1","index":"lsh","lsh":{"recall":0.7,"sample":10}`, `"cosine","index":"lsh","lsh":{"recall":0.6}`},
			record: grid(3, 2, false)},
		"hashed, sparse": {metrics: []string{`"l2","index":"lsh"`}, record: grid(3, 2, true)},
		"hashed bits":    {metrics: []string{`"hamming","index":"lsh"`}, record: grid(70, 1, false)},
	} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, of.check) })
	}
}

func (of ties) check(rt *rapid.T) {
	drawn := func(what string, n int) []jobstest.Record {
		list := make([]jobstest.Record, n)
		for i := range list {
			list[i] = of.record(rt)
			list[i].Label = strconv.Itoa(rapid.IntRange(1, 4).Draw(rt, "label"))
			list[i].ID = fmt.Sprintf("id-%s%d", what, i*i)
		}
		return list
	}
	base := drawn("b", rapid.IntRange(4, 25).Draw(rt, "base"))
	j := job{base: base, shards: 1, ops: rapid.SampledFrom(kernelops.All()).Draw(rt, "ops")}
	rule := rapid.SampledFrom([]string{`"k":1`, `"k":3`, `"k":4,"weights":"distance"`, `"radius":1.5`,
		`"radius":2,"weights":"distance"`}).Draw(rt, "rule")
	mode := rapid.SampledFrom([]string{`"search","lists":"csv"`, `"search","lists":"jsonl"`, `"search","lists":"npy"`,
		`"classify"`, `"classify","ties":"nearest","lists":"csv"`, `"regress"`, `"regress","lists":"npy"`}).Draw(rt, "mode")
	metric := rapid.SampledFrom(of.metrics).Draw(rt, "metric")
	if strings.HasPrefix(metric, `"inner`) {
		rule = strings.Replace(rule, `,"weights":"distance"`, "", 1)
		rule = strings.Replace(rule, `radius":`, `radius":-`, 1)
	}
	j.params = fmt.Sprintf(`{"mode":%s,"metric":%s,%s`, mode, metric, rule)
	switch rapid.IntRange(0, 3).Draw(rt, "queries") {
	case 0:
		j.test = 0.4
	case 1, 2:
		j.queries = drawn("q", rapid.IntRange(1, 5).Draw(rt, "asked"))
	}
	if rapid.Bool().Draw(rt, "store") {
		j.params += `,"store_base":true`
	}
	j.params += "}"
	want := j.told(rt)
	j.base = rapid.Permutation(base).Draw(rt, "order")
	if j.queries != nil {
		j.queries = rapid.Permutation(j.queries).Draw(rt, "order of queries")
	}
	j.shards, j.block = rapid.IntRange(1, 5).Draw(rt, "shards"), rapid.IntRange(1, 9).Draw(rt, "block")
	j.files = rapid.Bool().Draw(rt, "files")
	sameLists(rt, j.params, j.told(rt), want)
}

// Rows of 4 MiB, four of which fill a chunk: a leaf goes through several chunks, whose ids interleave.
func TestTiesAcrossChunks(t *testing.T) {
	rows, ids := make([][]float32, 11), make([]string, 11)
	for i := range rows {
		rows[i] = slices.Repeat([]float32{float32(i % 2)}, 1<<20)
		ids[i] = strconv.Itoa(i * 7 % 11) // 0 7 3 10 6 2 9 5 1 8 4
	}
	j := job{base: named(jobstest.DenseRecords(rows), ids...), queries: named(jobstest.DenseRecords(rows[:1]), "q"),
		params: `{"metric":"l2","k":4}`, block: 1}
	wantLines(t, joined(t, j.mustRun(t), listsFolder), "q,0,0,0", "q,1,1,0", "q,2,3,0", "q,3,4,0")
	j.params = `{"metric":"l1","radius":0,"lists":"npy"}`
	got := cells(t, j.mustRun(t), listsFolder)
	numbers := make([]string, len(got))
	for i, row := range got {
		numbers[i] = row[2]
	}
	if want := "0 8 2 10 4 6"; strings.Join(numbers, " ") != want {
		t.Errorf("records %v, want %s", numbers, want)
	}
}

// Merges of what leaves found of a base with ids are the same in any brackets, and a job in any grouping.
func TestMergesOfNames(t *testing.T) {
	rows, ids := make([][]float32, 40), make([]string, 40)
	for i := range rows {
		rows[i] = []float32{float32(i % 3), float32(i % 2), 1}
		ids[i] = strconv.Itoa(i * 17 % 40)
	}
	records := named(jobstest.DenseRecords(rows, slices.Repeat([]string{"1", "2"}, 20)...), ids...)
	shards := jobstest.Deal(records, 7)
	for _, params := range []string{`{"k":5}`, `{"radius":1,"mode":"classify","store_base":true}`,
		`{"k":3,"projection":{"dims":2}}`,
		`{"k":3,"index":"lsh","lsh":{"tables":2,"hashes":2,"width":2}}`, `{"k":3,"mode":"regress","lists":"npy","store_base":true}`} {
		j := job{params: params, base: records}
		algorithm, err := j.algorithm()
		if err != nil {
			t.Fatal(err)
		}
		jobstest.CheckGrouping(t, algorithm, j.spec(), shards, kernelops.Best())
		state, err := stateOf(algorithm, shards)
		if err != nil {
			t.Fatal(err)
		}
		search := algorithm.Phases()[1]
		var partials []jobs.Arrays
		for i := range shards {
			partial, _, err := search.Map(t.Context(), state, jobstest.Leaf(3, i, jobstest.Shards(shards, 4)), nil,
				kernelops.Best())
			if err != nil {
				t.Fatal(err)
			}
			partials = append(partials, partial)
		}
		jobstest.CheckAssociative(t, search.Merge, partials)
	}
}

// stateOf is the state of the search of a base.
func stateOf(algorithm jobs.Algorithm, shards [][]jobstest.Record) (jobs.Arrays, error) {
	index := algorithm.Phases()[0]
	var root jobs.Arrays
	for i := range shards {
		leaf := jobstest.Leaf(0, i, jobstest.Shards(shards, 4))
		partial, _, err := index.Map(context.Background(), jobs.Arrays{}, leaf, nil, kernelops.Best())
		if err == nil && i > 0 {
			partial, err = index.Merge(root, partial)
		}
		if err != nil {
			return nil, err
		}
		root = partial
	}
	next, err := index.Step(context.Background(), jobs.Arrays{}, jobs.RoundOf(jobs.Plan{Shards: len(shards)}, root))
	return next.State, err
}
