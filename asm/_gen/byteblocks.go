package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// byteBlock is the loop over the rows of a block that are measured or rounded.
type byteBlock struct {
	isa
	x, stride, center, rows Register
	from, of, left          Register // what a row consumes
}

func (s isa) byteBlock() *byteBlock {
	b := &byteBlock{isa: s, x: loadArgument("x"), stride: loadArgument("stride"), center: loadArgument("center"),
		rows: loadArgument("rows"), from: GP64(), of: GP64(), left: GP64()}
	SHLQ(Imm(2), b.stride)
	return b
}

// each runs body for each row, after its pointers are set.
func (b *byteBlock) each(body func()) {
	Label("row")
	MOVQ(b.x, b.from)
	MOVQ(b.center, b.of)
	MOVQ(argument("dim"), b.left)
	body()
	ADDQ(b.stride, b.x)
	DECQ(b.rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// fold combines the 8 lanes of v as ((0 4) (2 6)) ((1 5) (3 7)).
func (b *byteBlock) fold(v VecVirtual, combine func(a, b, to Op)) {
	half := b.vector()
	VEXTRACTF64X4(Imm(1), v, half.AsY())
	combine(half.AsY(), v.AsY(), v.AsY())
	VEXTRACTF128(Imm(1), v.AsY(), half.AsX())
	combine(half.AsX(), v.AsX(), v.AsX())
	VPERMILPD(Imm(1), v.AsX(), half.AsX())
	combine(half.AsX(), v.AsX(), v.AsX())
}

// addByteMeasures is addByteExtent for a block of rows.
func addByteMeasures(s isa) {
	name := "ByteMeasures" + s.suffix
	TEXT(name, NOSPLIT, "func(norms *float64, lows *float64, highs *float64, x *float32, stride int, center *float64, dim int, rows int)")
	Doc(
		name+" is ByteExtent"+s.suffix+" for a number of rows. norms[r] is the sum of the first 8 lanes of row r,",
		"",
		"\t((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))",
		"",
		"lows[r] the least of the next 8, and highs[r] the greatest of the last. rows is positive.",
	)
	Pragma("noescape")
	b := s.byteBlock()
	m := blockMeasures{byteBlock: b, to: []Register{loadArgument("norms"), loadArgument("lows"), loadArgument("highs")}}
	b.each(func() {
		m.squares, m.low, m.high = byteVectors(s), byteVectors(s), byteVectors(s)
		for _, v := range [][]VecVirtual{m.squares, m.low, m.high} {
			zeroAll(s, v)
		}
		byteSteps(s, b.from, b.of, b.left, true, m)
	})
}

// blockMeasures are the sums of addByteMeasures: those of a row, folded.
type blockMeasures struct {
	*byteBlock
	byteExtent
	to []Register
}

func (m blockMeasures) store() {
	m.fold(m.squares[0], func(a, b, to Op) { VADDPD(a, b, to) })
	m.fold(m.low[0], func(a, b, to Op) { VMINPD(a, b, to) })
	m.fold(m.high[0], func(a, b, to Op) { VMAXPD(a, b, to) })
	for i, v := range [][]VecVirtual{m.squares, m.low, m.high} {
		VMOVSD(v[0].AsX(), Mem{Base: m.to[i]})
		ADDQ(Imm(8), m.to[i])
	}
}

// addByteRounds is addByteRow for a block of rows.
func addByteRounds(s isa) {
	name := "ByteRounds" + s.suffix
	TEXT(name, NOSPLIT, "func(losses *float64, sums *float64, bytes *uint8, byteStride int, x *float32, stride int, center *float64, dim int, rows int, units *float64, magic float64)")
	Doc(
		name+" is ByteRow"+s.suffix+" for a number of rows. 1/unit and unit of row r are units[2*r] and the next number,",
		"its bytes are at bytes[r*byteStride], losses[r] is the sum of its lanes as of ByteMeasures"+s.suffix+", and sums[r]",
		"that of sum-magic of its columns. rows is positive.",
	)
	Pragma("noescape")
	b := s.byteBlock()
	r := blockRounds{byteBlock: b, losses: loadArgument("losses"), sums: loadArgument("sums")}
	bytes, units := loadArgument("bytes"), loadArgument("units")
	r.magic, r.at = s.vector(), GP64()
	VBROADCASTSD(argument("magic"), r.magic)
	b.each(func() {
		r.perUnit, r.unit, r.squares, r.total = s.vector(), s.vector(), s.vector(), s.vector()
		VBROADCASTSD(Mem{Base: units}, r.perUnit)
		VBROADCASTSD(Mem{Base: units, Disp: 8}, r.unit)
		ADDQ(Imm(16), units)
		s.zero(r.squares)
		s.zero(r.total)
		MOVQ(bytes, r.at)
		byteSteps(s, b.from, b.of, b.left, false, r)
		ADDQ(argument("byteStride"), bytes)
	})
}

// blockRounds are the registers and sums of addByteRounds: those of a row, folded.
type blockRounds struct {
	*byteBlock
	at, losses, sums                     Register
	magic, perUnit, unit, squares, total VecVirtual
}

func (r blockRounds) vectors(all []VecVirtual, k Register) {
	t, sum, whole := all[0], r.vector(), r.vector()
	VMOVAPS(r.magic, sum)
	VFMADD231PD(t, r.perUnit, sum)
	VSUBPD(r.magic, sum, whole)
	VADDPD(whole, r.total, r.total)
	VFNMADD231PD(r.unit, whole, t)
	VFMADD231PD(t, t, r.squares)
	if k == nil {
		VPMOVQB(sum, Mem{Base: r.at})
		ADDQ(Imm(8), r.at)
	} else {
		VPMOVQB(sum, k, Mem{Base: r.at})
	}
}

func (blockRounds) single(VecVirtual) { panic("blocks of rows have masks for their last columns") }

func (r blockRounds) store() {
	for _, v := range []VecVirtual{r.squares, r.total} {
		r.fold(v, func(a, b, to Op) { VADDPD(a, b, to) })
	}
	VMOVSD(r.squares.AsX(), Mem{Base: r.losses})
	VMOVSD(r.total.AsX(), Mem{Base: r.sums})
	ADDQ(Imm(8), r.losses)
	ADDQ(Imm(8), r.sums)
}
