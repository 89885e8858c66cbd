package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// sqDistRows is how many rows are read at once: memory answers for all of them together.
const sqDistRows = 4

// addSqDistEach writes the float64 distances of exact search.
func addSqDistEach(s isa) {
	name := "SqDistEach" + s.suffix
	TEXT(name, NOSPLIT, "func(dst *float64, rows **float32, x *float32, dim int)")
	Doc(
		name+" sets dst[r] to the squared distance of x and each of 4 rows, in float64 by 8 lanes:",
		"",
		"\tfor i := range dim {",
		"\t\tt := float64(x[i]) - float64(rows[r][i])",
		"\t\tlane[i%8] += float64(t * t)",
		"\t}",
		"\tfor h := 4; h > 0; h /= 2 {",
		"\t\tfor j := range h {",
		"\t\t\tlane[j] += lane[j+h]",
		"\t\t}",
		"\t}",
		"\tdst[r] = lane[0]",
		"",
		"dim is positive.",
	)
	Pragma("noescape")
	dst, from := Load(Param("dst"), GP64()), Load(Param("rows"), GP64())
	x, left := Load(Param("x"), GP64()), Load(Param("dim"), GP64())
	var rows [sqDistRows]Register
	var lanes [sqDistRows][]VecVirtual
	for r := range rows {
		rows[r], lanes[r] = GP64(), byteVectors(s)
		MOVQ(Mem{Base: from, Disp: 8 * r}, rows[r])
		zeroAll(s, lanes[r])
	}
	sqDistSteps(s, x, left, rows, lanes)
	for r, all := range lanes {
		v, half := all[0], s.vector()
		if s.masks {
			VEXTRACTF64X4(Imm(1), v, half.AsY())
			VADDPD(half.AsY(), v.AsY(), v.AsY())
		} else {
			VADDPD(all[1], v, v)
		}
		VEXTRACTF128(Imm(1), v.AsY(), half.AsX())
		VADDPD(half.AsX(), v.AsX(), v.AsX())
		VPERMILPD(Imm(1), v.AsX(), half.AsX())
		VADDSD(half.AsX(), v.AsX(), v.AsX())
		VMOVSD(v.AsX(), Mem{Base: dst, Disp: 8 * r})
	}
	VZEROUPPER()
	RET()
}

// sqDistSteps adds the squares of all columns to the lanes of each row, 8 at a time and the last under a mask.
func sqDistSteps(s isa, x, left Register, rows [sqDistRows]Register, lanes [sqDistRows][]VecVirtual) {
	at := GP64()
	XORQ(at, at)
	step := func(mask Register) {
		for h := range lanes[0] {
			v := s.someColumns(Mem{Base: x, Index: at, Scale: 4}, h, mask)
			for r := range rows {
				t := s.someColumns(Mem{Base: rows[r], Index: at, Scale: 4}, h, mask)
				VSUBPD(t, v, t)
				VMULPD(t, t, t)
				VADDPD(t, lanes[r][h], lanes[r][h])
			}
		}
	}
	SUBQ(Imm(8), left)
	JL(LabelRef("last"))
	Label("loop")
	step(nil)
	ADDQ(Imm(8), at)
	SUBQ(Imm(8), left)
	JGE(LabelRef("loop"))
	Label("last")
	ADDQ(Imm(8), left)
	JZ(LabelRef("sum"))
	step(s.tail32(left))
	Label("sum")
}

// someColumns loads vector h of 8 columns at from, as float64: those of the mask, if it is not nil.
func (s isa) someColumns(from Mem, h int, mask Register) VecVirtual {
	v := s.vector()
	if mask == nil {
		VCVTPS2PD(from.Offset(4*s.lanes*h), v)
		return v
	}
	s.loadMasked(from, mask, v)
	switch {
	case s.masks:
		VCVTPS2PD(v.AsY(), v)
	case h > 0:
		VEXTRACTF128(Imm(1), v, v.AsX())
		fallthrough
	default:
		VCVTPS2PD(v.AsX(), v)
	}
	return v
}
