// Package blocks has what learners share that go through the records in an order, by logical blocks (see
// jobs.BlockRecords): the parameter that says how many records a block has, or how many blocks there are, and the
// order of the blocks in an epoch.
package blocks

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of the parameters.
const (
	defaultRecords = 1 << 14
	maxRecords     = 1 << 30
	maxNumber      = 1 << 14
)

// Size is that of a block; a kind embeds it in its parameters.
type Size struct {
	BlockRecords int `json:"block_records"`
}

// BlockParameter declares the parameter; use says what a block is to the kind.
func (s *Size) BlockParameter(use string) params.Parameter {
	return params.Whole("block_records", &s.BlockRecords, defaultRecords, 1, maxRecords).
		Says("Records of a block, whatever files and shards they are in. " + use)
}

// Number is how many blocks there are at most, of one size; a kind embeds it in its parameters.
type Number struct {
	Blocks int `json:"blocks"`
}

// NumberParameter declares the parameter; use says what a block is to the kind.
func (n *Number) NumberParameter(preset int, use string) params.Parameter {
	return params.Whole("blocks", &n.Blocks, preset, 1, maxNumber).
		Says("Greatest number of blocks of records, all of one size, whatever files and shards they are in. " + use)
}

// Algorithm returns the algorithm of the phases over blocks of spec.input.
func (n Number) Algorithm(phases jobs.Phases) jobs.Algorithm {
	return jobs.Blocked{List: phases, Records: jobs.BlockRecords{jobs.Input: jobs.InBlocks(n.Blocks)}}
}

// Algorithm returns the algorithm of the phases over blocks of spec.input and, if asked, of spec.queries.
func (s Size) Algorithm(phases jobs.Phases, queries bool) jobs.Algorithm {
	over := jobs.Blocked{List: phases}
	over.Records[jobs.Input] = int64(s.BlockRecords)
	if queries {
		over.Records[jobs.Queries] = int64(s.BlockRecords)
	}
	return over
}

// Order returns the blocks in the order of an epoch: ascending, or drawn by (key, epoch). O(n log n).
func Order(key philox.Key, epoch int64, n int, drawn bool) []int {
	return rank.Least(n, func(block int) uint64 {
		if !drawn {
			return 0
		}
		return key.Uint64(uint64(epoch), uint64(block))
	})
}

// Next returns the blocks of a round that goes through them one at a time, from a position of an epoch on: about as
// many as a shard holds, since a round costs the coordinator some time. How many there are changes no result. A
// position that the epoch does not have is a *protocol.Fault of CodeCorrupt.
func Next(key philox.Key, epoch, position int64, plan jobs.Plan, drawn bool) ([]int, error) {
	if position < 0 || position >= int64(plan.Blocks) {
		return nil, jobs.Malformed("a state at block %d of %d", position, plan.Blocks)
	}
	n := max(1, plan.Blocks/max(1, plan.Shards))
	return Order(key, epoch, plan.Blocks, drawn)[position:min(int(position)+n, plan.Blocks)], nil
}

// Most returns a bound on the rounds of epochs that go through the blocks by Next, see jobs.Repeater. Next takes
// floor(blocks/shards) blocks at a time, so that an epoch has fewer than twice as many rounds as there are shards, and
// no more than there are blocks.
func Most(epochs int) func(jobs.Plan) int64 {
	return func(plan jobs.Plan) int64 {
		if plan.Shards < 1 {
			return -1
		}
		each := 2*int64(plan.Shards) - 1
		if plan.Blocks > 0 {
			n := max(1, plan.Blocks/plan.Shards)
			each = int64((plan.Blocks + n - 1) / n)
		}
		return int64(epochs) * each
	}
}

// Empty is the fault of a job whose data set has no record, and so no block.
func Empty() error {
	return protocol.EmptyFault("no record").WithHint("Check spec.input.uri.")
}
