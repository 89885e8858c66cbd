package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The constants of Screen, float32 numbers in a row.
const (
	screenDrifted = 4 * iota
	screenNorm
	screenAbsolute
	screenMost
	screenRoot
	screenUnit
)

// The numbers of a row of bytes, 32 bits each, and the terms of a panel of bytes, a vector each.
const (
	byteProduct = 4 * iota
	byteOwnLoss
	byteOtherLoss
	byteStart
	byteNorm
)

// notAbove is the predicate of a comparison that is true unless the first is above the second, for NaN too.
const (
	notAbove = 0x1a
	atMost   = 0x12
)

// screen is what the parts of Screen share.
type screen struct {
	isa
	row, x, lower   Register  // of the row: its number, its vector, its bounds
	left            GPVirtual // and the groups that are left
	own, norm, inf  VecVirtual
	lanes, minusTwo VecVirtual
	scores          VecVirtual
}

// addScreen writes the bounds of rows to groups of centers; only for AVX-512, and for AVX512_VNNI.
func addScreen() {
	addScreenOf("ScreenAVX512", false)
	addScreenOf("ScreenBytesAVX512", true)
}

func addScreenOf(name string, bytes bool) {
	s := screen{isa: isas[1]}
	of := "x *float32, xStride int, origin *float32, shifted *float32, panels *float32, low *float32, dim int"
	if bytes {
		of = "bytes *uint32, rowTerms *float32, bytePanels *uint32, byteTerms *float32, byteGroups int"
	}
	TEXT(name, NOSPLIT, "func(lower *float32, drift *float32, upper *float32, own *int32, pending *uint32, "+of+", perGroup int, groups int, rows int, constants *float32) (computed int)")
	if bytes {
		s.docBytes()
	} else {
		s.doc()
	}
	Pragma("noescape")
	s.lower, s.row = Load(Param("lower"), GP64()), GP64()
	if !bytes {
		s.x = Load(Param("x"), GP64())
	}
	computed := GP64()
	XORQ(s.row, s.row)
	XORQ(computed, computed)
	s.lanes, s.minusTwo, s.inf = ZMM(), ZMM(), ZMM()
	VMOVDQU32(laneNumbers(), s.lanes)
	VBROADCASTSS(float32Data(-2), s.minusTwo)
	VBROADCASTSS(float32Data(float32(math.Inf(1))), s.inf)
	Label("row")
	s.rows(bytes, computed)
	VZEROUPPER()
	Store(computed, ReturnIndex(0))
	RET()
}

// rows goes over the rows, and counts the groups that it looks at.
func (s *screen) rows(bytes bool, computed Register) {
	l, u, most, open := ZMM(), ZMM(), loadArgument("upper"), K()
	VMOVUPS(Mem{Base: s.lower}, l)
	VSUBPS(Mem{Base: loadArgument("drift")}, l, l)
	VMULPS_BCST(Mem{Base: loadArgument("constants"), Disp: screenDrifted}, l, l)
	VBROADCASTSS(Mem{Base: most, Index: s.row, Scale: 4}, u)
	s.left = GP64()
	s.open(l, u, open)
	JZ(LabelRef("decided"))
	s.own = ZMM()
	VPBROADCASTD(Mem{Base: loadArgument("own"), Index: s.row, Scale: 4}, s.own)
	if bytes {
		s.norm = ZMM()
		s.eachGroup(computed, s.bytePanels())
	} else {
		s.shift()
		s.eachGroup(computed, s.panel)
	}
	s.bound(l, open)
	s.open(l, u, K())
	Label("decided")
	MOVL(s.left.As32(), Mem{Base: loadArgument("pending"), Index: s.row, Scale: 4})
	VMOVUPS(l, Mem{Base: s.lower})
	ADDQ(Imm(64), s.lower)
	if !bytes {
		stride := loadArgument("xStride")
		LEAQ(Mem{Base: s.x, Index: stride, Scale: 4}, s.x)
	}
	INCQ(s.row)
	CMPQ(s.row, argument("rows"))
	JL(LabelRef("row"))
}

