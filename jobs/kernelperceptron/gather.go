package kernelperceptron

import "github.com/gram-compute/gram/jobs"

// windowBytes bounds a full window: values and what is kept of each record, with what they grew out of.
const windowBytes = 3 * 4 * windowNumbers

// Gathers counts the window that a shard is shuffled in. Which shard it is only the state knows: as large
// as the first.
func (p *trainPhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	if !p.params.Shuffle {
		return 0
	}
	return min(windowBytes, 3*records(jobs.Input, leaf.Index))
}
