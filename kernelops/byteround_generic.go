package kernelops

import "unsafe"

// pairDistances computes the distances of rows and centers, as GroupDistances does.
type pairDistances func(dst *[pairRows]float64, rows *[pairRows]*float32, centers *[pairRows]*float64, dim int)

// pairRows is how many pairs it takes.
const pairRows = 4

func pairDistancesGeneric(dst *[pairRows]float64, rows *[pairRows]*float32, centers *[pairRows]*float64, dim int) {
	one := []int32{0}
	for i := range rows {
		groupDistancesGeneric(dst[i:i+1], dim, unsafe.Slice(rows[i], dim), dim, unsafe.Slice(centers[i], dim), one)
	}
}

// assignTiles are the tiles of a set.
type assignTiles struct {
	wide, narrow assignTile
}

// forCenters returns the tile that wastes the least on that many centers.
func (t *assignTiles) forCenters(k int) *assignTile {
	narrow, wide := (k+15)/16*16, (k+63)/64*64
	if 5*narrow < 4*wide { // the narrow tile reads more for each product
		return &t.narrow
	}
	return &t.wide
}

func assignGeneric() assignTiles {
	return assignTiles{wide: assignTileGeneric(6, 64), narrow: assignTileGeneric(24, 16)}
}

// assignTileGeneric is what every other tile equals.
func assignTileGeneric(rows, width int) assignTile {
	each := func(starts, kinds []int32, x []uint32, xStride int, y []uint32, groups, panels int,
		visit func(p, i, j int, sum int32)) {
		for p := range panels {
			for i := range rows {
				for j := range width {
					c := starts[int(kinds[i])+p*width+j]
					for g := range groups {
						c += dot4(x[i*xStride+g], y[(p*groups+g)*width+j])
					}
					visit(p, i, j, c)
				}
			}
		}
	}
	return assignTile{rows: rows, width: width,
		near: func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
			y []uint32, groups, panels int) {
			each(starts, kinds, x, xStride, y, groups, panels, func(p, i, j int, sum int32) {
				bit := 8*hitBytes + p*width + j
				word := &hits[i*hitWords+bit/64]
				*word &^= 1 << (bit % 64)
				if sum >= limits[i] {
					*word |= 1 << (bit % 64)
				}
			})
		},
		most: func(most, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int, y []uint32,
			groups, panels int) {
			each(starts, kinds, x, xStride, y, groups, panels, func(p, i, j int, sum int32) {
				sums[i*sumStride+p*width+j] = sum
				most[16*i+j%16] = max(most[16*i+j%16], sum)
			})
		},
	}
}