func (s screen) doc() {
	Doc(
		"ScreenAVX512 finds out which groups of centers may have one that is as near to a row as its own. A group has",
		"perGroup panels of 16 centers; own is the place of a row's center among all of them:",
		"",
		"\tfor i := range rows {",
		"\t\tl, u := lower[16*i:][:16], upper[i]",
		"\t\tfor g := range l { l[g] = (l[g] - drift[g]) * constants[0] }",
		"\t\topen := the bits of groups for which !(l[g] > u)",
		"\t\tcomputed += bits.OnesCount(open)",
		"\t\tif open != 0 {",
		"\t\t\tfor j := range dim { shifted[j] = x[i*xStride+j] - origin[j] }",
		"\t\t\tnorm := dot(shifted, shifted)",
		"\t\t\tfor each group g of open {",
		"\t\t\t\tleast := +Inf",
		"\t\t\t\tfor c in the places of g, but for own[i] {",
		"\t\t\t\t\tleast = min(least, fma32(-2, dot(shifted, center c), low[c]))",
		"\t\t\t\t}",
		"\t\t\t\tl[g] = sqrt(max(0, norm*constants[1]+least+constants[2])) * constants[4]; 0 unless norm <= constants[3]",
		"\t\t\t}",
		"\t\t}",
		"\t\tpending[i] = the bits of groups for which !(l[g] > u)",
		"\t}",
		"",
		"A dot product is of float32, by fused steps in any order. Element k of the center of lane i of panel p is",
		"panels[(p*dim+k)*16+i]. rows, dim and perGroup are positive; groups has a bit for each group.",
	)
}

// open sets left, and the mask k, to the groups that may have a center as near as u.
func (s screen) open(l, u VecVirtual, k Register) {
	VCMPPS(Imm(notAbove), u, l, k)
	KMOVW(k, s.left.As32())
	ANDQ(argument("groups"), s.left)
}

// shift writes the row less the origin, and sets every lane of norm to its squared norm.
func (s *screen) shift() {
	from, origin, to, n := GP64(), loadArgument("origin"), loadArgument("shifted"), loadArgument("dim")
	MOVQ(s.x, from)
	s.norm = ZMM()
	s.zero(s.norm)
	v := ZMM()
	SUBQ(Imm(16), n)
	JL(LabelRef("rest"))
	Label("shift")
	VMOVUPS(Mem{Base: from}, v)
	VSUBPS(Mem{Base: origin}, v, v)
	VMOVUPS(v, Mem{Base: to})
	VFMADD231PS(v, v, s.norm)
	for _, p := range []Register{from, origin, to} {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(16), n)
	JGE(LabelRef("shift"))
	Label("rest")
	ADDQ(Imm(16), n)
	JZ(LabelRef("shifted"))
	k, w := s.tailMask(n), ZMM()
	VMOVUPS_Z(Mem{Base: from}, k, v)
	VMOVUPS_Z(Mem{Base: origin}, k, w)
	VSUBPS(w, v, v)
	VMOVUPS(v, k, Mem{Base: to})
	VFMADD231PS(v, v, s.norm)
	Label("shifted")
	for h := 8; h > 0; h /= 2 {
		VADDPS(s.swapped(s.norm, h), s.norm, s.norm)
	}
}

// eachGroup sets the lanes of scores to the least score of each group that is left.
func (s *screen) eachGroup(computed Register, score func(place GPVirtual) VecVirtual) {
	s.scores = ZMM()
	s.zero(s.scores)
	Label("group")
	group, place := GP64(), GP64()
	MOVQ(argument("perGroup"), place)
	BSFQ(s.left, group)
	INCQ(computed)
	IMULQ(group, place)
	least, panels := ZMM(), loadArgument("perGroup")
	VMOVAPS(s.inf, least)
	Label("panel")
	sum, places, own := score(place), ZMM(), K()
	first := GP64()
	MOVQ(place, first)
	SHLQ(Imm(4), first)
	VPBROADCASTD(first.As32(), places)
	VPADDD(s.lanes, places, places)
	VPCMPEQD(s.own, places, own)
	VMOVAPS(s.inf, own, sum)
	VMINPS(sum, least, least)
	INCQ(place)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	for h := 8; h > 0; h /= 2 {
		VMINPS(s.swapped(least, h), least, least)
	}
	bit, k := GP64(), K()
	MOVQ(s.left, bit)
	NEGQ(bit)
	ANDQ(s.left, bit)
	XORQ(bit, s.left)
	KMOVW(bit.As32(), k)
	VMOVAPS(least, k, s.scores)
	TESTQ(s.left, s.left)
	JNZ(LabelRef("group"))
}

