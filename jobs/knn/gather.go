package knn

import "github.com/gram-compute/gram/jobs"

// chunkBytes is what a chunk of a base takes, and the memory that is left behind as it grows.
const chunkBytes = 2 * 4 * tileFloats

// Gathers counts the queries of the tree and a chunk of the base.
func (p *neighborsPhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	source := jobs.Queries
	if !p.queries {
		source = jobs.Input
	}
	return grown(records(source, leaf.Tree)) + min(chunkBytes, grown(records(jobs.Input, leaf.Index)))
}

// Gathers counts the rows of the leaf.
func (p *basePhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return grown(records(jobs.Input, leaf.Index)) + min(chunkBytes, grown(records(jobs.Input, leaf.Index)))
}

// grown is what slices of n bytes take that grew to it, with what they last grew out of.
func grown(n int64) int64 { return 2 * n }
