package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// byteAhead is how far ahead of its use a row is fetched, in bytes.
const byteAhead = 4096

// byteSteps runs body over the columns of a row, 8 at a time, and over those that are left under a mask, with the row
// less its center in float64. k is nil where all 8 are there.
func byteSteps(s isa, x, center, left Register, ahead bool, body func(centered VecVirtual, k Register)) {
	step := func(k Register) {
		v, c := s.vector(), s.vector()
		if k == nil {
			if ahead {
				PREFETCHT0(Mem{Base: x, Disp: byteAhead})
			}
			VCVTPS2PD(Mem{Base: x}, v)
			VSUBPD(Mem{Base: center}, v, v)
		} else {
			VMOVUPS_Z(Mem{Base: x}, k, v)
			VCVTPS2PD(v.AsY(), v)
			VMOVUPD_Z(Mem{Base: center}, k, c)
			VSUBPD(c, v, v)
		}
		body(v, k)
	}
	SUBQ(Imm(8), left)
	JL(LabelRef("last"))
	Label("loop")
	step(nil)
	ADDQ(Imm(32), x)
	ADDQ(Imm(64), center)
	SUBQ(Imm(8), left)
	JGE(LabelRef("loop"))
	Label("last")
	ADDQ(Imm(8), left)
	JZ(LabelRef("done"))
	step(s.tailMask(left))
	Label("done")
}

// addByteExtent measures a row: how far it is from the center, and its extremes.
func addByteExtent(s isa) {
	name := "ByteExtent" + s.suffix
	TEXT(name, NOSPLIT, "func(lanes *float64, x *float32, center *float64, dim int)")
	Doc(
		name+" measures a row less its center in 24 lanes:",
		"",
		"\tfor i := range dim {",
		"\t\tt := float64(x[i]) - center[i]",
		"\t\tlanes[i%8] = math.FMA(t, t, lanes[i%8])",
		"\t\tlanes[8+i%8] = min(lanes[8+i%8], t)",
		"\t\tlanes[16+i%8] = max(lanes[16+i%8], t)",
		"\t}",
		"",
		"all of which start from 0. dim is positive. With a NaN in the row, the extremes are of no meaning.",
	)
	Pragma("noescape")
	lanes, x := Load(Param("lanes"), GP64()), Load(Param("x"), GP64())
	center, left := Load(Param("center"), GP64()), Load(Param("dim"), GP64())
	squares, low, high := s.vector(), s.vector(), s.vector()
	for _, v := range []VecVirtual{squares, low, high} {
		s.zero(v)
	}
	byteSteps(s, x, center, left, true, func(t VecVirtual, _ Register) {
		VFMADD231PD(t, t, squares)
		VMINPD(t, low, low)
		VMAXPD(t, high, high)
	})
	for i, v := range []VecVirtual{squares, low, high} {
		VMOVUPD(v, s.at(lanes, i))
	}
	VZEROUPPER()
	RET()
}

// addByteRow rounds a row to bytes.
func addByteRow(s isa) {
	name := "ByteRow" + s.suffix
	TEXT(name, NOSPLIT, "func(lanes *float64, bytes *uint8, x *float32, center *float64, dim int, perUnit float64, unit float64, magic float64)")
	Doc(
		name+" rounds a row less its center to whole units, and sums the squares of what that loses in 8 lanes:",
		"",
		"\tfor i := range dim {",
		"\t\tt := float64(x[i]) - center[i]",
		"\t\tsum := math.FMA(t, perUnit, magic)",
		"\t\tbytes[i] = byte(math.Float64bits(sum))",
		"\t\trest := math.FMA(-unit, sum-magic, t)",
		"\t\tlanes[i%8] = math.FMA(rest, rest, lanes[i%8])",
		"\t}",
		"",
		"The lanes start from 0; perUnit and unit are finite. magic is 1.5 * 2^52, or more by a whole number that is added to each byte; dim is positive.",
	)
	Pragma("noescape")
	lanes, bytes := Load(Param("lanes"), GP64()), Load(Param("bytes"), GP64())
	x, center := Load(Param("x"), GP64()), Load(Param("center"), GP64())
	left := Load(Param("dim"), GP64())
	perUnit, unit, magic, squares := s.vector(), s.vector(), s.vector(), s.vector()
	VBROADCASTSD(argument("perUnit"), perUnit)
	VBROADCASTSD(argument("unit"), unit)
	VBROADCASTSD(argument("magic"), magic)
	s.zero(squares)
	byteSteps(s, x, center, left, true, func(t VecVirtual, k Register) {
		sum, whole := s.vector(), s.vector()
		VMOVAPS(magic, sum)
		VFMADD231PD(t, perUnit, sum)
		VSUBPD(magic, sum, whole)
		VFNMADD231PD(unit, whole, t)
		VFMADD231PD(t, t, squares)
		if k == nil {
			VPMOVQB(sum, Mem{Base: bytes})
			ADDQ(Imm(8), bytes)
		} else {
			VPMOVQB(sum, k, Mem{Base: bytes})
		}
	})
	VMOVUPD(squares, Mem{Base: lanes})
	VZEROUPPER()
	RET()
}
