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
	var lanes [sqDistRows]VecVirtual
	for r := range rows {
		rows[r], lanes[r] = GP64(), s.vector()
		MOVQ(Mem{Base: from, Disp: 8 * r}, rows[r])
		s.zero(lanes[r])
	}
	sqDistSteps(s, x, left, rows, lanes)
	for r, v := range lanes {
		half := s.vector()
		VEXTRACTF64X4(Imm(1), v, half.AsY())
		VADDPD(half.AsY(), v.AsY(), v.AsY())
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
func sqDistSteps(s isa, x, left Register, rows [sqDistRows]Register, lanes [sqDistRows]VecVirtual) {
	at := GP64()
	XORQ(at, at)
	step := func(load func(m Mem) VecVirtual) {
		v := load(Mem{Base: x, Index: at, Scale: 4})
		for r := range rows {
			t := load(Mem{Base: rows[r], Index: at, Scale: 4})
			VSUBPD(t, v, t)
			VMULPD(t, t, t)
			VADDPD(t, lanes[r], lanes[r])
		}
	}
	SUBQ(Imm(8), left)
	JL(LabelRef("last"))
	Label("loop")
	step(func(m Mem) VecVirtual {
		v := s.vector()
		VCVTPS2PD(m, v)
		return v
	})
	ADDQ(Imm(8), at)
	SUBQ(Imm(8), left)
	JGE(LabelRef("loop"))
	Label("last")
	ADDQ(Imm(8), left)
	JZ(LabelRef("sum"))
	k := s.tailMask(left)
	step(func(m Mem) VecVirtual {
		v := s.vector()
		VMOVUPS_Z(m, k, v)
		VCVTPS2PD(v.AsY(), v)
		return v
	})
	Label("sum")
}
