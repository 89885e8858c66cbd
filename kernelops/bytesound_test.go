package kernelops

import (
	"math/bits"
	"testing"
)

// TestSound: all codes for rows of 8 bits are sound.
func TestSound(t *testing.T) {
	for name, s := range byteSets() {
		if !s.sound() {
			t.Errorf("%s differs from the loop", name)
		}
	}
}

// TestUnsound: tiles that err in one way each are found.
func TestUnsound(t *testing.T) {
	loop := byteTileGeneric(byteTileQueries)
	swapped := func(words []uint32) []uint32 { // signed for unsigned
		other := make([]uint32, len(words))
		for i, v := range words {
			other[i] = v ^ 0x80808080
		}
		return other
	}
	for name, tile := range map[string]byteTile{
		"signed rows": func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32,
			starts []int32, spreads []float32, groups, panels int) uint64 {
			return loop(hits, dots, x, swapped(y), terms, factors, limits, starts, spreads, groups, panels)
		},
		"operands in each other's place": func(hits []uint64, dots []int32, x, y []uint32, terms, factors,
			limits []float32, starts []int32, spreads []float32, groups, panels int) uint64 {
			return loop(hits, dots, swapped(x), swapped(y), terms, factors, limits, starts, spreads, groups, panels)
		},
		"a group short": func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32,
			starts []int32, spreads []float32, groups, panels int) uint64 {
			x = append([]uint32(nil), x...)
			x[len(x)-1] = 0
			return loop(hits, dots, x, y, terms, factors, limits, starts, spreads, groups, panels)
		},
		"a hit lost": func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32,
			starts []int32, spreads []float32, groups, panels int) uint64 {
			found := loop(hits, dots, x, y, terms, factors, limits, starts, spreads, groups, panels)
			hits[len(hits)-1] &^= 1 << bits.TrailingZeros64(hits[len(hits)-1])
			return found
		},
		"a panel lost": func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32,
			starts []int32, spreads []float32, groups, panels int) uint64 {
			return loop(hits, dots, x, y, terms, factors, limits, starts, spreads, groups, panels) & (panels64 - 1)
		},
		"above for at least": func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32,
			starts []int32, spreads []float32, groups, panels int) uint64 {
			less := append([]int32(nil), starts...)
			less[0]--
			found := loop(hits, dots, x, y, terms, factors, limits, less, spreads, groups, panels)
			for i := range dots {
				if i/byteWidth%byteTileQueries == 0 {
					dots[i]++
				}
			}
			return found
		},
	} {
		s := bytesGeneric()
		if s.tile = tile; s.sound() {
			t.Errorf("%s is not found", name)
		}
	}
}

// panels64 is the bit of the last panel.
const panels64 = 1 << (soundPanels - 1)

// TestUnsoundAssign: the tiles of k-means are looked at, too.
func TestUnsoundAssign(t *testing.T) {
	for name, spoil := range map[string]func(tile *assignTile){
		"above for at least": func(tile *assignTile) {
			near := tile.near
			tile.near = func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32,
				xStride int, y []uint32, groups, panels int) {
				more := append([]int32(nil), limits...)
				for i := range more {
					more[i]++
				}
				near(hits, hitWords, hitBytes, more, starts, kinds, x, xStride, y, groups, panels)
			}
		},
		"a lane lost": func(tile *assignTile) {
			most := tile.most
			tile.most = func(greatest, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int,
				y []uint32, groups, panels int) {
				most(greatest, sums, sumStride, starts, kinds, x, xStride, y, groups, panels)
				greatest[len(greatest)-1]--
			}
		},
		"a sum lost": func(tile *assignTile) {
			most := tile.most
			tile.most = func(greatest, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int,
				y []uint32, groups, panels int) {
				most(greatest, sums, sumStride, starts, kinds, x, xStride, y, groups, panels)
				sums[(tile.rows-1)*sumStride+panels*tile.width-1] = 0
			}
		},
	} {
		wide, narrow := bytesGeneric(), bytesGeneric()
		spoil(&wide.assign.wide)
		spoil(&narrow.assign.narrow)
		if wide.sound() || narrow.sound() {
			t.Errorf("%s is not found", name)
		}
	}
}
