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

// byteSums are what is computed of a row less its center: vectors adds byteLanes columns, of which those of the mask k
// exist if it is not nil, and store writes the sums. Without masks, single adds a column to the first of the sums that
// are stored, and goes on to the next.
type byteSums interface {
	vectors(centered []VecVirtual, k Register)
	single(centered VecVirtual)
	store()
}

// byteSteps goes over the columns of a row, which it fetches ahead if asked to.
func byteSteps(s isa, x, center, left Register, ahead bool, sums byteSums) {
	SUBQ(Imm(byteLanes), left)
	JL(LabelRef("last"))
	Label("loop")
	sums.vectors(s.centered(x, center, nil, ahead), nil)
	ADDQ(Imm(32), x)
	ADDQ(Imm(64), center)
	SUBQ(Imm(byteLanes), left)
	JGE(LabelRef("loop"))
	Label("last")
	if !s.masks {
		sums.store()
	}
	ADDQ(Imm(byteLanes), left)
	JZ(LabelRef("done"))
	if s.masks {
		k := s.tailMask(left)
		sums.vectors(s.centered(x, center, k, false), k)
		Label("done")
		sums.store()
		return
	}
	Label("rest")
	t := XMM()
	VMOVSS(Mem{Base: x}, t)
	VCVTSS2SD(t, t, t)
	VSUBSD(Mem{Base: center}, t, t)
	sums.single(t)
	ADDQ(Imm(4), x)
	ADDQ(Imm(8), center)
	DECQ(left)
	JNZ(LabelRef("rest"))
	Label("done")
}

// centered loads byteLanes columns less the center, or those of the mask k.
func (s isa) centered(x, center, k Register, ahead bool) []VecVirtual {
	var all []VecVirtual
	for i := range byteLanes / s.lanes {
		v, c := s.vector(), s.vector()
		if k == nil {
			if i == 0 && ahead {
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
	return all
}

// byteVectors are the registers of byteLanes numbers.
func byteVectors(s isa) []VecVirtual {
	v := make([]VecVirtual, byteLanes/s.lanes)
	for i := range v {
		v[i] = s.vector()
	}
	return v
}

// zeroAll clears vectors.
func zeroAll(s isa, all []VecVirtual) {
	for _, v := range all {
		s.zero(v)
	}
}

// storeAll stores vectors of float64 one behind the other, from vector number first on.
func storeAll(s isa, all []VecVirtual, to Register, first int) {
	for i, v := range all {
		VMOVUPD(v, s.at(to, first+i))
	}
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
	e := byteExtent{isa: s, lanes: Load(Param("lanes"), GP64())}
	x := Load(Param("x"), GP64())
	center, left := Load(Param("center"), GP64()), Load(Param("dim"), GP64())
	e.squares, e.low, e.high = byteVectors(s), byteVectors(s), byteVectors(s)
	zeroAll(s, e.squares)
	zeroAll(s, e.low)
	zeroAll(s, e.high)
	byteSteps(s, x, center, left, true, e)
	VZEROUPPER()
	RET()
}

// byteExtent are the sums of addByteExtent.
type byteExtent struct {
	isa
	lanes              Register
	squares, low, high []VecVirtual
}

func (e byteExtent) vectors(all []VecVirtual, _ Register) {
	for i, t := range all {
		VFMADD231PD(t, t, e.squares[i])
		VMINPD(t, e.low[i], e.low[i])
		VMAXPD(t, e.high[i], e.high[i])
	}
}

func (e byteExtent) store() {
	storeAll(e.isa, e.squares, e.lanes, 0)
	storeAll(e.isa, e.low, e.lanes, len(e.low))
	storeAll(e.isa, e.high, e.lanes, 2*len(e.high))
}

func (e byteExtent) single(t VecVirtual) {
	lane := XMM()
	at := func(i int) Mem { return Mem{Base: e.lanes, Disp: 8 * byteLanes * i} }
	VMOVSD(at(0), lane)
	VFMADD231SD(t, t, lane)
	VMOVSD(lane, at(0))
	VMINSD(at(1), t, lane)
	VMOVSD(lane, at(1))
	VMAXSD(at(2), t, lane)
	VMOVSD(lane, at(2))
	ADDQ(Imm(8), e.lanes)
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
	r := byteRow{isa: s, lanes: Load(Param("lanes"), GP64()), bytes: Load(Param("bytes"), GP64())}
	x, center := Load(Param("x"), GP64()), Load(Param("center"), GP64())
	left := Load(Param("dim"), GP64())
	r.perUnit, r.unit, r.magic, r.squares = s.vector(), s.vector(), s.vector(), byteVectors(s)
	VBROADCASTSD(argument("perUnit"), r.perUnit)
	VBROADCASTSD(argument("unit"), r.unit)
	VBROADCASTSD(argument("magic"), r.magic)
	zeroAll(s, r.squares)
	if !s.masks {
		r.order = s.vector()
		VBROADCASTI128(lowBytes(), r.order)
	}
	byteSteps(s, x, center, left, true, r)
	VZEROUPPER()
	RET()
}

// byteRow are the registers and sums of addByteRow.
type byteRow struct {
	isa
	lanes, bytes                Register
	perUnit, unit, magic, order VecVirtual
	squares                     []VecVirtual
}

func (r byteRow) vectors(all []VecVirtual, k Register) {
	var sums []VecVirtual
	for i, t := range all {
		sum, whole := r.vector(), r.vector()
		VMOVAPS(r.magic, sum)
		VFMADD231PD(t, r.perUnit, sum)
		VSUBPD(r.magic, sum, whole)
		VFNMADD231PD(r.unit, whole, t)
		VFMADD231PD(t, t, r.squares[i])
		sums = append(sums, sum)
	}
	switch {
	case k != nil:
		VPMOVQB(sums[0], k, Mem{Base: r.bytes})
		return
	case r.masks:
		VPMOVQB(sums[0], Mem{Base: r.bytes})
	default:
		VSHUFPS(Imm(0x88), sums[1], sums[0], sums[0]) // the low halves, two of each in turn
		VPSHUFB(r.order, sums[0], sums[0])
		VEXTRACTI128(Imm(1), sums[0], sums[1].AsX())
		VPUNPCKLWD(sums[1].AsX(), sums[0].AsX(), sums[0].AsX())
		VMOVQ(sums[0].AsX(), Mem{Base: r.bytes})
	}
	ADDQ(Imm(8), r.bytes)
}

func (r byteRow) store() { storeAll(r.isa, r.squares, r.lanes, 0) }

func (r byteRow) single(t VecVirtual) {
	sum, lane, low := XMM(), XMM(), GP64()
	VMOVAPS(r.magic.AsX(), sum)
	VFMADD231SD(t, r.perUnit.AsX(), sum)
	VMOVQ(sum, low)
	MOVB(low.As8(), Mem{Base: r.bytes})
	VSUBSD(r.magic.AsX(), sum, sum)
	VFNMADD231SD(r.unit.AsX(), sum, t)
	VMOVSD(Mem{Base: r.lanes}, lane)
	VFMADD231SD(t, t, lane)
	VMOVSD(lane, Mem{Base: r.lanes})
	ADDQ(Imm(8), r.lanes)
	ADDQ(Imm(1), r.bytes)
}

// lowBytes is the memory of the places of the lowest byte of each word of 32 bits.
var lowBytes = sync.OnceValue(func() Mem {
	m := GLOBL("lowBytes", RODATA|NOPTR)
	for i, v := range []uint32{0x0c080400, 0xffffffff, 0xffffffff, 0xffffffff} {
		DATA(4*i, U32(v))
	}
	return m
})
