package knn

import (
	"context"
	"maps"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// neighborsName names the search.
const neighborsName = "neighbors"

// prefixes of the lists in a partial.
const (
	foundLists = "found"
	exactLists = "exact" // of sampled queries, where rows are projected
)

// neighborsPhase is the search: tree t holds the queries of shard t, its leaf i the base of shard i.
type neighborsPhase struct{ *plan }

func (p *neighborsPhase) Name() string { return neighborsName }

// targets reports whether neighbors carry what they vote for.
func (p *plan) targets() bool { return p.params.Mode != modeSearch }

// Map finds the neighbors of the queries of a shard among the base of a shard. It holds the
// queries, their lists and a chunk of the base in memory.
func (p *neighborsPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	in, err := p.readIndex(state)
	if err != nil {
		return nil, nil, err
	}
	sample := p.newSample(in)
	queries, q, err := p.readQueries(ctx, in, leaf, sample)
	if err != nil {
		return nil, nil, err
	}
	s := p.newSearch(in, ops, queries, sample)
	first, records, err := in.shard(leaf.Index)
	if err != nil {
		return nil, nil, err
	}
	chunk := func(base *points) error { return s.search(ctx, base) }
	if err := in.newReader(first).readBase(leaf.Blocks(ctx), records, p.train(), chunk); err != nil {
		return nil, nil, err
	}
	partial := s.partial(p.targets())
	if leaf.Index == 0 {
		q.put(partial, p.params.Mode)
	}
	return partial, nil, nil
}

// index is the state of the search.
type index struct {
	*space
	offsets []int64
	projected
}

func (p *plan) readIndex(state jobs.Arrays) (*index, error) {
	s, err := readSpace(p.params, state)
	if err != nil {
		return nil, err
	}
	in := &index{space: s}
	if in.offsets, err = jobs.Get[int64](state, baseOffsets); err != nil {
		return nil, err
	}
	in.projected, err = p.readProjected(state)
	return in, err
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

// readQueries reads the queries of a tree. Their ids are numbers of records of the base where
// they are of it, else within their shard.
func (p *plan) readQueries(ctx context.Context, in *index, leaf jobs.Leaf, sample *sample) (*points, *asked, error) {
	source, first, records := jobs.Queries, int64(0), int64(0)
	var keep func(dataset.Identity) bool
	if !p.queries {
		source, keep = jobs.Input, p.ownQueries()()
		var err error
		if first, records, err = in.shard(leaf.Tree); err != nil {
			return nil, nil, err
		}
	}
	r := in.newReader(first)
	queries, t, err := r.readQueries(leaf.Read(ctx, source, leaf.Tree), records, keep, sample)
	if err != nil {
		return nil, nil, err
	}
	q := &asked{numbers: make([]int64, queries.rows), shard: r.next - first, truths: *t}
	for i, id := range queries.ids {
		q.numbers[i] = id - first
	}
	return queries, q, nil
}

// Merge takes the first k of each two lists, or all by radius.
func (p *neighborsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	out := maps.Clone(left) // with the queries of the first leaf
	if err := mergeLists(out, left, right, foundLists, p.params.rule(), p.params.Metric, p.targets()); err != nil {
		return nil, err
	}
	if _, ok := left[exactLists+listIndptr]; ok {
		if err := p.mergeMeasures(out, left, right); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Step reads the finished lists a tree at a time, decides by them and writes them out.
func (p *neighborsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	in, err := p.readIndex(state)
	if err != nil {
		return jobs.Next{}, err
	}
	out := newOutput(p.plan, in, round.Emit)
	for tree := range round.Trees {
		root, err := round.Root(ctx, tree)
		if err != nil {
			return jobs.Next{}, err
		}
		if err := out.tree(ctx, tree, root); err != nil {
			return jobs.Next{}, err
		}
	}
	next, err := p.lookUp().Before(jobs.Next{State: state}, out.judged, round.Trees)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Metrics, err = out.finish(ctx)
	return next, err
}
