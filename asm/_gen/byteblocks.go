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
	to := []Register{loadArgument("norms"), loadArgument("lows"), loadArgument("highs")}
	b.each(func() {
		squares, low, high := s.vector(), s.vector(), s.vector()
		for _, v := range []VecVirtual{squares, low, high} {
			s.zero(v)
		}
		byteSteps(s, b.from, b.of, b.left, true, func(t VecVirtual, _ Register) {
			VFMADD231PD(t, t, squares)
			VMINPD(t, low, low)
			VMAXPD(t, high, high)
		})
		b.fold(squares, func(a, b, to Op) { VADDPD(a, b, to) })
		b.fold(low, func(a, b, to Op) { VMINPD(a, b, to) })
		b.fold(high, func(a, b, to Op) { VMAXPD(a, b, to) })
		for i, v := range []VecVirtual{squares, low, high} {
			VMOVSD(v.AsX(), Mem{Base: to[i]})
			ADDQ(Imm(8), to[i])
		}
	})
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
	losses, sums, bytes, units := loadArgument("losses"), loadArgument("sums"), loadArgument("bytes"), loadArgument("units")
	magic, at := s.vector(), GP64()
	VBROADCASTSD(argument("magic"), magic)
	b.each(func() {
		perUnit, unit, squares, total := s.vector(), s.vector(), s.vector(), s.vector()
		VBROADCASTSD(Mem{Base: units}, perUnit)
		VBROADCASTSD(Mem{Base: units, Disp: 8}, unit)
		ADDQ(Imm(16), units)
		s.zero(squares)
		s.zero(total)
		MOVQ(bytes, at)
		byteSteps(s, b.from, b.of, b.left, false, func(t VecVirtual, k Register) {
			sum, whole := s.vector(), s.vector()
			VMOVAPS(magic, sum)
			VFMADD231PD(t, perUnit, sum)
			VSUBPD(magic, sum, whole)
			VADDPD(whole, total, total)
			VFNMADD231PD(unit, whole, t)
			VFMADD231PD(t, t, squares)
			if k == nil {
				VPMOVQB(sum, Mem{Base: at})
				ADDQ(Imm(8), at)
			} else {
				VPMOVQB(sum, k, Mem{Base: at})
			}
		})
		ADDQ(argument("byteStride"), bytes)
		for _, v := range []VecVirtual{squares, total} {
			b.fold(v, func(a, b, to Op) { VADDPD(a, b, to) })
		}
		VMOVSD(squares.AsX(), Mem{Base: losses})
		VMOVSD(total.AsX(), Mem{Base: sums})
		ADDQ(Imm(8), losses)
		ADDQ(Imm(8), sums)
	})
}
