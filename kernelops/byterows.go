package kernelops

import "math"

// ByteRows are rows of 8 bits that are compared with the centers of many rounds: rounded once, with what that loses
// measured. They change no result. Their units are a few kinds, so that what a center's product has to reach is one
// number for each kind. One goroutine.
type ByteRows struct {
	set    *Set
	bytes  *byteSet
	center byteCenter
	cols   int
	groups int       // of 4 columns
	parts  []rowPart // of partRows rows each
	made   int       // rows, from the first on

	kinds  []byteUnit
	kindOf [4*byteUnitRange + 1]uint8 // of each quarter of a power of 2, plus 1; 0 for none

	near  byteRound
	block rowBlock
}

// rowBlock is memory for rows that are rounded at once.
type rowBlock struct {
	norms, lows, highs, losses, sums []float64
	units                            []float64 // 1/unit and unit of each
	kinds                            []int
}

// resize makes room for n rows.
func (r *rowBlock) resize(n int) {
	for _, list := range []*[]float64{&r.norms, &r.lows, &r.highs, &r.losses, &r.sums} {
		*list = Resize(*list, n)
	}
	r.units, r.kinds = Resize(r.units, 2*n), Resize(r.kinds, n)
}

// rowPart is some of the rows.
type rowPart struct {
	words   []uint32  // [partRows and byteAhead more x groups]
	rows    []byteRow // what is known of each
	numbers rowNumbers
}

// byteRow is what is known of a row. asm.ScreenBytesAVX512 takes the first five numbers.
type byteRow struct {
	product, ownLoss, otherLoss float32 // -2 s, -2 |x - s q|, -2 (|x| + |x - s q|), s the unit
	start                       int32   // -128 times the sum of q
	norm                        float32 // |x|^2 less byteBoundSlack of it; NaN where there is no bound
	kind                        int32
	_                           [2]float32
}

// byteUnit is a unit, and what the rows that have it lose.
type byteUnit struct {
	unit float64
	lost float64 // the most that a row lost, in units
}

const (
	partRows      = 1024
	byteAhead     = 24 // rows of a tile, which may go beyond the last one
	byteUnits     = 32
	byteUnitRange = 80 // units are from 2^-40 to 2^40: others are left to float32
	// byteBoundCols is the most columns: products and where they start are below 2^29 each.
	byteBoundCols  = 1 << 14
	byteBoundSlack = 0x1p-17
	byteBoundRound = 1 + 0x1p-30 // more than float64 sums of as many columns err by
	byteUp         = 1 + 0x1p-22 // more than float32 rounds by: all is normal there, or 0
)

// NewByteRows returns no rows yet; nil where the set has no code for bytes, or there are too many columns. Rows are
// taken less the origin, a point amid them, or as whole numbers from 0 to 255 if those of x, some of them, are.
func NewByteRows(s *Set, x Matrix, origin []float32) *ByteRows {
	if s.bytes == nil || x.Cols > byteBoundCols || x.Cols == 0 {
		return nil
	}
	b := &ByteRows{set: s, bytes: s.bytes, cols: x.Cols, groups: (x.Cols + byteGroup - 1) / byteGroup}
	if b.center = centerOf(x, byteKind{}); !b.center.whole || x.Rows == 0 {
		b.center.whole = false
		for j, v := range origin {
			b.center.values[j] = float64(v)
		}
	}
	return b
}

// Bytes is about how much memory they take.
func (b *ByteRows) Bytes() int64 {
	if b == nil {
		return 0
	}
	return int64(len(b.parts)) * int64(4*(partRows+byteAhead)*b.groups+48*partRows)
}

// part returns the part that a row is in, its number there, and how many of rows from it on are.
func (b *ByteRows) part(first, rows int) (p *rowPart, at, n int) {
	at = first % partRows
	return &b.parts[first/partRows], at, min(rows, partRows-at)
}

