package dataset

import "github.com/gram-compute/gram/kernelops/philox"

// groups hashes the values of spec.input.split.group: to 64 bits, the same in every job.
var groups = philox.New(0, "group")

// GroupOf returns the hash of a value of spec.input.split.group, as Block.Groups has it. Two of n different values have
// the same hash with probability n^2 / 2^65; their records then stay together, too.
func GroupOf(value []byte) uint64 { return groups.Object(string(value)).Uint64(0) }

func checkGroup(value []byte, col int) flaw {
	if len(value) == 0 {
		return flaw{reason: emptyGroup, column: col + 1}
	}
	return checkField(value, col)
}