// bytePanels broadcasts what is known of the row of bytes, and returns what scores a panel of them.
func (s *screen) bytePanels() func(place GPVirtual) VecVirtual {
	terms, bytes := GP64(), GP64()
	MOVQ(s.row, terms)
	SHLQ(Imm(5), terms)
	ADDQ(argument("rowTerms"), terms)
	MOVQ(s.row, bytes)
	IMULQ(argument("byteGroups"), bytes)
	SHLQ(Imm(2), bytes)
	ADDQ(argument("bytes"), bytes)
	product, own, other, start := ZMM(), ZMM(), ZMM(), ZMM()
	VBROADCASTSS(Mem{Base: terms, Disp: byteProduct}, product)
	VMULPS_BCST(Mem{Base: loadArgument("constants"), Disp: screenUnit}, product, product)
	VBROADCASTSS(Mem{Base: terms, Disp: byteOwnLoss}, own)
	VBROADCASTSS(Mem{Base: terms, Disp: byteOtherLoss}, other)
	VPBROADCASTD(Mem{Base: terms, Disp: byteStart}, start)
	VBROADCASTSS(Mem{Base: terms, Disp: byteNorm}, s.norm)
	return func(place GPVirtual) VecVirtual {
		panel, n, at := GP64(), GP64(), GP64()
		MOVQ(argument("byteGroups"), n)
		MOVQ(place, panel)
		IMULQ(n, panel)
		SHLQ(Imm(6), panel)
		ADDQ(argument("bytePanels"), panel)
		MOVQ(bytes, at)
		sum := s.dotsOfBytes(at, panel, n, start)
		t := GP64()
		LEAQ(Mem{Base: place, Index: place, Scale: 2}, t)
		SHLQ(Imm(6), t)
		ADDQ(argument("byteTerms"), t)
		VCVTDQ2PS(sum, sum)
		VFMADD213PS(Mem{Base: t}, product, sum)
		VFMADD231PS(Mem{Base: t, Disp: 64}, own, sum)
		VFMADD231PS(Mem{Base: t, Disp: 128}, other, sum)
		return sum
	}
}

// dotsOfBytes returns the dot products of the row at and a panel of n groups of columns, from start on.
func (s *screen) dotsOfBytes(at, panel, n Register, start VecVirtual) VecVirtual {
	sum, sum2 := ZMM(), ZMM()
	VMOVAPS(start, sum)
	s.zero(sum2)
	SUBQ(Imm(2), n)
	JL(LabelRef("byterest"))
	Label("bytes")
	for i, to := range []VecVirtual{sum, sum2} {
		y := ZMM()
		VMOVDQU32(Mem{Base: panel, Disp: 64 * i}, y)
		dotOfBytes(Mem{Base: at, Disp: 4 * i}, y, to)
	}
	ADDQ(Imm(8), at)
	SUBQ(I32(-128), panel)
	SUBQ(Imm(2), n)
	JGE(LabelRef("bytes"))
	Label("byterest")
	ADDQ(Imm(2), n)
	JZ(LabelRef("bytessummed"))
	y := ZMM()
	VMOVDQU32(Mem{Base: panel}, y)
	dotOfBytes(Mem{Base: at}, y, sum)
	Label("bytessummed")
	VPADDD(sum2, sum, sum)
	return sum
}

// dotOfBytes adds to each of the 32-bit lanes of sums the products of 4 bytes: those of x, signed and the same for all
// lanes, and those of y, not signed. avo does not know the instruction.
func dotOfBytes(x Mem, y, sums VecVirtual) {
	Instruction(&ir.Instruction{
		Opcode:   "VPDPBUSD",
		Suffixes: []string{"BCST"},
		Operands: []Op{x, y, sums},
		Inputs:   []Op{x, y, sums},
		Outputs:  []Op{sums},
		ISA:      []string{"AVX512F", "AVX512VNNI"},
	})
}