// add rounds the rows of x, from number first on, unless that was done. Rows come in order the first time.
func (b *ByteRows) add(x Matrix, first int) {
	if first > b.made {
		panic("kernelops: rows of bytes are left out")
	}
	for end := first + x.Rows; b.made < end; {
		at := b.made % partRows
		if at == 0 && b.made/partRows == len(b.parts) {
			b.parts = append(b.parts, rowPart{make([]uint32, (partRows+byteAhead)*b.groups), make([]byteRow, partRows),
				newRowNumbers(partRows)})
		}
		n := min(end-b.made, partRows-at, max(1, byteBlockFloats/b.cols))
		b.round(&b.parts[b.made/partRows], at, x.RowRange(b.made-first, b.made-first+n))
		b.made += n
	}
}

// byteBlockFloats is how many numbers are rounded at once: they stay in the first cache level.
const byteBlockFloats = 4096

// round rounds rows of a part from number at on.
func (b *ByteRows) round(p *rowPart, at int, x Matrix) {
	r := &b.block
	r.resize(x.Rows)
	b.bytes.blocks.measure(r.norms, r.lows, r.highs, x, b.center.values)
	for i := range x.Rows {
		unit := b.center.unitFor(r.norms[i], r.lows[i], r.highs[i])
		r.units[2*i], r.units[2*i+1], r.kinds[i] = 0, 0, -1
		if r.norms[i] < math.Inf(1) {
			r.kinds[i] = b.kind(unit)
		}
		if kind := r.kinds[i]; kind >= 0 {
			unit = b.kinds[kind].unit
			r.units[2*i], r.units[2*i+1] = 1/unit, unit
		}
	}
	bytes := bytesOf(p.words[at*b.groups:])
	b.bytes.blocks.round(r.losses, r.sums, bytes, 4*b.groups, x, b.center.values, r.units)
	for i, kind := range r.kinds {
		row := &p.rows[at+i]
		if kind < 0 {
			clear(bytes[i*4*b.groups : (i+1)*4*b.groups])
			*row = byteRow{norm: float32(math.NaN())}
		} else {
			b.describe(row, kind, r.norms[i], r.losses[i], r.sums[i])
		}
		p.numbers.set(at+i, row)
	}
}

// describe sets what is known of a row, from its norm, the squares of what it loses, and the sum of its bytes.
func (b *ByteRows) describe(to *byteRow, kind int, norm, squares, sum float64) {
	k := &b.kinds[kind]
	length := float64(math.Sqrt(norm) * (1 + byteNormError))
	lost := lossOf(squares, length)
	k.lost = max(k.lost, float64(lost/k.unit))
	length = float64(math.Sqrt(norm) * byteBoundRound)
	start := -byteLift * int32(sum) //lint:checked a whole number of at most 128 for each of byteBoundCols
	*to = byteRow{product: float32(-2 * k.unit), start: start, kind: int32(kind),
		ownLoss: -float32(float64(2 * lost * byteUp)), otherLoss: -float32(float64(2 * (length + lost) * byteUp)),
		norm: float32(float64(norm * (1 - byteBoundSlack) / byteUp))}
}

// quarters are the powers of 2 by quarters, as float32.
var quarters = [4]float64{1, float64(float32(1.1892071)), float64(float32(1.4142135)), float64(float32(1.6817929))}

// kind returns which kind has the least unit that is not below least, or -1.
func (b *ByteRows) kind(least float64) int {
	if !(least < 2*byteUnitMost) {
		return -1
	}
	fraction, exponent := math.Frexp(float64(least * (1 - 0x1p-40))) // so that 1 is 1
	at := 4 * (exponent - 1)
	quarter := 0
	for quarter < 4 && quarters[quarter] < 2*fraction {
		quarter++
	}
	at += quarter + 4*byteUnitRange/2
	if at < 0 || at > 4*byteUnitRange {
		return -1
	}
	if k := b.kindOf[at]; k > 0 {
		return int(k) - 1
	}
	if len(b.kinds) == byteUnits {
		return -1
	}
	b.kinds = append(b.kinds, byteUnit{unit: math.Ldexp(quarters[at%4], at/4-byteUnitRange/2)})
	b.kindOf[at] = uint8(len(b.kinds))
	return len(b.kinds) - 1
}
