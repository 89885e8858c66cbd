package kernelops

import (
	"math"
	"math/bits"
)

// bytesGeneric is what every other code for rows of 8 bits equals, to the bit.
func bytesGeneric() *byteSet {
	return &byteSet{queries: byteTileQueries, tile: byteTileGeneric(byteTileQueries), one: byteTileGeneric(1),
		extent: byteExtentGeneric, row: byteRowGeneric,
		assign: assignGeneric(), pairs: pairDistancesGeneric, blocks: blocksGeneric()}
}

// byteTileQueries is the most of a tile.
const byteTileQueries = 6

// byteTileGeneric compares a number of queries with panels.
func byteTileGeneric(queries int) byteTile {
	return func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32, starts []int32,
		spreads []float32, groups, panels int) (found uint64) {
		var bits [byteTileQueries]uint64
		var sums [byteTileQueries * byteWidth]int32
		for p := range panels {
			t, any := terms[p*byteTerms:], uint64(0)
			for i := range queries {
				bits[i] = 0
				for j := range byteWidth {
					c := starts[i]
					for g := range groups {
						c += dot4(x[g*queries+i], y[(p*groups+g)*byteWidth+j])
					}
					lift := fma32(t[3*byteWidth+j], spreads[1], float32(t[2*byteWidth+j]*spreads[0]))
					least := fma32(t[j], factors[i], lift)
					if least = fma32(-limits[i], t[byteWidth+j], least); least <= float32(c) {
						bits[i] |= 1 << j
					}
					sums[i*byteWidth+j] = c
				}
				any |= bits[i]
			}
			if any != 0 {
				found |= 1 << p
				copy(hits[p*queries:], bits[:queries])
				copy(dots[p*queries*byteWidth:], sums[:queries*byteWidth])
			}
		}
		return found
	}
}

// dot4 is the sum of the products of 4 bytes, those of x signed, those of y not.
func dot4(x, y uint32) int32 {
	sum := int32(0)
	for range byteGroup {
		sum += int32(int8(x)) * int32(uint8(y))
		x, y = bits.RotateLeft32(x, 8), bits.RotateLeft32(y, 8)
	}
	return sum
}

func byteExtentGeneric(lanes *byteLanes, x []float32, center []float64) {
	for i, v := range x {
		t := float64(v) - center[i]
		lanes[i%8] = math.FMA(t, t, lanes[i%8])
		lanes[8+i%8] = min(lanes[8+i%8], t)
		lanes[16+i%8] = max(lanes[16+i%8], t)
	}
}

func byteRowGeneric(lanes *byteLanes, bytes []uint8, x []float32, center []float64, perUnit, unit, magic float64) {
	for i, v := range x {
		t := float64(v) - center[i]
		sum := math.FMA(t, perUnit, magic)
		bytes[i] = byte(math.Float64bits(sum))
		rest := math.FMA(-unit, sum-magic, t)
		lanes[i%8] = math.FMA(rest, rest, lanes[i%8])
	}
}
