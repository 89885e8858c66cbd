package kernelops

import "math"

// byteBlocks is a set's code for blocks of ByteRows.
type byteBlocks struct {
	// measure is byteSet.extent: norms are byteLanes.squares, lows and highs the extremes of each row.
	measure func(norms, lows, highs []float64, x Matrix, center []float64)
	// round is byteSet.row with the numbers 1/unit and unit of each row: losses are byteLanes.squares, sums those of
	// the bytes.
	round func(losses, sums []float64, bytes []uint8, byteStride int, x Matrix, center, units []float64)
	// limits sets the limits of rows at these distances from a center, and where their starts begin.
	limits func(limits, offsets []int32, sqDist []float64, rows rowNumbers, per *[byteUnits]float64, size int,
		numbers *[4]float64)
	// reached sets a bit for each sum of a row that is not below its limit.
	reached func(hits []uint64, stride int, limits, sums []int32, sumStride, rows int)
}

// rowNumbers is what limits need to know of rows: see byteRow.
type rowNumbers struct {
	norms, losses []float32
	starts, kinds []int32
}

func newRowNumbers(n int) rowNumbers {
	return rowNumbers{make([]float32, n), make([]float32, n), make([]int32, n), make([]int32, n)}
}

// from are the numbers of row first and those after it.
func (r rowNumbers) from(first int) rowNumbers {
	return rowNumbers{r.norms[first:], r.losses[first:], r.starts[first:], r.kinds[first:]}
}

// set takes the numbers of a row.
func (r rowNumbers) set(i int, row *byteRow) {
	r.norms[i], r.losses[i], r.starts[i], r.kinds[i] = row.norm, row.otherLoss, row.start, row.kind
}

// blocksGeneric is what the code of every other set equals, to the bit.
func blocksGeneric() byteBlocks {
	return byteBlocks{measure: byteMeasuresGeneric, round: byteRoundsGeneric, limits: byteLimitsGeneric,
		reached: byteReachedGeneric}
}

func byteMeasuresGeneric(norms, lows, highs []float64, x Matrix, center []float64) {
	for i := range x.Rows {
		var lanes byteLanes
		byteExtentGeneric(&lanes, x.Row(i), center)
		norms[i], lows[i], highs[i] = lanes.squares(), 0, 0
		for j := range 8 {
			lows[i], highs[i] = min(lows[i], lanes[8+j]), max(highs[i], lanes[16+j])
		}
	}
}

func byteRoundsGeneric(losses, sums []float64, bytes []uint8, byteStride int, x Matrix, center, units []float64,
) {
	for i := range x.Rows {
		var lanes byteLanes
		row := bytes[i*byteStride:][:x.Cols]
		byteRowGeneric(&lanes, row, x.Row(i), center, units[2*i], units[2*i+1], byteMagic)
		losses[i], sums[i] = lanes.squares(), 0
		for _, v := range row {
			sums[i] += float64(int8(v))
		}
	}
}

func byteLimitsGeneric(limits, offsets []int32, sqDist []float64, rows rowNumbers, per *[byteUnits]float64, size int,
	numbers *[4]float64) {
	for i, d := range sqDist {
		kind := rows.kinds[i]
		offsets[i] = kind * int32(size)
		gap := float64(rows.norms[i]) - float64(d*numbers[0]) + float64(float64(rows.losses[i])*numbers[1])
		limits[i] = math.MinInt32
		if limit := float64(gap * per[kind]); limit > numbers[2] {
			// to 0, which is up below it; and the offset of the bytes of centers adds to the products
			limits[i] = int32(min(limit, numbers[3])) - 2 - rows.starts[i] //lint:checked within 31 bits
		}
	}
}

func byteReachedGeneric(hits []uint64, stride int, limits, sums []int32, sumStride, rows int) {
	for i := range rows {
		for j, sum := range sums[i*sumStride : (i+1)*sumStride] {
			word := &hits[i*stride+j/64]
			*word &^= 1 << (j % 64)
			if sum >= limits[i] {
				*word |= 1 << (j % 64)
			}
		}
	}
}
