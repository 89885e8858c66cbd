package kmeans

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// TestRoundsThatRemember compares runs whose leaves remember their last round, on every set, with a run on the generic
// set that begins each round with nothing.
func TestRoundsThatRemember(t *testing.T) {
	for name, c := range rememberCases() {
		t.Run(name, func(t *testing.T) {
			want := runWith(t, c.params, c.records, kernelops.Generic())
			for _, ops := range kernelops.All() {
				r := rand.New(rand.NewPCG(4, 4))
				for how, option := range map[string]jobstest.Option{
					"all":  jobstest.WithMemos(nil),
					"some": jobstest.WithMemos(func(int) bool { return r.IntN(3) == 0 }),
				} {
					got := runWith(t, c.params, c.records, ops, option)
					if jobstest.Digest(got.Model) != jobstest.Digest(want.Model) ||
						!reflect.DeepEqual(got.Metrics, want.Metrics) {
						t.Errorf("%s, %s remembered: %v\nwant %v", ops.Name, how, got.Metrics, want.Metrics)
					}
				}
			}
		})
	}
}

func runWith(t *testing.T, params string, shards [][]jobstest.Record, ops *kernelops.Set, opts ...jobstest.Option,
) jobstest.Result {
	t.Helper()
	spec := specOf(params)
	result, err := jobstest.Run(t.Context(), algorithmOf(t, spec), spec, jobstest.Shards(shards, 100), ops,
		jobstest.Grouping{}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

type rememberCase struct {
	params  string
	records [][]jobstest.Record
}

func rememberCases() map[string]rememberCase {
	r, cases := rand.New(rand.NewPCG(15, 3)), map[string]rememberCase{}
	add := func(name, params string, rows, width int, at func(i, j int) float64, weights bool) {
		table := make([][]float32, rows)
		for i := range table {
			table[i] = make([]float32, width)
			for j := range table[i] {
				table[i][j] = float32(at(i, j))
			}
		}
		records := jobstest.DenseRecords(table)
		for i := range records {
			if weights {
				records[i].Weight = float32(i%4) / 2
			}
		}
		cases[name] = rememberCase{params, jobstest.Deal(records, 3)}
	}
	normal := func(int, int) float64 { return r.NormFloat64() }
	groups := func(i, j int) float64 { return float64(100*((i*7+j*i)%40)) + r.NormFloat64() }
	add("normal", `{"k": 70, "max_rounds": 15}`, 800, 12, normal, false)
	add("restarts", `{"k": 40, "max_rounds": 8, "restarts": 3, "init": "random"}`, 400, 6, normal, false)
	add("groups far apart", `{"k": 48, "max_rounds": 30}`, 900, 5, groups, false)
	add("weights", `{"k": 33, "max_rounds": 20}`, 900, 5, normal, true)
	add("cosine", `{"k": 33, "max_rounds": 20, "metric": "cosine"}`, 900, 5, normal, false)
	add("refill", `{"k": 60, "max_rounds": 20, "init": "random", "empty": "farthest"}`, 400, 2,
		func(i, j int) float64 { return float64(i % (7 + 90*j)) }, false)
	add("drop", `{"k": 60, "max_rounds": 20, "init": "random", "empty": "drop"}`, 400, 2,
		func(i, j int) float64 { return float64(i % (7 + 13*j)) }, false)
	add("far from zero", `{"k": 40, "max_rounds": 15}`, 600, 4,
		func(i, j int) float64 { return 1e6 + groups(i, j) }, false)
	add("scales", `{"k": 40, "max_rounds": 15}`, 600, 6,
		func(_, j int) float64 { return r.NormFloat64() * math.Pow(10, float64(4*j-8)) }, false)
	add("bytes", `{"k": 20, "max_rounds": 20}`, 700, 40, normal, false)
	add("bytes and weights", `{"k": 20, "max_rounds": 9, "restarts": 2, "init": "random"}`, 500, 33, normal, true)
	add("pictures", `{"k": 10, "max_rounds": 20}`, 600, 64,
		func(i, j int) float64 { return float64((i*j*31 + r.IntN(90)) % 256) }, false)
	add("bytes of scales", `{"k": 30, "max_rounds": 15}`, 600, 24,
		func(_, j int) float64 { return r.NormFloat64() * math.Pow(10, float64(j%9-4)) }, false)
	add("indices", `{"k": 20, "max_rounds": 15, "indices": true}`, 500, 4, normal, false)
	return cases
}

// keeper is a jobs.Memo that keeps one value.
type keeper struct{ value any }

func (k *keeper) Take() any               { v := k.value; k.value = nil; return v }
func (k *keeper) Keep(value any, _ int64) { k.value = value }

// A memory of other records, of a value of another kind or of other centers is of no harm.
func TestMemoryOfAnotherLeaf(t *testing.T) {
	records := jobstest.DenseRecords(integers(300, 3, 9))
	_, spec, s := began(t, records, 20)
	p := &lloydPhase{job{params: defaults(), train: jobs.TrainingRecords(spec)}}
	of := func(n int, memo jobs.Memo) string {
		leaf := jobstest.Leaf(0, 0, jobstest.Shards([][]jobstest.Record{records[:n]}, 64))
		leaf.Memo = memo
		got, err := p.assign(t.Context(), s, leaf, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		return jobstest.Digest(jobs.ArraysOf(got))
	}
	want := of(300, nil)
	for _, n := range []int{0, 1, 299} {
		k := &keeper{}
		of(n, k)
		if got := of(300, k); got != want {
			t.Errorf("after a leaf of %d records: another partial", n)
		}
	}
	for i, value := range []any{"a text", &memory{}, &memory{ops: kernelops.Best(), k: 3}} {
		if got := of(300, &keeper{value}); got != want {
			t.Errorf("with value %d: another partial", i)
		}
	}
	k := &keeper{}
	for range 3 {
		if got := of(300, k); got != want || fmt.Sprintf("%T", k.value) != "*kmeans.memory" {
			t.Error("the same round again has another partial, or nothing is kept")
		}
	}
}
