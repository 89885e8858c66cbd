package run

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// pairs reads its shard of the input and, inside each block, its tree's shard of the queries,
// as a search does.
type pairs struct{ bracket }

func (pairs) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	for _, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, err := range leaf.Read(ctx, jobs.Queries, leaf.Tree) {
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return text("x"), nil, nil
}

func (p pairs) Step(ctx context.Context, _ jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	for tree := range round.Trees {
		if _, err := round.Root(ctx, tree); err != nil {
			return jobs.Next{}, err
		}
	}
	return p.next, nil
}

// search runs a forest of a tree for each query shard, each over all input shards; the
// arguments are the lines skipped in each shard.
func search(t *testing.T, input, queries [][]int64, inputMax, queriesMax int64) (jobs.Next, error) {
	t.Helper()
	var spec protocol.JobSpec
	spec.Spec.Input.OnBadRecord.SkipMax = inputMax
	spec.Spec.Queries = &protocol.Input{OnBadRecord: protocol.OnBadRecord{SkipMax: queriesMax}}
	tasks, err := NewTasks(phases{pairs{bracket{next: jobs.Next{Done: true, State: jobs.Arrays{}}}}}, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	shards := [2][][]int64{jobs.Input: input, jobs.Queries: queries}
	read := func(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
		return skipping(shards[from][shard])(ctx)
	}
	plan := jobs.Plan{Shards: len(input), QueryShards: len(queries)}
	var roots []jobs.Arrays
	for q := range queries {
		tree := protocol.Tree(len(input))
		root, err := tasks.Fold(t.Context(), "bracket", tree, tree.Canonical(tree.Root()), FoldSource{
			Leaf: func(ctx context.Context, index int) (jobs.Arrays, error) {
				partial, _, err := tasks.Map(ctx, "bracket", nil,
					jobs.Leaf{Tree: q, Index: index, Plan: plan, Read: read},
					nil)
				return partial, err
			}})
		if err != nil {
			return jobs.Next{}, err
		}
		roots = append(roots, root)
	}
	next, _, err := tasks.Step(t.Context(), "bracket", nil, jobs.RoundOf(plan, roots...))
	return next, err
}

// Three trees over two input shards: what six leaves skipped counts once for each shard.
func TestSkipsOfAForestCountByShard(t *testing.T) {
	next, err := search(t, [][]int64{{3}, {5, 6}}, [][]int64{{}, {8, 9}, {11}}, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range next.Metrics {
		if strings.HasSuffix(m.Name, "count") {
			got = append(got, m.Name+"="+string(m.Value))
		}
	}
	if want := []string{"bracket.skipped.count=3", "bracket.skipped.queries.count=3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEachDataSetHasItsOwnSkipMax(t *testing.T) {
	for name, c := range map[string]struct {
		input, queries int64
		says           string
	}{
		"input":   {2, 9, "spec.input.on_bad_record"},
		"queries": {9, 2, "spec.queries.on_bad_record"},
	} {
		_, err := search(t, [][]int64{{3}, {5, 6}}, [][]int64{{8, 9}, {11}}, c.input, c.queries)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || !strings.Contains(fault.Hint, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Uniting is associative and idempotent, samples included, whatever overlaps.
func TestSkipsUnite(t *testing.T) {
	all := make([]skips, 12)
	for i := range all {
		lines := make([]dataset.Skip, i%5+1)
		for j := range lines {
			lines[j].Line = int64(100*i + j)
		}
		all[i].add(place{jobs.Source(i % 2), i / 2}, lines)
	}
	rapid.Check(t, func(rt *rapid.T) {
		row := rapid.SliceOfN(rapid.SampledFrom(all), 1, 20).Draw(rt, "read")
		var serial skips
		for _, s := range row {
			serial = serial.plus(s)
		}
		for len(row) > 1 {
			i := rapid.IntRange(0, len(row)-2).Draw(rt, "merge")
			row = slices.Replace(slices.Clone(row), i, i+2, row[i].plus(row[i+1]))
		}
		twice := row[0].plus(serial)
		for _, got := range []skips{row[0], twice} {
			if !slices.Equal(got.shards, serial.shards) || !slices.Equal(got.samples, serial.samples) {
				rt.Fatalf("%+v\nnot %+v", got, serial)
			}
		}
	})
}

func TestReadRefusesShardsThatAreNot(t *testing.T) {
	watch := skipWatch{}
	leaf := watch.watch(jobs.Leaf{Index: 7, Plan: jobs.Plan{Shards: 7}})
	for name, blocks := range map[string]iter.Seq2[*dataset.Block, error]{
		"own": leaf.Blocks(t.Context()), "beyond": leaf.Read(t.Context(), jobs.Input, 7),
		"negative":   leaf.Read(t.Context(), jobs.Input, -1),
		"no queries": leaf.Read(t.Context(), jobs.Queries, 0), "no source": leaf.Read(t.Context(), 5, 0),
	} {
		errs := 0
		for _, err := range blocks {
			if err != nil {
				errs++
			}
		}
		if errs != 1 {
			t.Errorf("%s: %d errors", name, errs)
		}
	}
}
