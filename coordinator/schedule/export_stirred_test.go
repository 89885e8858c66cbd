package schedule

import "github.com/gram-compute/gram/coordinator/state"

// Stirred lists the blocks of a job's leaves in which merges are to be looked for, and has the board forget them.
func (b *Board) Stirred(job *state.Job) []int { return b.Jobs.of(job).leaves.stirredBlocks() }
