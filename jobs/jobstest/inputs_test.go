package jobstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// join is a job over two data sets and a model: tree q, leaf i sums the products of all rows
// of query shard q and input shard i, begun from the model's value; leaves and the step emit.
type join struct{}

func (j join) Phases() []jobs.Phase { return []jobs.Phase{spread{j}, j} }
func (join) Name() string           { return "join" }

func (join) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	var sum int64
	for base, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for queries, err := range leaf.Read(ctx, jobs.Queries, leaf.Tree) {
			if err != nil {
				return nil, nil, err
			}
			sum += products(base, queries)
		}
	}
	_, err := leaf.Emit(ctx, fmt.Sprintf("parts/%d-%d", leaf.Tree, leaf.Index), []byte(fmt.Sprint(sum)))
	partial := jobs.Arrays{}
	jobs.PutScalar(partial, "sum", sum)
	return partial, nil, err
}

func products(base, queries *dataset.Block) (sum int64) {
	for i := range base.IDs {
		for k := range queries.IDs {
			indices, values := queries.Sparse.Row(k)
			for n, index := range indices {
				sum += int64(values[n]) * int64(base.Dense.Row(i)[index]) * int64(base.Weights[i])
			}
		}
	}
	return sum
}

func (join) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, _ := jobs.GetScalar[int64](left, "sum")
	b, err := jobs.GetScalar[int64](right, "sum")
	sum := jobs.Arrays{}
	jobs.PutScalar(sum, "sum", a+b)
	return sum, err
}

func (join) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	sums, err := jobs.Get[int64](state, "start")
	if err != nil {
		return jobs.Next{}, err
	}
	sums = slices.Clone(sums)
	for tree := range round.Trees {
		root, err := round.Root(ctx, tree)
		if err != nil {
			return jobs.Next{}, err
		}
		sum, _ := jobs.GetScalar[int64](root, "sum")
		sums = append(sums, sum)
	}
	model := jobs.Arrays{}
	jobs.Put(model, "sums", sums)
	_, err = round.Emit(ctx, "index", []byte(fmt.Sprint(round.Plan)))
	return jobs.Next{Done: true, State: model}, err
}

// spread goes on with a tree for each query shard.
type spread struct{ join }

func (spread) Name() string { return "spread" }

func (spread) Map(context.Context, jobs.Arrays, jobs.Leaf, jobs.Arrays, *kernelops.Set) (jobs.Arrays, jobs.Arrays,
	error) {
	return jobs.Arrays{}, nil, nil
}

func (spread) Merge(left, _ jobs.Arrays) (jobs.Arrays, error) { return left, nil }

func (spread) Step(_ context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	trees := make([]int, round.Plan.QueryShards)
	for i := range trees {
		trees[i] = round.Plan.Shards
	}
	return jobs.Next{Phase: "join", Trees: trees, State: state}, nil
}

func joined() (base, queries [][]Record, model jobs.Arrays) {
	records := DenseRecords([][]float32{{1, 2}, {3, 4}, {5, 6}}, "a", "b", "c")
	for i := range records {
		records[i].Weight = float32(i)
	}
	model = jobs.Arrays{}
	jobs.Put(model, "start", []int64{7})
	return Deal(records, 2), Deal(SparseRecords(2, [][]float32{{0, 10}, {100, 0}, {1, 1}}), 3), model
}

func TestQueriesModelAndFilesByHand(t *testing.T) {
	base, queries, model := joined()
	result, err := Run(t.Context(), join{}, protocol.JobSpec{}, Shards(base, 2), nil, Grouping{}, WithQueries(queries),
		WithModel(model))
	if err != nil {
		t.Fatal(err)
	}
	// Weighted column sums of the base: 0*1+1*3+2*5 = 13 and 0*2+1*4+2*6 = 16.
	if sums, err := jobs.Get[int64](result.Model, "sums"); err != nil ||
		!slices.Equal(sums, []int64{7, 160, 1300, 29}) {
		t.Errorf("%v, %v", sums, err)
	}
	if len(result.Files) != 7 || string(result.Files["parts/1-1"]) != "1300" ||
		string(result.Files["index"]) != "{2 3 0 0}" {
		t.Errorf("%s", result.Files)
	}
}

func TestGroupingWithQueriesAndModel(t *testing.T) {
	base, queries, model := joined()
	CheckGrouping(t, join{}, protocol.JobSpec{}, base, nil, WithQueries(queries), WithModel(model))
}

// Only a pure job may write a file twice.
func TestUnsteadyFilesAreFoundOut(t *testing.T) {
	base, _, _ := joined()
	leaf := Leaf(0, 1, Shards(base, 2), WithQueries(base))
	if _, err := leaf.Emit(t.Context(), "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Emit(t.Context(), "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Emit(t.Context(), "a", []byte("y")); err == nil || !strings.Contains(err.Error(), "other bytes") {
		t.Error(err)
	}
}

// A block ends where the width changes, and what a data set lacks is nil.
func TestBlocksOfVectors(t *testing.T) {
	shards := Shards([][]Record{{{Dense: []float32{1}}, {Dense: []float32{2}}, {Dense: []float32{3, 4}}}}, 9)
	var got []string
	for block, err := range shards[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if block.Labels != nil || block.Texts != nil || block.Weights != nil || block.Sparse.Width != 0 {
			t.Errorf("%+v", block)
		}
		got = append(got, fmt.Sprint(block.Dense, block.IDs[0].Offset))
	}
	if want := []string{"{1 [1 2]} 0", "{2 [3 4]} 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Blocks are shared between readers, so that a phase that writes to one is found out.
func TestWritingToABlockIsFoundOut(t *testing.T) {
	for name, write := range map[string]func(*dataset.Block){
		"nothing": func(*dataset.Block) {},
		"value":   func(b *dataset.Block) { b.Dense.Values[1]++ },
		"label":   func(b *dataset.Block) { b.Labels[0][0]++ },
		"weight":  func(b *dataset.Block) { b.Weights[0] = 0 },
	} {
		errs := 0
		records := []Record{{Dense: []float32{1, 2}, Label: "a", Weight: 1},
			{Dense: []float32{3, 4}, Label: "b", Weight: 2}}
		for block, err := range Shards([][]Record{records}, 1)[0](t.Context()) {
			if err != nil {
				errs++
				continue
			}
			write(block)
		}
		if (errs == 1) != (name != "nothing") {
			t.Errorf("%s: %d errors", name, errs)
		}
	}
}
