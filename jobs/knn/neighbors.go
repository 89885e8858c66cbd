package knn

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/pairwise"
	"github.com/gram-compute/gram/jobs/rows"
	"github.com/gram-compute/gram/kernelops"
)

// neighborsName names the search.
const neighborsName = "neighbors"

const (
	// grown is how many times its size a gathered shard takes, with what it last grew out of.
	grown = 2
	// chunkBytes is what a chunk of a base takes, and the memory that is left behind as it grows.
	chunkBytes = 2 * 4 * rows.TileFloats
)

// search is the phase of the search and the one that looks mistakes up.
func (p *plan) search() pairwise.Phase[*index, *partial] {
	return pairwise.Phase[*index, *partial]{
		Name: neighborsName, Sides: p.Sides, State: p.readIndex, Partial: p.newPartial,
		Find: p.find, Merge: (*partial).merge, Gathers: pairwise.Gathers(p.Source(), grown, chunkBytes),
		Answers: func(in *index) jobs.Answers { return p.params.answers(in.labels) },
		Decider: func(in *index) pairwise.Decider[*partial] { return newOutput(p, in) },
		Finish:  p.finish,
	}
}

// find finds the neighbors of the queries of a shard among the base of a shard. It holds the
// queries, their lists and a chunk of the base in memory.
func (p *plan) find(
	ctx context.Context, in *index, leaf jobs.Leaf, ops *kernelops.Set,
) (*partial, *pairwise.Asked, error) {
	sample := p.newSample(in)
	queries, asked, err := p.readQueries(ctx, in, leaf, sample)
	if err != nil {
		return nil, nil, err
	}
	s := p.newSearch(in, ops, queries, sample)
	chunk := func(base *points) error { return s.search(ctx, base) }
	if err := in.readBase(ctx, leaf, p.Base(), chunk); err != nil {
		return nil, nil, err
	}
	return s.partial(), asked, nil
}
