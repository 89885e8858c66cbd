//go:build !purego

package kernelops

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
)

// bytesAVX512 returns the code for rows of 8 bits, or nil: it needs an instruction beyond the set.
func bytesAVX512(has supports) *byteSet {
	if !has(cpuid.AVX512VNNI) {
		return nil
	}
	return &byteSet{
		queries: byteTileQueries,
		tile: func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32, starts []int32,
			spreads []float32, groups, panels int) uint64 {
			return asm.ByteTile6x64AVX512(&hits[0], &dots[0], &x[0], &y[0], &terms[0], &factors[0], &limits[0],
				&starts[0], &spreads[0], groups, panels)
		},
		one: func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32, starts []int32,
			spreads []float32, groups, panels int) uint64 {
			return asm.ByteTile1x64AVX512(&hits[0], &dots[0], &x[0], &y[0], &terms[0], &factors[0], &limits[0],
				&starts[0], &spreads[0], groups, panels)
		},
		extent: func(lanes *byteLanes, x []float32, center []float64) {
			asm.ByteExtentAVX512(&lanes[0], &x[0], &center[0], len(x))
		},
		row: func(lanes *byteLanes, bytes []uint8, x []float32, center []float64, perUnit, unit, magic float64) {
			asm.ByteRowAVX512(&lanes[0], &bytes[0], &x[0], &center[0], len(x), perUnit, unit, magic)
		},
	}
}
