//go:build !purego

package kernelops

import (
	"sync"

	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
)

// bytesAVX2 returns the code for rows of 8 bits, or nil. CPUs that have the instruction for it in 256 bits, AVX-VNNI,
// mostly lack AVX-512.
func bytesAVX2(has supports) *byteSet {
	if !has(cpuid.AVXVNNI) || !soundAVXVNNI() {
		return nil
	}
	return bytesAVXVNNI()
}

// soundAVXVNNI compares the code with the loop on this CPU, once: its products are encoded by this project, for Go's
// assembler does not know them, so they must not be taken on trust.
var soundAVXVNNI = sync.OnceValue(func() bool { return !cpuid.CPU.Supports(cpuid.AVXVNNI) || bytesAVXVNNI().sound() })

func bytesAVXVNNI() *byteSet {
	return bytes256(asm.ByteTile6x64AVXVNNI, asm.ByteTile1x64AVXVNNI, asm.ByteNear6x16AVXVNNI, asm.ByteMost6x16AVXVNNI)
}

// The functions of package asm that multiply bytes.
type (
	byteTileFunc = func(hits *uint64, dots *int32, x, y *uint32, terms, factors, limits *float32, starts *int32,
		spreads *float32, groups, panels int) uint64
	byteNearFunc = func(hits *uint8, hitStride int, limits, starts, kinds *int32, x *uint32, xStride int, y *uint32,
		groups, panels int)
	byteMostFunc = func(most, sums *int32, sumStride int, starts, kinds *int32, x *uint32, xStride int, y *uint32,
		groups, panels int)
)

// bytes256 returns the code that has these tiles.
func bytes256(tile, one byteTileFunc, near byteNearFunc, most byteMostFunc) *byteSet {
	assign := assignTile{rows: 6, width: 16,
		near: func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
			y []uint32, groups, panels int) {
			near(&bytes64(hits)[hitBytes], 8*hitWords, &limits[0], &starts[0], &kinds[0], &x[0], xStride, &y[0],
				groups, panels)
		},
		most: func(greatest, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int, y []uint32,
			groups, panels int) {
			most(&greatest[0], &sums[0], sumStride, &starts[0], &kinds[0], &x[0], xStride, &y[0], groups, panels)
		},
	}
	return &byteSet{
		queries: byteTileQueries,
		tile:    byteTileOf(tile),
		one:     byteTileOf(one),
		assign:  assignTiles{wide: assign, narrow: assign},
		blocks:  blocksGeneric(),
		pairs:   pairDistancesAVX2,
		extent: func(lanes *byteLanes, x []float32, center []float64) {
			asm.ByteExtentAVX2(&lanes[0], &x[0], &center[0], len(x))
		},
		row: func(lanes *byteLanes, bytes []uint8, x []float32, center []float64, perUnit, unit, magic float64) {
			asm.ByteRowAVX2(&lanes[0], &bytes[0], &x[0], &center[0], len(x), perUnit, unit, magic)
		},
	}
}

func byteTileOf(tile byteTileFunc) byteTile {
	return func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32, starts []int32,
		spreads []float32, groups, panels int) uint64 {
		return tile(&hits[0], &dots[0], &x[0], &y[0], &terms[0], &factors[0], &limits[0], &starts[0], &spreads[0],
			groups, panels)
	}
}
