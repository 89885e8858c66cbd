package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The constants of Screen, float32 numbers one after the other.
const (
	screenDrifted = 4 * iota
	screenNorm
	screenAbsolute
	screenMost
	screenRoot
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

// addScreen writes the bounds of rows to groups of centers; only for AVX-512.
func addScreen() {
	s := screen{isa: isas[1]}
	TEXT("ScreenAVX512", NOSPLIT, "func(lower *float32, drift *float32, upper *float32, own *int32, pending *uint32, x *float32, xStride int, origin *float32, shifted *float32, panels *float32, low *float32, dim int, perGroup int, groups int, rows int, constants *float32) (computed int)")
	s.doc()
	Pragma("noescape")
	s.x, s.lower, s.row = Load(Param("x"), GP64()), Load(Param("lower"), GP64()), GP64()
	computed := GP64()
	XORQ(s.row, s.row)
	XORQ(computed, computed)
	s.lanes, s.minusTwo, s.inf = ZMM(), ZMM(), ZMM()
	VMOVDQU32(laneNumbers(), s.lanes)
	VBROADCASTSS(float32Data(-2), s.minusTwo)
	VBROADCASTSS(float32Data(float32(math.Inf(1))), s.inf)
	Label("row")
	l, u, most, open := ZMM(), ZMM(), loadArgument("upper"), K()
	VMOVUPS(Mem{Base: s.lower}, l)
	VSUBPS(Mem{Base: loadArgument("drift")}, l, l)
	VMULPS_BCST(Mem{Base: loadArgument("constants"), Disp: screenDrifted}, l, l)
	VBROADCASTSS(Mem{Base: most, Index: s.row, Scale: 4}, u)
	s.left = GP64()
	s.open(l, u, open)
	JZ(LabelRef("decided"))
	s.shift()
	s.eachGroup(computed)
	s.bound(l, open)
	s.open(l, u, K())
	Label("decided")
	MOVL(s.left.As32(), Mem{Base: loadArgument("pending"), Index: s.row, Scale: 4})
	VMOVUPS(l, Mem{Base: s.lower})
	ADDQ(Imm(64), s.lower)
	stride := loadArgument("xStride")
	LEAQ(Mem{Base: s.x, Index: stride, Scale: 4}, s.x)
	INCQ(s.row)
	CMPQ(s.row, argument("rows"))
	JL(LabelRef("row"))
	VZEROUPPER()
	Store(computed, ReturnIndex(0))
	RET()
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
	s.own, s.norm = ZMM(), ZMM()
	VPBROADCASTD(Mem{Base: loadArgument("own"), Index: s.row, Scale: 4}, s.own)
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
func (s *screen) eachGroup(computed Register) {
	s.scores = ZMM()
	s.zero(s.scores)
	Label("group")
	group, place := GP64(), GP64()
	MOVQ(argument("perGroup"), place)
	BSFQ(s.left, group)
	INCQ(computed)
	IMULQ(group, place)
	panel, low := GP64(), GP64()
	MOVQ(place, panel)
	IMULQ(argument("dim"), panel)
	SHLQ(Imm(6), panel)
	ADDQ(argument("panels"), panel)
	MOVQ(place, low)
	SHLQ(Imm(6), low)
	ADDQ(argument("low"), low)
	SHLQ(Imm(4), place)
	least, panels := ZMM(), loadArgument("perGroup")
	VMOVAPS(s.inf, least)
	Label("panel")
	s.panel(panel, low, place, least)
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

// panel lowers least to the scores of a panel, whose first center has that place, and goes to the next.
func (s screen) panel(panel, low Register, place GPVirtual, least VecVirtual) {
	const chains = 4
	var sums [chains]VecVirtual
	for i := range sums {
		sums[i] = ZMM()
		s.zero(sums[i])
	}
	at, n, c := loadArgument("shifted"), loadArgument("dim"), ZMM()
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
	VFMADD213PS(Mem{Base: low}, s.minusTwo, sums[0])
	places, own := ZMM(), K()
	VPBROADCASTD(place.As32(), places)
	VPADDD(s.lanes, places, places)
	VPCMPEQD(s.own, places, own)
	VMOVAPS(s.inf, own, sums[0])
	VMINPS(sums[0], least, least)
	ADDQ(Imm(64), low)
	ADDQ(Imm(16), place)
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
