package kernelops

import (
	"math"
	"unsafe"
)

const (
	byteWidth = 64     // rows of a panel
	byteGroup = 4      // columns whose products one instruction adds up
	byteCols  = 65_000 // the most columns for which 255*128 each fit in 32 bits
	byteLift  = 128    // what is added to the bytes of a base, which are unsigned
	// byteMagic rounds what is added to it to whole numbers, and has these in its lowest bits.
	byteMagic = 1.5 * (1 << 52)
	// byteNear is how much smaller the unit of a row may be than the largest of its base.
	byteNear = 0x1p-30
)

// byteSet is a set's code for rows of 8 bits: see the comments in package asm.
type byteSet struct {
	queries   int // of a tile
	tile, one byteTile
	assign    assignTiles
	pairs     pairDistances
	extent    func(lanes *byteLanes, x []float32, center []float64)
	row       func(lanes *byteLanes, bytes []uint8, x []float32, center []float64, perUnit, unit, magic float64)
	blocks    byteBlocks
}

// HasBytes reports whether a set has code for rows of 8 bits on this CPU.
func HasBytes(s *Set) bool { return s.bytes != nil }

// byteTile compares queries with panels of packed rows.
type byteTile func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32, starts []int32,
	spreads []float32, groups, panels int) (found uint64)

// roundedRow is what is known of a row x less the center, of which unit times whole numbers q of 8 bits are kept.
type roundedRow struct {
	unit   float64
	lost   float64 // at least |x - unit q|
	norm   float64 // |x|^2, for products byteKind's share; NaN of a row that is not finite
	length float64 // at least |x|
	away   float64 // of products: what arithmetic may lose, for each |y|
	slop   float64 // and whatever y is
	exact  bool    // nothing is lost, and the norm is a whole number up to byteExactNorm
}

// byteExactNorm is the largest norm with which all that a tile computes of whole numbers is exact in float32.
const byteExactNorm = 1 << 24

// Relative errors. A row less the center is rounded once, 2^-53; sums of squares take up to byteCols/8 + 4 fused steps,
// below 2^-39 in all, and sqDist64 about as many.
const (
	byteNormError = 0x1p-38
	byteEpsilon   = 0x1p-50
	// byteScan is what the float32 arithmetic of a tile may lose: 6 roundings of every term at most, and a reserve.
	byteScan = 16 * unit
	// byteSlack is what bounds may lose: terms are float32, the norm less byteScan.
	byteSlack = 64 * unit
)

// byteTerms is the number of terms of a panel: for each of its rows, with unit u, the norm less byteScan over
// 2 u scale, scale/u, length/u and lost/u. A row that is of interest to every query has the norm -Inf.
const byteTerms = 4 * byteWidth

// bounds returns between what the distance of sqDist64 lies, from the product of the bytes of two rows, y the one of
// number j in the panel of these terms. With r = x - u q and so for y (Cauchy and Schwarz):
//
//	|<x, y> - ux uy <qx, qy>| = |<rx, y> + <x, ry> - <rx, ry>| <= |rx| |y| + |x| |ry| + |rx| |ry|
func (x *roundedRow) bounds(terms []float32, j int, scale float64, dot int32) (low, high float64) {
	norm := float64(terms[j])
	if math.IsInf(norm, -1) {
		return math.Inf(-1), math.Inf(1)
	}
	u := scale / float64(terms[byteWidth+j])
	length, lost := float64(float64(terms[2*byteWidth+j])*u), float64(float64(terms[3*byteWidth+j])*u)
	sum := x.norm + float64(norm*float64(2*float64(u*scale)))
	about := sum - float64(2*float64(float64(x.unit*u)*float64(dot)))
	slack := float64(x.lost*length) + float64(x.length*lost) + float64(x.lost*lost)
	slack = float64(2*slack) + float64(byteSlack*(math.Abs(x.norm)+math.Abs(sum-x.norm)))
	slack += float64(2 * (x.slop + float64(x.away*length)))
	return about - slack, about + slack
}

// byteCenter is what rows of a base are less, before they are rounded to bytes: any center is right, and one amid the
// rows gives small bounds.
type byteCenter struct {
	byteKind
	values []float64
	whole  bool    // the rows seem to be whole numbers from 0 to 255: units are 1, and nothing is lost
	least  float64 // the smallest unit
}

