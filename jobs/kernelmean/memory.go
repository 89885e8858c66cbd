package kernelmean

import "github.com/gram-compute/gram/jobs"

// Gathers counts the rows of the leaf, with what they grew out of, and their arrays.
func (p basePhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return 3 * records(jobs.Input, leaf.Index)
}
