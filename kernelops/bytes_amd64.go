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
		blocks:  blocksAVX512(),
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
			most: func(most, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int, y []uint32,
				groups, panels int) {
				asm.ByteMost6x64AVX512(&most[0], &sums[0], sumStride, &starts[0], &kinds[0], &x[0], xStride, &y[0],
					groups, panels)
			},
		},
		narrow: assignTile{rows: 24, width: 16,
			near: func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
				y []uint32, groups, panels int) {
				asm.ByteNear24x16AVX512(&bytes64(hits)[hitBytes], 8*hitWords, &limits[0], &starts[0], &kinds[0], &x[0],
					xStride, &y[0], groups, panels)
			},
			most: func(most, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int, y []uint32,
				groups, panels int) {
				asm.ByteMost24x16AVX512(&most[0], &sums[0], sumStride, &starts[0], &kinds[0], &x[0], xStride, &y[0],
					groups, panels)
			},
		},
	}
}

// blocksAVX512 returns the code for blocks of rows.
func blocksAVX512() byteBlocks {
	return byteBlocks{
		measure: func(norms, lows, highs []float64, x Matrix, center []float64) {
			asm.ByteMeasuresAVX512(&norms[0], &lows[0], &highs[0], &x.Data[0], x.Stride, &center[0], x.Cols, x.Rows)
		},
		round: func(losses, sums []float64, bytes []uint8, byteStride int, x Matrix, center, units []float64) {
			asm.ByteRoundsAVX512(&losses[0], &sums[0], &bytes[0], byteStride, &x.Data[0], x.Stride, &center[0], x.Cols,
				x.Rows, &units[0], byteMagic)
		},
		limits: func(limits, offsets []int32, sqDist []float64, rows rowNumbers, per *[byteUnits]float64, size int,
			numbers *[4]float64) {
			asm.ByteLimitsAVX512(&limits[0], &offsets[0], &sqDist[0], &rows.norms[0], &rows.losses[0], &rows.starts[0],
				&rows.kinds[0], &per[0], len(sqDist), size, &numbers[0])
		},
		reached: func(hits []uint64, stride int, limits, sums []int32, sumStride, rows int) {
			asm.ByteReachedAVX512(&bytes64(hits)[0], 8*stride, &limits[0], &sums[0], sumStride, sumStride/16, rows)
		},
	}
}

// bytes64 are the bytes of words of 64 bits.
func bytes64(words []uint64) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