// byteLanes is memory for the sums of a row.
type byteLanes [24]float64

// measure returns what is known of a row before it is rounded.
func (c *byteCenter) measure(s *byteSet, x []float32, lanes *byteLanes) roundedRow {
	*lanes = byteLanes{}
	s.extent(lanes, x, c.values)
	r := roundedRow{norm: lanes.squares()}
	below, above := lanes.extremes()
	if r.unit = c.unitFor(r.norm, -below, above); !(r.norm < math.Inf(1)) {
		r.norm = math.NaN()
	}
	r.length = float64(math.Sqrt(r.norm) * (1 + byteNormError))
	if c.products && r.norm == r.norm {
		c.share(&r, x)
	}
	return r
}

// unitFor is the unit of a row with that norm and those extremes, less the center; 1 of a row that is not finite.
func (c *byteCenter) unitFor(norm, low, high float64) float64 {
	if !(norm < math.Inf(1)) || c.whole && low >= -128 && high <= 127 {
		return 1
	}
	return max(c.least, max(-low, high)/127)
}

// round rounds a row, which is finite, to bytes, and adds lift to each.
func (c *byteCenter) round(s *byteSet, r *roundedRow, bytes []uint8, x []float32, lift float64, lanes *byteLanes) {
	*lanes = byteLanes{}
	s.row(lanes, bytes, x, c.values, 1/r.unit, r.unit, byteMagic+lift)
	squares := lanes.squares()
	r.exact = c.whole && !c.cosine && r.unit == 1 && squares == 0 && math.Abs(r.norm) <= byteExactNorm &&
		allWhole(x) // a number next to 0 is lost where the center is taken off
	r.lost = lossOf(squares, r.length)
	if c.products {
		r.lost += float64(byteProductError * r.length)
	}
}

// lossOf is at least what a row of at most that length loses, from the squares of it.
func lossOf(squares, length float64) float64 {
	return float64(math.Sqrt(squares)*(1+byteNormError)) + float64(byteEpsilon*length)
}

// extremes returns how far the lanes of extremes are below and above 0, which is where they start. Numbers that are not
// negative have the order of their bits.
func (lane *byteLanes) extremes() (below, above float64) {
	var most [2][2]uint64
	for j := 0; j < 8; j += 2 {
		for i := range 2 {
			most[0][i] = max(most[0][i], math.Float64bits(lane[8+j+i])&^(1<<63))
			most[1][i] = max(most[1][i], math.Float64bits(lane[16+j+i]))
		}
	}
	return math.Float64frombits(max(most[0][0], most[0][1])), math.Float64frombits(max(most[1][0], most[1][1]))
}

// squares adds up the first 8 lanes, by a tree.
func (lane *byteLanes) squares() float64 {
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}

// byteSample is how many rows of a base make its center.
const byteSample = 256

// centerOf is the center of a base: the means of some rows, without those that are not finite.
func centerOf(y Matrix, kind byteKind) byteCenter {
	c := byteCenter{byteKind: kind, values: make([]float64, y.Cols), whole: true}
	some, n := min(y.Rows, byteSample), 0
	var buf []float32
	largest := float32(0)
	for i := range some {
		row, finite := c.direction(&buf, y.Row(sampled(i, some, y.Rows))), true
		for _, v := range row {
			finite = finite && v-v == 0
			c.whole = c.whole && v >= 0 && v <= 255 && v == float32(uint8(v)) //lint:checked from 0 to 255
			largest = max(largest, v)
		}
		if finite {
			n++
			for j, v := range row {
				c.values[j] += float64(v)
			}
		}
	}
	for j := range c.values {
		switch {
		case c.whole && c.products && largest < byteLift:
			c.values[j] = 0 // products about 0 are their own
		case c.whole:
			c.values[j] = byteLift
		case n > 0:
			c.values[j] /= float64(n)
		}
	}
	if c.products {
		c.measureCenter()
	}
	return c
}

// floatsOf are words as numbers of 32 bits that are moved, not computed with.
func floatsOf(words []uint32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// bytesOf are the bytes of words.
func bytesOf(words []uint32) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}

// allWhole reports whether numbers from -0.5 to 255.5 are whole.
func allWhole(x []float32) bool {
	for _, v := range x {
		if v != float32(int32(v)) { //lint:checked below 256
			return false
		}
	}
	return true
}
