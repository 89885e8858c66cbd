package kernelmatrix

import (
	"context"
	"iter"
	"maps"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/kernelops"
)

const recordsName = "records"

// Folders of who the records are, below the model's.
const (
	recordsFolder = "records" // of spec.input
	queriesFolder = "queries"
)

// recordsPhase learns the space of the vectors, and numbers the records.
type recordsPhase struct {
	jobs.Phase // features
	*plan
}

func (p *recordsPhase) Name() string { return recordsName }

// Map writes down the records that the other phase reads. A leaf does so as well for every shard of queries whose
// number is its own modulo the shards of the input.
func (p *recordsPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	if err := p.checkShards(leaf.Plan); err != nil {
		return nil, nil, err
	}
	var own *roll
	blocks := leaf.Blocks
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		own = newRoll(p.train()) // the other phase may begin anew
		return own.watch(blocks(ctx))
	}
	partial, carry, err := p.Phase.Map(ctx, state, leaf, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	counts := &census{}
	if err := counts.add(ctx, leaf.Emit, jobs.Input, leaf.Index, own); err != nil {
		return nil, nil, err
	}
	for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
		queries := newRoll(nil)
		for _, err := range queries.watch(leaf.Read(ctx, jobs.Queries, shard)) {
			if err != nil {
				return nil, nil, err
			}
		}
		if err := counts.add(ctx, leaf.Emit, jobs.Queries, shard, queries); err != nil {
			return nil, nil, err
		}
	}
	jobs.Add(partial, counts)
	return partial, carry, nil
}

// Merge lists the shards of two neighbours.
func (p *recordsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := jobs.Read(left, &census{})
	if err != nil {
		return nil, err
	}
	b, err := jobs.Read(right, &census{})
	if err != nil {
		return nil, err
	}
	merged, err := p.Phase.Merge(left, right)
	if err != nil {
		return nil, err
	}
	merged = maps.Clone(merged) // it may be one of the two
	a.shards, a.list = append(a.shards, b.shards...), append(a.list, b.list...)
	jobs.Add(merged, a)
	return merged, nil
}

// Step writes the indices of the records and plans the tiles.
func (p *recordsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	counts, err := jobs.Read(root, &census{})
	if err != nil {
		return jobs.Next{}, err
	}
	next, err := p.Phase.Step(ctx, state, round)
	if err != nil {
		return jobs.Next{}, err
	}
	grid := grid{symmetric: !p.queries}
	if grid.columns, err = p.index(ctx, round.Emit, counts, jobs.Input, round.Plan.Shards); err != nil {
		return jobs.Next{}, err
	}
	grid.rows = grid.columns
	if p.queries {
		if grid.rows, err = p.index(ctx, round.Emit, counts, jobs.Queries, round.Plan.QueryShards); err != nil {
			return jobs.Next{}, err
		}
	}
	space, err := features.ReadSpace(next.State)
	if err != nil {
		return jobs.Next{}, err
	}
	side, err := p.params.side(space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := grid.checkSize(int64(p.params.MaxBytes), side); err != nil {
		return jobs.Next{}, err
	}
	jobs.Add(next.State, &grid)
	next.Trees = grid.trees()
	return next, nil
}

// checkShards refuses too many shards before any is read.
func (p *plan) checkShards(cut jobs.Plan) error {
	if p.queries {
		return checkPairs(cut.QueryShards, cut.Shards, false)
	}
	return checkPairs(cut.Shards, cut.Shards, true)
}

// index writes the index of a data set's records and returns how many there are in each shard.
func (p *plan) index(ctx context.Context, emit jobs.Emit, c *census, source jobs.Source, shards int) ([]int64, error) {
	list, err := c.of(source, shards)
	if err != nil {
		return nil, err
	}
	if _, err = parts.WriteIndex(ctx, emit, folderOf(source), parts.Index{Format: parts.CSV, Columns: newRoll(nil).table().Names(), Parts: list}); err != nil {
		return nil, err
	}
	records := make([]int64, shards)
	for i, part := range list {
		records[i] = part.Rows
	}
	return records, nil
}

func folderOf(source jobs.Source) string {
	if source == jobs.Queries {
		return queriesFolder
	}
	return recordsFolder
}
