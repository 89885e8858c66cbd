package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/gram-compute/gram/asm/_gen/vex"
)

// byteStrips is a byteTile for 16 registers of 256 bits: a panel of byteWidth packed rows is done in strips, of vectors
// that leave a register each for a packed row and for a query.
type byteStrips struct{ byteTile }

// byteWidth is the number of packed rows of a panel.
const byteWidth = 64

// narrowBytes are the sets that the same programs of 256 bits are written for: CPUs with AVX-VNNI, and, for tests,
// those with AVX512_VNNI and AVX512VL, which differ in the encoding of one instruction.
func narrowBytes() []isa {
	byVEX, byEVEX := isas[0], isas[0]
	byVEX.suffix, byEVEX.suffix = vex.Suffix, "AVX512VL"
	return []isa{byVEX, byEVEX}
}

func addByteStrips() {
	for _, s := range narrowBytes() {
		byteStrips{byteTile{s, 6, 2}}.add()
		byteStrips{byteTile{s, 1, 8}}.add()
	}
}

func (t byteStrips) add() {
	t.declare(byteWidth)
	r := byteStripRegisters{byteRegisters: t.load(), strip: GP64(), at: GP64()}
	XORQ(r.found, r.found)
	MOVQ(U32(1), r.bit)
	MOVQ(r.y, r.at)
	Label("panel")
	for i := range t.queries {
		MOVQ(I32(0), Mem{Base: r.hits, Disp: 8 * i})
	}
	MOVQ(U32(t.strips()), r.strip)
	Label("strip")
	MOVQ(r.at, r.y)
	r.begin()
	r.steps()
	r.compare()
	r.nextStrip()
	r.nextPanel()
	Store(r.found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func (t byteStrips) strips() int { return byteWidth / t.width() }

// byteStripRegisters are the registers of one function: y goes down the groups of a strip.
type byteStripRegisters struct {
	*byteRegisters
	strip, at Register // strips left of the panel, and where this one begins
}

// compare looks whether a bit of the strip is to be set, as that of byteRegisters does, and writes if one is.
func (r *byteStripRegisters) compare() {
	Label("compare")
	spreads, signs := GP64(), r.vector()
	MOVQ(argument("spreads"), spreads)
	r.ones(signs)
	r.eachLeast(spreads, func(_, _ int, least, sum VecVirtual) {
		VSUBPS(least, sum, sum)
		VPAND(sum, signs, signs)
	})
	some := GP32()
	VMOVMSKPS(signs, some)
	CMPL(some, U32(1<<r.floats()-1))
	JE(LabelRef("none"))
	ORQ(r.bit, r.found)
	r.eachLeast(spreads, func(i, v int, least, sum VecVirtual) {
		VCMPPS(Imm(cmpNotGreater), sum, least, least)
		some := GP32()
		VMOVMSKPS(least, some)
		MOVB(some.As8(), Mem{Base: r.hits, Disp: 8*i + v})
		VMOVDQU(r.acc[i][v], Mem{Base: r.dots, Disp: 4*byteWidth*i + v*r.bytes()})
	})
	Label("none")
}

// eachLeast is that of byteRegisters with what a vector of rows has in common in one register at a time.
func (r *byteStripRegisters) eachLeast(spreads Register, visit func(i, v int, least, sum VecVirtual)) {
	for v := range r.vectors {
		lift, sum := r.vector(), r.vector()
		VBROADCASTSS(Mem{Base: spreads}, lift)
		VMULPS(r.term(2, v), lift, lift)
		VBROADCASTSS(Mem{Base: spreads, Disp: 4}, sum)
		VFMADD231PS(r.term(3, v), sum, lift)
		for i, row := range r.acc {
			least, sum := r.vector(), r.vector()
			VBROADCASTSS(Mem{Base: r.factors, Disp: 4 * i}, least)
			VFMADD132PS(r.term(0, v), lift, least)
			VBROADCASTSS(Mem{Base: r.limits, Disp: 4 * i}, sum)
			VFNMADD231PS(r.term(1, v), sum, least)
			VCVTDQ2PS(row[v], sum)
			visit(i, v, least, sum)
		}
	}
}

func (r *byteStripRegisters) term(term, v int) Mem {
	return Mem{Base: r.terms, Disp: 4*byteWidth*term + v*r.bytes()}
}

// nextStrip goes on to the next strip of the panel.
func (r *byteStripRegisters) nextStrip() {
	ADDQ(Imm(uint64(r.vectors)), r.hits)
	ADDQ(I32(4*r.width()), r.dots)
	ADDQ(I32(4*r.width()), r.terms)
	ADDQ(I32(4*r.width()), r.at)
	DECQ(r.strip)
	JNZ(LabelRef("strip"))
}

// nextPanel goes on from behind the last strip to the next panel.
func (r *byteStripRegisters) nextPanel() {
	LEAQ(Mem{Base: r.y, Disp: 4 * (r.width() - byteWidth)}, r.at)
	if r.queries > 1 {
		ADDQ(Imm(uint64(8*(r.queries-1))), r.hits)
		ADDQ(I32(4*byteWidth*(r.queries-1)), r.dots)
	}
	ADDQ(I32(4*3*byteWidth), r.terms)
	SHLQ(Imm(1), r.bit)
	DECQ(r.panels)
	JNZ(LabelRef("panel"))
}
