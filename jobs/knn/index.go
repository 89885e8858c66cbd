package knn

import (
	"context"
	"iter"
	"maps"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// indexName names the first phase.
const indexName = "index"

// baseOffsets is the array of the state that numbers each shard's first record: I64 [shards+1].
const baseOffsets = "base.offsets"

// indexPhase learns what records look like, by another phase, and numbers them.
type indexPhase struct {
	jobs.Phase // features, or texts
	*plan
}

func (p *indexPhase) Name() string { return indexName }

// counts are what a partial has beside that of the other phase.
type counts struct {
	shards  []int64 // records of each shard below the node, held-out ones too
	queries int64
}

// Fields lists the counts.
func (c *counts) Fields(f *jobs.Fields) {
	jobs.List(f, "shards.records", &c.shards)
	jobs.Scalar(f, "queries.records", &c.queries)
}

// Map counts the records that the other phase reads. Where the number of queries matters, a leaf
// counts those of every query shard whose number is its own modulo the shards.
func (p *indexPhase) Map(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (jobs.Arrays, jobs.Arrays, error) {
	c, blocks := counts{shards: make([]int64, 1)}, leaf.Blocks
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		c.shards[0] = 0 // the other phase may begin anew
		return counted(blocks(ctx), &c.shards[0])
	}
	partial, carry, err := p.Phase.Map(ctx, state, leaf, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	if p.params.Projection != nil {
		for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
			for _, err := range counted(leaf.Read(ctx, jobs.Queries, shard), &c.queries) {
				if err != nil {
					return nil, nil, err
				}
			}
		}
	}
	jobs.Add(partial, &c)
	return partial, carry, nil
}

// counted passes blocks on and adds up their records.
func counted(blocks iter.Seq2[*dataset.Block, error], records *int64) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		for block, err := range blocks {
			if err == nil {
				*records += int64(len(block.IDs))
			}
			if !yield(block, err) {
				return
			}
		}
	}
}

// Merge lists the shards of two neighbors.
func (p *indexPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := jobs.Read(left, &counts{})
	if err != nil {
		return nil, err
	}
	b, err := jobs.Read(right, &counts{})
	if err != nil {
		return nil, err
	}
	merged, err := p.Phase.Merge(left, right)
	if err != nil {
		return nil, err
	}
	merged = maps.Clone(merged) // it may be one of the two
	jobs.Add(merged, &counts{append(a.shards, b.shards...), a.queries + b.queries})
	return merged, nil
}

// Step numbers the records and begins the search, or the model where nothing is searched.
func (p *indexPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	c, err := jobs.Read(root, &counts{})
	if err != nil {
		return jobs.Next{}, err
	}
	next, err := p.Phase.Step(ctx, state, round)
	if err != nil {
		return jobs.Next{}, err
	}
	s, err := jobs.Read(next.State, &space{params: p.params})
	if err != nil {
		return jobs.Next{}, err
	}
	in := &index{space: s, offsets: make([]int64, len(c.shards)+1)}
	for i, n := range c.shards {
		in.offsets[i+1] = in.offsets[i] + n
	}
	if round.Plan.QueryShards == 0 {
		c.queries = in.offsets[len(c.shards)]
	}
	chosen, err := p.chooseDims(in, c.queries)
	if err != nil {
		return jobs.Next{}, err
	}
	jobs.Add(next.State, in)
	next.Metrics = append(next.Metrics, chosen...)
	if p.Own == nil || p.holdsOut || p.params.LeaveOneOut {
		next.Phase, next.Trees = neighborsName, p.Trees(round.Plan)
		return next, nil
	}
	return p.finish(next)
}

// finish ends the job with the model, or has the base gathered into it.
func (p *plan) finish(next jobs.Next) (jobs.Next, error) {
	next.Phase, next.Trees = "", nil
	if p.params.StoreBase {
		next.Phase = baseName
		return next, nil
	}
	in, err := p.readIndex(next.State)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Done, next.State = true, jobs.ArraysOf(in.model(nil))
	return next, nil
}

// index is the state of the search and of what follows it.
type index struct {
	*space
	offsets []int64
	projected
}

// Fields lists the state.
func (in *index) Fields(f *jobs.Fields) {
	in.space.Fields(f)
	jobs.List(f, baseOffsets, &in.offsets)
	if in.params.Projection != nil {
		in.projected.Fields(f)
		jobs.Scalar(f, projectionQueries, &in.queries)
	}
}

func (p *plan) readIndex(state jobs.Arrays) (*index, error) {
	return jobs.Read(state, &index{space: &space{params: p.params}})
}

// model is the model of the base, nil where it is not stored.
func (in *index) model(base *points) *model {
	return &model{space: in.space, projected: in.projected, base: base}
}

// shard is the number of the first record of a shard of the base, and how many there are in it.
func (in *index) shard(shard int) (first, records int64, err error) {
	if shard < 0 || shard >= len(in.offsets)-1 {
		return 0, 0, jobs.Malformed("shard %d is not one of the %d counted", shard, len(in.offsets)-1)
	}
	first, records = in.offsets[shard], in.offsets[shard+1]-in.offsets[shard]
	if first < 0 || records < 0 {
		return 0, 0, jobs.Malformed("shard %d begins at record %d and has %d", shard, first, records)
	}
	return first, records, nil
}
