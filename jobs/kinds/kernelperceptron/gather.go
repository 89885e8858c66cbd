package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
)

// Gathers counts the window that a shard is shuffled in. Which shard it is only the state knows: as large
// as the first.
func (p *trainPhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	if !p.Params.Shuffle {
		return 0
	}
	return min(shuffle.Bytes, 3*records(jobs.Input, leaf.Index))
}
