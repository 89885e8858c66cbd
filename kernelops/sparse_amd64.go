//go:build !purego

package kernelops

import "github.com/gram-compute/gram/asm"

// sparseBlocks takes blocks of a sparse row into the lanes, by AVX2, and returns how many elements that
// are: the rest is fewer than a block or has a column outside w, which is not empty. It is called
// by name, not through a set, so that the lanes stay off the heap.
func sparseBlocks(lane *[4]float32, index []int32, value, w []float32, soonIndex, soonValue int) int {
	taken := 0
	for len(index)-taken > callElements {
		n := asm.SparseDotAVX2(lane, index[taken:taken+callElements], value[taken:], w, soonIndex, soonValue)
		taken += n
		if n < callElements {
			return taken
		}
	}
	return taken + asm.SparseDotAVX2(lane, index[taken:], value[taken:], w, soonIndex, soonValue)
}

// mixedSparseBlocks is sparseBlocks for float64 weights; what it takes is a multiple of 4.
func mixedSparseBlocks(
	lane *[mixedLanes]float64, index []int32, value []float32, w []float64, soonIndex, soonValue int,
) int {
	taken := 0
	for len(index)-taken > callElements {
		n := asm.MixedSparseDotAVX2(lane, index[taken:taken+callElements], value[taken:], w, soonIndex, soonValue)
		taken += n
		if n < callElements {
			return taken
		}
	}
	return taken + asm.MixedSparseDotAVX2(lane, index[taken:], value[taken:], w, soonIndex, soonValue)
}
