package kernelperceptron

import "github.com/gram-compute/gram/jobs"

// Gathers counts the shard that is read into memory to be shuffled, with what it grew out of. Which shard it
// is only the state knows: as large as the first.
func (p *trainPhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	if !p.params.Shuffle {
		return 0
	}
	return 2 * records(jobs.Input, leaf.Index)
}
