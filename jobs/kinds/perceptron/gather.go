package perceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
)

// gathers counts the window that a leaf shuffles in.
func (j job) gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	if !j.Params.Shuffle {
		return 0
	}
	return min(shuffle.Bytes, 3*records(jobs.Input, leaf.Index))
}

// Gathers counts the window of the only leaf of a round, whose shard only the state knows: that of the first shard.
func (p *chainedPhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return p.gathers(leaf, records)
}
