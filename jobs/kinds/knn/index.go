package knn

import (
	"cmp"
	"context"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// indexName names the first phase.
const indexName = "index"

// indexPhase learns what records look like, and numbers them.
func (p *plan) indexPhase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *counts]{
		Name: indexName, State: jobs.Itself, Partial: p.newCounts,
		Map: p.count, Merge: (*counts).plus, Step: p.number,
	}.Phase()
}

// counts are what some neighboring leaves found.
type counts struct {
	vectors *features.Counts // nil where the metric compares texts
	texts   textCounts
	shards  []int64 // records of each shard, held-out ones too
	queries int64
}

func (p *plan) newCounts() *counts {
	c := &counts{}
	if p.vectors != nil {
		c.vectors = p.vectors.NewCounts()
	}
	return c
}

// Fields lists the counts.
func (c *counts) Fields(f *jobs.Fields) {
	if c.vectors != nil {
		c.vectors.Fields(f)
	} else {
		c.texts.Fields(f)
	}
	jobs.List(f, "shards.records", &c.shards)
	jobs.Scalar(f, "queries.records", &c.queries)
}

// plus adds the records to the right, and lists their shards.
func (c *counts) plus(right *counts) (*counts, error) {
	all := &counts{texts: c.texts.plus(right.texts), shards: append(c.shards, right.shards...),
		queries: c.queries + right.queries}
	if c.vectors == nil {
		return all, nil
	}
	var err error
	all.vectors, err = c.vectors.Plus(right.vectors)
	return all, err
}

// count counts the records of a leaf. Where the number of queries matters, it counts those of every query shard whose
// number is its own modulo the shards.
func (p *plan) count(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (_ *counts, err error) {
	c := p.newCounts()
	c.shards = make([]int64, 1)
	leaf = leaf.Watched(func(block *dataset.Block) { c.shards[0] += int64(len(block.IDs)) })
	if p.vectors != nil {
		c.vectors, err = p.vectors.Count(ctx, leaf, ops)
	} else {
		c.texts, err = p.countTexts(leaf.Blocks(ctx))
	}
	if err != nil || !p.params.approximate() {
		return c, err
	}
	for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
		for block, err := range leaf.Read(ctx, jobs.Queries, shard) {
			if err != nil {
				return nil, err
			}
			c.queries += int64(len(block.IDs))
		}
	}
	return c, nil
}

// number numbers the records and begins the search, or the model where nothing is searched.
func (p *plan) number(_ context.Context, _ jobs.Arrays, root *counts, round jobs.Round) (jobs.Next, error) {
	found, metrics, err := p.space(root)
	if err != nil {
		return jobs.Next{}, err
	}
	in := &index{space: found, offsets: make([]int64, len(root.shards)+1)}
	for i, n := range root.shards {
		in.offsets[i+1] = in.offsets[i] + n
	}
	if err := cmp.Or(in.checkGiven(), p.checkSize(in.records)); err != nil {
		return jobs.Next{}, err
	}
	queries := root.queries
	if p.Own != nil {
		queries = in.offsets[len(root.shards)]
	}
	chosen, err := p.chooseDims(in, queries)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := p.beginHashing(in, queries); err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{State: jobs.ArraysOf(in), Metrics: append(metrics, chosen...)}
	if p.params.tunes() {
		next.Phase = drawName
		return next, nil
	}
	return p.afterIndex(in, next, round)
}

// afterIndex begins the search, or the model where nothing is searched.
func (p *plan) afterIndex(in *index, next jobs.Next, round jobs.Round) (jobs.Next, error) {
	if p.Own == nil || p.holdsOut || p.params.LeaveOneOut {
		trees := p.Trees(round.Plan)
		next.Phase, next.Trees = neighborsName, slices.Repeat([]int{in.leaves(p.grain, trees)}, trees)
		return next, nil
	}
	return p.finish(next)
}

// space is what all records look like.
func (p *plan) space(root *counts) (found *space, metrics []jobs.Metric, err error) {
	found = &space{params: p.params}
	if p.vectors != nil {
		if found.vectors, metrics, err = p.vectors.Space(root.vectors); err == nil {
			err = found.checkSphere()
		}
	} else {
		metrics, err = root.texts.describe(found)
	}
	if err == nil {
		found, err = jobs.Read(jobs.ArraysOf(found), &space{params: p.params})
	}
	return found, metrics, err
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
	if p.graph != nil {
		next.State = jobs.ArraysOf(&graphModel{p.graph.GraphParams, in.space})
	}
	return next, nil
}

// index is the state of the search and of what follows it.
type index struct {
	*space
	offsets []int64
	projected
	hashed hashed
}

// Fields lists the state.
func (in *index) Fields(f *jobs.Fields) {
	in.space.Fields(f)
	jobs.List(f, "base.offsets", &in.offsets) // the number of each shard's first record
	n := len(in.offsets)
	f.Require(n > 0 && in.offsets[0] == 0 && slices.IsSorted(in.offsets) && in.offsets[n-1] > 0,
		"%d offsets of no base", n)
	f.Require(!in.params.Metric.given() || in.fitsGiven(), "rows that do not have a column for each record of the base")
	if in.params.Projection != nil {
		in.projected.Fields(f)
		jobs.Scalar(f, "projection.queries", &in.queries) // of the state alone
	}
	if in.params.Index == indexLSH {
		in.hashed.Fields(f)
		jobs.Scalar(f, "lsh.queries", &in.hashed.queries) // of the state alone
		f.Check(func() error { return in.checkHashed(in.hashed) })
	}
}

func (p *plan) readIndex(state jobs.Arrays) (*index, error) {
	return jobs.Read(state, &index{space: &space{params: p.params}})
}

// model is the model of the base, nil where it is not stored.
func (in *index) model(base *points) *model {
	return &model{space: in.space, projected: in.projected, hashed: in.hashed, base: base}
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
