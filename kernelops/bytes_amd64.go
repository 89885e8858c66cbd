//go:build !purego

package kernelops

import (
	"unsafe"

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
		assign:  assignAVX512(),
		pairs:   pairDistancesAVX2,
		tile:    byteTileOf(asm.ByteTile6x64AVX512),
		one:     byteTileOf(asm.ByteTile1x64AVX512),
		extent: func(lanes *byteLanes, x []float32, center []float64) {
			asm.ByteExtentAVX512(&lanes[0], &x[0], &center[0], len(x))
		},
		row: func(lanes *byteLanes, bytes []uint8, x []float32, center []float64, perUnit, unit, magic float64) {
			asm.ByteRowAVX512(&lanes[0], &bytes[0], &x[0], &center[0], len(x), perUnit, unit, magic)
		},
	}
}

func pairDistancesAVX2(dst *[pairRows]float64, rows *[pairRows]*float32, centers *[pairRows]*float64, dim int) {
	asm.PairDistances4AVX2(&dst[0], &rows[0], &centers[0], dim)
}

// assignAVX512 returns the tiles that assign rows to centers.
func assignAVX512() assignTiles {
	return assignTiles{
		wide: assignTile{rows: 6, width: 64,
			near: func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
				y []uint32, groups, panels int) {
				asm.ByteNear6x64AVX512(&bytes64(hits)[hitBytes], 8*hitWords, &limits[0], &starts[0], &kinds[0], &x[0],
					xStride, &y[0], groups, panels)
			},
			most: func(most, starts, kinds []int32, x []uint32, xStride int, y []uint32, groups, panels int) {
				asm.ByteMost6x64AVX512(&most[0], &starts[0], &kinds[0], &x[0], xStride, &y[0], groups, panels)
			},
		},
		narrow: assignTile{rows: 24, width: 16,
			near: func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
				y []uint32, groups, panels int) {
				asm.ByteNear24x16AVX512(&bytes64(hits)[hitBytes], 8*hitWords, &limits[0], &starts[0], &kinds[0], &x[0],
					xStride, &y[0], groups, panels)
			},
			most: func(most, starts, kinds []int32, x []uint32, xStride int, y []uint32, groups, panels int) {
				asm.ByteMost24x16AVX512(&most[0], &starts[0], &kinds[0], &x[0], xStride, &y[0], groups, panels)
			},
		},
	}
}

// bytes64 are the bytes of words of 64 bits.
func bytes64(words []uint64) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
