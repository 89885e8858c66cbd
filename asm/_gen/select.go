package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func addSelections() {
	for _, s := range isas {
		addLowestOfLanes(s)
		addNotBeyond(s)
	}
}

// lowest holds the smallest scores so far, and their columns, lane by lane.
type lowest struct {
	isa
	score, column VecVirtual
}

// take takes score where it is smaller than what there is; NaN never is.
func (l lowest) take(score, column VecVirtual) {
	if l.masks {
		k := K()
		VCMPPS(Imm(cmpLess), l.score, score, k)
		VMOVAPS(score, k, l.score)
		VMOVDQA32(column, k, l.column)
		return
	}
	m := l.vector()
	VCMPPS(Imm(cmpLess), l.score, score, m)
	VBLENDVPS(m, score, l.score, l.score)
	VBLENDVPS(m, column, l.column, l.column)
}

// intData is the memory of a 32-bit integer.
func intData(x int) Mem {
	return ConstData(fmt.Sprintf("int32_%d", x), U32(x))
}

// addLowestOfLanes finds the smallest of the lanes by folding them in halves: scores first,
// then the columns of those that equal the smallest.
func addLowestOfLanes(s isa) {
	name := "LowestOfLanes" + s.suffix
	TEXT(name, NOSPLIT, "func(score *float32, column *int32, scores *float32, columns *int32, rows int)")
	Doc(
		fmt.Sprintf("%s sets score[i] to the smallest of scores[%d*i:][:%d], none of them a NaN, and", name, s.floats(),
			s.floats()),
		"column[i] to the smallest of the columns that have it, taken as unsigned. rows is positive.",
	)
	Pragma("noescape")
	score, column := Load(Param("score"), GP64()), Load(Param("column"), GP64())
	scores, columns := Load(Param("scores"), GP64()), Load(Param("columns"), GP64())
	rows := Load(Param("rows"), GP64())
	ones := s.vector()
	s.ones(ones)
	Label("row")
	v, least, c := s.vector(), s.vector(), s.vector()
	VMOVUPS(Mem{Base: scores}, v)
	s.foldLanes(v, least, func(x, y, to Op) { VMINPS(x, y, to) })
	if s.masks {
		k := K()
		VCMPPS(Imm(cmpEqual), least, v, k)
		VMOVAPS(ones, c)
		VMOVDQU32(Mem{Base: columns}, k, c)
	} else {
		VCMPPS(Imm(cmpEqual), least, v, c)
		VBLENDVPS(c, Mem{Base: columns}, ones, c)
	}
	s.foldLanes(c, c, func(x, y, to Op) { VPMINUD(x, y, to) })
	zero := XMM()
	VXORPS(zero, zero, zero)
	VADDSS(zero, least.AsX(), zero) // -0 becomes +0
	VMOVSS(zero, Mem{Base: score})
	VMOVD(c.AsX(), Mem{Base: column})
	ADDQ(Imm(4), score)
	ADDQ(Imm(4), column)
	ADDQ(Imm(uint64(s.bytes())), scores)
	ADDQ(Imm(uint64(s.bytes())), columns)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// ones sets all bits of v.
func (s isa) ones(v VecVirtual) {
	if s.masks {
		VPTERNLOGD(Imm(255), v, v, v)
		return
	}
	VPCMPEQD(v, v, v)
}

// foldLanes puts into every lane of to what op makes of all lanes of v.
func (s isa) foldLanes(v, to VecVirtual, op func(x, y, to Op)) {
	t := s.vector()
	if !s.masks {
		VPERM2F128(Imm(1), v, v, t)
		op(v, t, to)
	} else {
		VSHUFF32X4(Imm(0x4e), v, v, t)
		op(v, t, to)
		VSHUFF32X4(Imm(0xb1), to, to, t)
		op(to, t, to)
	}
	for _, order := range []uint64{0x4e, 0xb1} {
		VPERMILPS(Imm(order), to, t)
		op(to, t, to)
	}
}

// addNotBeyond writes the comparison of squared distances with a limit for each column.
func addNotBeyond(s isa) {
	name := "NotBeyond" + s.suffix
	TEXT(name, NOSPLIT, "func(hits *uint64, dots *float32, rowNorms *float32, colNorms *float32, limits *float32, rows int, vectors int)")
	Doc(
		name+" sets bit j of hits[i] where",
		"",
		fmt.Sprintf("\td := fma32(-2, dots[i*%d*vectors+j], rowNorms[i]+colNorms[j])", s.floats()),
		"\t!(d > limits[j])",
		"",
		"and clears the other bits. rows and vectors are positive, a row has 64 columns at most.",
	)
	Pragma("noescape")
	hits, dots := Load(Param("hits"), GP64()), Load(Param("dots"), GP64())
	rowNorms, rows := Load(Param("rowNorms"), GP64()), Load(Param("rows"), GP64())
	minusTwo, rowNorm := s.vector(), s.vector()
	VBROADCASTSS(float32Data(-2), minusTwo)
	Label("row")
	norms, limits, left, bits := GP64(), GP64(), GP64(), GP64()
	MOVQ(argument("colNorms"), norms)
	MOVQ(argument("limits"), limits)
	MOVQ(argument("vectors"), left)
	XORQ(bits, bits)
	VBROADCASTSS(Mem{Base: rowNorms}, rowNorm)
	Label("vector")
	sum, v, some := s.vector(), s.vector(), GP64()
	VADDPS(Mem{Base: norms}, rowNorm, sum)
	VMOVUPS(Mem{Base: dots}, v)
	VFMADD213PS(sum, minusTwo, v)
	s.notGreater(v, Mem{Base: limits}, some)
	Comment("New bits come in at the top; the last come to rest there.")
	ORQ(some, bits)
	RORQ(Imm(uint64(s.floats())), bits)
	for _, p := range []Register{dots, norms, limits} {
		ADDQ(Imm(uint64(s.bytes())), p)
	}
	DECQ(left)
	JNZ(LabelRef("vector"))
	MOVQ(argument("vectors"), RCX)
	IMUL3Q(Imm(uint64(s.floats())), RCX, RCX)
	ROLQ(CL, bits)
	MOVQ(bits, Mem{Base: hits})
	ADDQ(Imm(8), hits)
	ADDQ(Imm(4), rowNorms)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// notGreater sets the low bits of to where v is not greater than limit, and clears the rest.
func (s isa) notGreater(v VecVirtual, limit Mem, to Register) {
	if s.masks {
		k := K()
		VCMPPS(Imm(cmpNotGreater), limit, v, k)
		KMOVW(k, to.(GPVirtual).As32())
		return
	}
	VCMPPS(Imm(cmpNotGreater), limit, v, v)
	VMOVMSKPS(v, to.(GPVirtual).As32())
}
