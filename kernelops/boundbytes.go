package kernelops

import (
	"math"
	"slices"
)

// boundBytes are rows and centers of 8 bits, by which most groups that Bounds looks at are found to be too far. The
// rows stay the same from round to round.
//
// Let x be a row and c a center, both less the origin, of which s q and t p are kept, s and t a unit, q and p whole
// numbers from -128 to 127. Then
//
//	|<x, c> - s t <q, p>| = |<x - s q, c> + <s q, c - t p>| <= |x - s q| |c| + (|x| + |x - s q|) |c - t p|
//
// by Cauchy and Schwarz, where what is lost, x - s q and c - t p, is measured. <q, p> is exact. The rest is computed in
// float32 in at most six roundings of terms whose magnitudes add up to at most 8 (|x|^2 + |c|^2); byteBoundSlack of
// both norms is more than that.
type boundBytes struct {
	screen screenBytes
	rows   *ByteRows

	panels  []uint32     // [panels x words x panelLanes]
	factors [][3][16]f32 // of each panel: the norm, the length and what is lost
	unit    float32      // t
	usable  bool         // for the centers of the round
}

type f32 = float32

// screenBytes is asm.ScreenBytesAVX512.
type screenBytes func(lower, drift, upper *float32, own *int32, pending *uint32, bytes *uint32, rowTerms *float32,
	bytePanels *uint32, byteTerms *float32, byteGroups, perGroup, groups, rows int, constants *float32) (computed int)

const (
	fewPanels     = 4
	byteUnitLeast = 0x1p-40 // units beyond are left to float32
	byteUnitMost  = 0x1p40
)

// newBoundBytes returns nil without rows, or where there are too few panels for a look at bytes to be worth it.
func newBoundBytes(s *Set, rows *ByteRows, panels int) *boundBytes {
	if rows == nil || s.screenBytes == nil || panels < fewPanels {
		return nil
	}
	return &boundBytes{screen: s.screenBytes, rows: rows, panels: make([]uint32, panels*rows.groups*panelLanes),
		factors: make([][3][16]f32, panels)}
}

// quantize rounds t to whole units of at most 127 in words, and returns at least the length of what is lost. Every word
// has the bytes of 4 columns, stride words apart.
func quantize(words []uint32, stride int, t []float64, unit float64) (lost float64) {
	perUnit, squares, length := 1/unit, 0.0, 0.0
	word, shift, at := uint32(0), uint32(0), 0
	for _, v := range t {
		q := float64(v*perUnit) + byteMagic
		rest := v - float64(unit*(q-byteMagic))
		squares += float64(rest * rest)
		length += float64(v * v)
		word |= uint32(math.Float64bits(q)&0xff) << shift
		if shift += 8; shift == 32 {
			words[at] = word
			word, shift, at = 0, 0, at+stride
		}
	}
	if shift > 0 {
		words[at] = word
	}
	return float64(math.Sqrt(squares)*byteBoundRound) + float64(math.Sqrt(length)*0x1p-48)
}

// extent returns the squared norm and the largest magnitude; an infinity for a NaN.
func extent(t []float64) (norm, most float64) {
	for _, v := range t {
		norm += float64(v * v)
		if m := math.Abs(v); !(m <= most) {
			most = m
		}
	}
	return norm, most
}

// unitOf returns the unit of numbers up to that magnitude, and whether there is one: 127 units are more.
func unitOf(most float64) (unit float64, ok bool) {
	unit = float64(float32(float64(most*(1+0x1p-20)) / 127))
	return unit, unit >= byteUnitLeast && unit <= byteUnitMost
}

// pack rounds the centers of a round, which are at those places.
func (b *boundBytes) pack(c *Centers, place []int32) {
	t, most := make([]float64, c.cols), 0.0
	for i, v := range c.values {
		most = max(most, math.Abs(v-b.rows.center.values[i%c.cols]))
	}
	var unit float64
	if unit, b.usable = unitOf(most); !b.usable {
		return
	}
	b.unit = float32(unit)
	clear(b.panels)
	none := [3][16]f32{[16]f32(slices.Repeat([]float32{float32(math.Inf(1))}, panelLanes))}
	for p := range b.factors {
		b.factors[p] = none
	}
	for j, at := range place {
		p, lane := int(at)/panelLanes, int(at)%panelLanes
		words := b.panels[p*b.rows.groups*panelLanes+lane:]
		norm, lost := b.rows.packCenter(words, panelLanes, c.values[j*c.cols:(j+1)*c.cols], unit, t)
		f := &b.factors[p]
		f[0][lane] = roundDown32(float64(norm * (1 - byteBoundSlack)))
		f[1][lane], f[2][lane] = roundUp32(float64(math.Sqrt(norm)*byteBoundRound)), roundUp32(lost)
	}
}

// bytes is about how much memory they take.
func (b *boundBytes) bytes() int64 {
	if b == nil {
		return 0
	}
	return int64(4 * len(b.panels)) // the rows are not theirs
}
