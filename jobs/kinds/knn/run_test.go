package knn

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// indexOf is an index of shards of equally many dense records.
func indexOf(t *testing.T, of metric, shards, records, width int) *index {
	t.Helper()
	j := job{params: fmt.Sprintf(`{"metric":%q}`, of)}
	algorithm, err := j.algorithm()
	if err != nil {
		t.Fatal(err)
	}
	state, err := stateOf(algorithm, [][]jobstest.Record{jobstest.DenseRecords([][]float32{{0, 1}, {1, 0}})})
	if err != nil {
		t.Fatal(err)
	}
	in, err := newPlan(Params{Metric: of}, j.spec(), usual).readIndex(state)
	if err != nil {
		t.Fatal(err)
	}
	in.vectors.Width, in.offsets = width, nil
	for i := range shards + 1 {
		in.offsets = append(in.offsets, int64(i*records))
	}
	return in
}

// With 2^14 records of 96 columns a shard, a pair is 96 + 32 = 2^7 columns of work, and a pair of shards 2^35.
func TestLeavesByHand(t *testing.T) {
	for _, c := range []struct {
		what          string
		in            *index
		trees, leaves int
	}{
		{what: "2^42 a tree is 1.33 of the most, 3 2^40", in: indexOf(t, l2, 128, 1<<14, 96), trees: 128,
			leaves: 2},
		{what: "2^41 a tree, of 2^47 in all a 48th is 1.33 2^41", in: indexOf(t, l2, 64, 1<<14, 96), trees: 64,
			leaves: 1},
		{what: "one shard of queries: 2^41, by 2^38", in: indexOf(t, cosine, 64, 1<<14, 96), trees: 1, leaves: 8},
		{what: "few records", in: indexOf(t, l2, 40, 10, 96), trees: 40, leaves: 1},
		{what: "differences: 8 for a column, a tree eight 48ths of all", in: indexOf(t, l1, 8, 1<<14, 512), trees: 8,
			leaves: 6},
		{what: "places: 2^12 a pair, 2^43 a tree, eight 48ths of all", in: indexOf(t, haversine, 8, 1<<14, 2), trees: 8,
			leaves: 6},
		{what: "a leaf has a shard at least", in: indexOf(t, l2, 3, 1<<20, 96), trees: 3, leaves: 3},
	} {
		if got := c.in.leaves(usual, c.trees); got != c.leaves {
			t.Errorf("%s: %d leaves, want %d", c.what, got, c.leaves)
		}
	}
	texts := &index{space: &space{params: Params{Metric: edit}}, offsets: []int64{0, 1 << 14, 1 << 15}}
	if got := texts.leaves(usual, 2); got != 2 {
		t.Errorf("texts: %d leaves", got)
	}
}

// A leaf that a tree does not have is damaged input, and so is a shard that has other records than were counted.
func TestRunsOfDamagedInput(t *testing.T) {
	for _, leaf := range []int{-1, 2} {
		_, err := indexOf(t, l2, 2, 10, 3).run(leafOfShard, 2, leaf)
		wantFault(t, err, protocol.CodeCorrupt, "of 2 over 2 shards")
	}
	shards := jobstest.Deal(line(), 2)
	j := job{params: `{"k":1}`, base: line()}
	algorithm, err := j.algorithm()
	if err != nil {
		t.Fatal(err)
	}
	state, err := stateOf(algorithm, shards)
	if err != nil {
		t.Fatal(err)
	}
	shards[1] = shards[1][:1]
	_, _, err = algorithm.Phases()[1].Map(t.Context(), state, jobstest.Leaf(0, 1, jobstest.Shards(shards, 4)), nil,
		kernelops.Best())
	wantFault(t, err, protocol.CodeCorrupt, "shard 1 ends at record")
}

// However the base is dealt to leaves, a job has the same files and metrics, of any metric and rule.
func TestRunsNeverShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 20).Draw(t, "width")
		value := rapid.SampledFrom([]float32{0, 0, 1, 1, 2, 0.1}) // ties, duplicates, rows of zeros
		rows, labels := make([][]float32, rapid.IntRange(5, 60).Draw(t, "rows")), []string(nil)
		for i := range rows {
			rows[i] = rapid.SliceOfN(value, width, width).Draw(t, "row")
			labels = append(labels, strconv.Itoa(i%3))
		}
		j := job{base: jobstest.DenseRecords(rows, labels...), shards: rapid.IntRange(1, 9).Draw(t, "shards"),
			block: rapid.IntRange(1, 20).Draw(t, "block")}
		j.params = rapid.SampledFrom([]string{`{"k":4}`, `{"k":3,"metric":"cosine"}`, `{"k":3,"metric":"l1"}`,
			`{"radius":2}`, `{"k":2,"mode":"classify","metric":"inner_product"}`,
			`{"k":3,"projection":{"dims":2,"sample":5}}`,
			`{"k":3,"index":"lsh","lsh":{"tables":3,"hashes":2,"width":2}}`}).Draw(t, "params")
		if rapid.Bool().Draw(t, "ids") {
			ids := make([]string, len(rows))
			for i := range ids {
				ids[i] = strconv.Itoa(i * 7919 % 100_003)
			}
			j.base = named(j.base, ids...)
		}
		want := j.mustRun(t)
		j.grain = grain{enough: 1, least: float64(rapid.IntRange(1, 1<<20).Draw(t, "work")), most: 1 << 40}
		got := j.mustRun(t)
		if !maps.EqualFunc(got.Files, want.Files, bytes.Equal) {
			t.Error("other files")
		}
		if !slices.EqualFunc(got.Metrics, want.Metrics, func(a, b jobs.Metric) bool {
			return a.Name == b.Name && bytes.Equal(a.Value, b.Value)
		}) {
			t.Errorf("other metrics:\n%v\n%v", got.Metrics, want.Metrics)
		}
	})
}

// leafOfShard makes a leaf of each shard of the base, however small: so tests merge what leaves found.
var leafOfShard = grain{enough: 1, least: 1, most: 1}

// algorithm is New with the grain of the job.
func (j job) algorithm() (jobs.Algorithm, error) {
	return newSearch(j.spec(), cmp.Or(j.grain, leafOfShard))
}

// graphAlgorithm is NewGraph in the same way.
func (j job) graphAlgorithm() (jobs.Algorithm, error) {
	return newGraph(j.graphSpec(), cmp.Or(j.grain, leafOfShard))
}
