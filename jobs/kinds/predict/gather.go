package predict

import "github.com/gram-compute/gram/jobs"

// gathers takes a shard's output, by column and encoded, to be some times the records: of narrow ones
// where each is, its answer and its scores take more than they do.
func (phase) gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return 4 * records(jobs.Input, leaf.Index)
}
