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

// Arrays of the first phase beside those of the phase that it is built on.
const (
	shardRecords = "shards.records" // I64: records of each shard below the node, held-out ones too
	queryRecords = "queries.records"
	baseOffsets  = "base.offsets" // I64 [shards+1] of the state: number of each shard's first record
)

// indexPhase learns what records look like, by another phase, and numbers them.
type indexPhase struct {
	jobs.Phase // features, or texts
	*plan
}

func (p *indexPhase) Name() string { return indexName }

// Map counts the records that the other phase reads. Where the number of queries matters, a leaf
// counts those of every query shard whose number is its own modulo the shards.
func (p *indexPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	records, queries := int64(0), int64(0)
	blocks := leaf.Blocks
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		records = 0
		return counted(blocks(ctx), &records)
	}
	partial, carry, err := p.Phase.Map(ctx, state, leaf, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	if p.params.Projection != nil {
		for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
			for _, err := range counted(leaf.Read(ctx, jobs.Queries, shard), &queries) {
				if err != nil {
					return nil, nil, err
				}
			}
		}
	}
	jobs.Put(partial, shardRecords, []int64{records})
	jobs.PutScalar(partial, queryRecords, queries)
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
	a, m, err := readCounts(left)
	if err != nil {
		return nil, err
	}
	b, n, err := readCounts(right)
	if err != nil {
		return nil, err
	}
	merged, err := p.Phase.Merge(left, right)
	if err != nil {
		return nil, err
	}
	merged = maps.Clone(merged) // it may be one of the two
	jobs.Put(merged, shardRecords, append(append([]int64(nil), a...), b...))
	jobs.PutScalar(merged, queryRecords, m+n)
	return merged, nil
}

func readCounts(a jobs.Arrays) (shards []int64, queries int64, err error) {
	if shards, err = jobs.Get[int64](a, shardRecords); err != nil {
		return nil, 0, err
	}
	queries, err = jobs.GetScalar[int64](a, queryRecords)
	return shards, queries, err
}

// Step numbers the records and begins the search, or the model where nothing is searched.
func (p *indexPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	shards, queries, err := readCounts(root)
	if err != nil {
		return jobs.Next{}, err
	}
	next, err := p.Phase.Step(ctx, state, round)
	if err != nil {
		return jobs.Next{}, err
	}
	offsets := make([]int64, len(shards)+1)
	for i, n := range shards {
		offsets[i+1] = offsets[i] + n
	}
	jobs.Put(next.State, baseOffsets, offsets)
	if round.Plan.QueryShards == 0 {
		queries = offsets[len(shards)]
	}
	if err := p.chooseDims(&next, queries); err != nil {
		return jobs.Next{}, err
	}
	return p.afterIndex(next, round.Plan)
}

// afterIndex says which round is second.
func (p *plan) afterIndex(next jobs.Next, shards jobs.Plan) (jobs.Next, error) {
	trees := shards.QueryShards
	switch {
	case trees > 0:
	case p.holdsOut || p.params.LeaveOneOut:
		trees = shards.Shards
	default:
		return p.finish(next)
	}
	next.Phase, next.Trees = neighborsName, make([]int, trees)
	for t := range next.Trees {
		next.Trees[t] = shards.Shards
	}
	return next, nil
}

// finish ends the job with the model, or has the base gathered into it.
func (p *plan) finish(next jobs.Next) (jobs.Next, error) {
	next.Phase, next.Trees = "", nil
	if p.params.StoreBase {
		next.Phase = baseName
		return next, nil
	}
	m, err := newModel(p, next.State)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Done, next.State = true, m.arrays()
	return next, nil
}