func (s screen) docBytes() {
	Doc(
		"ScreenBytesAVX512 is ScreenAVX512 by rows and centers of 8 bits: of an open group",
		"",
		"\tt, b := rowTerms[8*i:][:8], bytes[byteGroups*i:][:byteGroups]",
		"\tfor each group g of open {",
		"\t\tleast := +Inf",
		"\t\tfor p in the panels of g {",
		"\t\t\tfor c := range 16 but for own[i] {",
		"\t\t\t\tdot := int32 bits of t[3]",
		"\t\t\t\tfor j := range b { dot += dot4(b[j], bytePanels[(p*byteGroups+j)*16+c]) }",
		"\t\t\t\tscore := fma32(float32(dot), float32(t[0]*constants[5]), byteTerms[48*p+c])",
		"\t\t\t\tscore = fma32(t[1], byteTerms[48*p+16+c], score)",
		"\t\t\t\tleast = min(least, fma32(t[2], byteTerms[48*p+32+c], score))",
		"\t\t\t}",
		"\t\t}",
		"\t\tl[g] = as in ScreenAVX512, with norm t[4]",
		"\t}",
		"",
		"where dot4 is the sum of the products of 4 bytes, those of b signed, those of bytePanels not.",
	)
}

// panel returns the scores of a panel of float32.
func (s screen) panel(place GPVirtual) VecVirtual {
	const chains = 4
	var sums [chains]VecVirtual
	for i := range sums {
		sums[i] = ZMM()
		s.zero(sums[i])
	}
	at, n, panel := loadArgument("shifted"), loadArgument("dim"), GP64()
	MOVQ(place, panel)
	IMULQ(n, panel)
	SHLQ(Imm(6), panel)
	ADDQ(argument("panels"), panel)
	SUBQ(Imm(chains), n)
	JL(LabelRef("few"))
	Label("four")
	for i, sum := range sums {
		v := ZMM()
		VMOVUPS(Mem{Base: panel, Disp: 64 * i}, v)
		VFMADD231PS_BCST(Mem{Base: at, Disp: 4 * i}, v, sum)
	}
	ADDQ(I32(64*chains), panel)
	ADDQ(Imm(4*chains), at)
	SUBQ(Imm(chains), n)
	JGE(LabelRef("four"))
	Label("few")
	ADDQ(Imm(chains), n)
	JZ(LabelRef("summed"))
	c := ZMM()
	Label("one")
	VMOVUPS(Mem{Base: panel}, c)
	VFMADD231PS_BCST(Mem{Base: at}, c, sums[0])
	ADDQ(Imm(64), panel)
	ADDQ(Imm(4), at)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("summed")
	VADDPS(sums[1], sums[0], sums[0])
	VADDPS(sums[3], sums[2], sums[2])
	VADDPS(sums[2], sums[0], sums[0])
	low := GP64()
	MOVQ(place, low)
	SHLQ(Imm(6), low)
	ADDQ(argument("low"), low)
	VFMADD213PS(Mem{Base: low}, s.minusTwo, sums[0])
	return sums[0]
}

// bound sets the lanes of open in l to the bounds that the scores give.
func (s screen) bound(l VecVirtual, open Register) {
	constants, t, zero, bounded := loadArgument("constants"), ZMM(), ZMM(), K()
	s.zero(zero)
	VMULPS_BCST(Mem{Base: constants, Disp: screenNorm}, s.norm, t)
	VADDPS(s.scores, t, t)
	VADDPS_BCST(Mem{Base: constants, Disp: screenAbsolute}, t, t)
	VMAXPS(zero, t, t)
	VSQRTPS(t, t)
	VMULPS_BCST(Mem{Base: constants, Disp: screenRoot}, t, t)
	VCMPPS_BCST(Imm(atMost), Mem{Base: constants, Disp: screenMost}, s.norm, bounded)
	VMOVAPS_Z(t, bounded, t)
	VMOVAPS(t, open, l)
}
