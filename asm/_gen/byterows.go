package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// byteAhead is how far ahead of its use a row is fetched, in bytes.
const byteAhead = 4096

// byteLanes is how many columns of a row are taken at a time, in lanes of float64.
const byteLanes = 8

// byteSteps runs body over the columns of a row less its center in float64, byteLanes at a time. Those that are left are
// done under the mask k, which is nil else, and store writes the sums. Without masks, rest adds each of those that are
// left to the sums that are stored.
func byteSteps(s isa, x, center, left Register, body func(centered []VecVirtual, k Register),
	store func(), rest func(t VecVirtual)) {
	step := func(k Register) {
		var all []VecVirtual
		for i := range byteLanes / s.lanes {
			v, c := s.vector(), s.vector()
			if k == nil {
				if i == 0 {
					PREFETCHT0(Mem{Base: x, Disp: byteAhead})
				}
				VCVTPS2PD(s.half(x, i), v)
				VSUBPD(s.at(center, i), v, v)
			} else {
				VMOVUPS_Z(Mem{Base: x}, k, v)
				VCVTPS2PD(v.AsY(), v)
				VMOVUPD_Z(Mem{Base: center}, k, c)
				VSUBPD(c, v, v)
			}
			all = append(all, v)
		}
		body(all, k)
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
	if s.masks {
		ADDQ(Imm(8), left)
		JZ(LabelRef("done"))
		step(s.tailMask(left))
		Label("done")
		store()
		return
	}
	store()
	ADDQ(Imm(8), left)
	JZ(LabelRef("done"))
	Label("rest")
	t := XMM()
	VMOVSS(Mem{Base: x}, t)
	VCVTSS2SD(t, t, t)
	VSUBSD(Mem{Base: center}, t, t)
	rest(t)
	ADDQ(Imm(4), x)
	ADDQ(Imm(8), center)
	DECQ(left)
	JNZ(LabelRef("rest"))
	Label("done")
}

// byteVectors are the registers of byteLanes numbers.
func (s isa) byteVectors() []VecVirtual {
	v := make([]VecVirtual, byteLanes/s.lanes)
	for i := range v {
		v[i] = s.vector()
	}
	return v
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
	squares, low, high := s.byteVectors(), s.byteVectors(), s.byteVectors()
	sums := [][]VecVirtual{squares, low, high}
	for _, sum := range sums {
		for _, v := range sum {
			s.zero(v)
		}
	}
	store := func() {
		for i, sum := range sums {
			for j, v := range sum {
				VMOVUPD(v, s.at(lanes, i*len(sum)+j))
			}
		}
	}
	byteSteps(s, x, center, left, func(all []VecVirtual, _ Register) {
		for i, t := range all {
			VFMADD231PD(t, t, squares[i])
			VMINPD(t, low[i], low[i])
			VMAXPD(t, high[i], high[i])
		}
	}, store, func(t VecVirtual) {
		lane := XMM()
		VMOVSD(Mem{Base: lanes}, lane)
		VFMADD231SD(t, t, lane)
		VMOVSD(lane, Mem{Base: lanes})
		VMINSD(Mem{Base: lanes, Disp: 8 * byteLanes}, t, lane)
		VMOVSD(lane, Mem{Base: lanes, Disp: 8 * byteLanes})
		VMAXSD(Mem{Base: lanes, Disp: 2 * 8 * byteLanes}, t, lane)
		VMOVSD(lane, Mem{Base: lanes, Disp: 2 * 8 * byteLanes})
		ADDQ(Imm(8), lanes)
	})
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
	perUnit, unit, magic, squares := s.vector(), s.vector(), s.vector(), s.byteVectors()
	VBROADCASTSD(argument("perUnit"), perUnit)
	VBROADCASTSD(argument("unit"), unit)
	VBROADCASTSD(argument("magic"), magic)
	for _, v := range squares {
		s.zero(v)
	}
	var order VecVirtual
	if !s.masks {
		order = s.vector()
		VBROADCASTI128(lowBytes(), order)
	}
	store := func() {
		for i, v := range squares {
			VMOVUPD(v, s.at(lanes, i))
		}
	}
	byteSteps(s, x, center, left, func(all []VecVirtual, k Register) {
		var sums []VecVirtual
		for i, t := range all {
			sum, whole := s.vector(), s.vector()
			VMOVAPS(magic, sum)
			VFMADD231PD(t, perUnit, sum)
			VSUBPD(magic, sum, whole)
			VFNMADD231PD(unit, whole, t)
			VFMADD231PD(t, t, squares[i])
			sums = append(sums, sum)
		}
		switch {
		case k != nil:
			VPMOVQB(sums[0], k, Mem{Base: bytes})
			return
		case s.masks:
			VPMOVQB(sums[0], Mem{Base: bytes})
		default:
			VSHUFPS(Imm(0x88), sums[1], sums[0], sums[0]) // the low halves, two of each in turn
			VPSHUFB(order, sums[0], sums[0])
			VEXTRACTI128(Imm(1), sums[0], sums[1].AsX())
			VPUNPCKLWD(sums[1].AsX(), sums[0].AsX(), sums[0].AsX())
			VMOVQ(sums[0].AsX(), Mem{Base: bytes})
		}
		ADDQ(Imm(8), bytes)
	}, store, func(t VecVirtual) {
		sum, lane, low := XMM(), XMM(), GP64()
		VMOVAPS(magic.AsX(), sum)
		VFMADD231SD(t, perUnit.AsX(), sum)
		VMOVQ(sum, low)
		MOVB(low.As8(), Mem{Base: bytes})
		VSUBSD(magic.AsX(), sum, sum)
		VFNMADD231SD(unit.AsX(), sum, t)
		VMOVSD(Mem{Base: lanes}, lane)
		VFMADD231SD(t, t, lane)
		VMOVSD(lane, Mem{Base: lanes})
		ADDQ(Imm(8), lanes)
		ADDQ(Imm(1), bytes)
	})
	VZEROUPPER()
	RET()
}

// lowBytes is the memory of the places of the lowest byte of each word of 32 bits.
var lowBytes = sync.OnceValue(func() Mem {
	m := GLOBL("lowBytes", RODATA|NOPTR)
	for i, v := range []uint32{0x0c080400, 0xffffffff, 0xffffffff, 0xffffffff} {
		DATA(4*i, U32(v))
	}
	return m
})
