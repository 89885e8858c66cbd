package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addByteReached compares sums that addAssignTile kept.
func addByteReached(s isa) {
	name := "ByteReached" + s.suffix
	TEXT(name, NOSPLIT, "func(hits *uint8, hitStride int, limits *int32, sums *int32, sumStride int, vectors int, rows int)")
	Doc(
		name+" compares kept sums with the limits of their rows:",
		"",
		"\tfor i := range rows {",
		"\t\tfor j := range 16*vectors {",
		"\t\t\tset bit j of the bits at hits[i*hitStride] if sums[i*sumStride+j] >= limits[i], else clear it",
		"\t\t}",
		"\t}",
		"",
		"vectors and rows are positive.",
	)
	Pragma("noescape")
	hits, hitStride, limits := loadArgument("hits"), loadArgument("hitStride"), loadArgument("limits")
	sums, stride, rows := loadArgument("sums"), loadArgument("sumStride"), loadArgument("rows")
	SHLQ(Imm(2), stride)
	to, from, left, limit, k := GP64(), GP64(), GP64(), s.vector(), K()
	Label("row")
	VPBROADCASTD(Mem{Base: limits}, limit)
	MOVQ(hits, to)
	MOVQ(sums, from)
	MOVQ(argument("vectors"), left)
	Label("vector")
	VPCMPD(Imm(cmpAtMost), Mem{Base: from}, limit, k)
	KMOVW(k, Mem{Base: to})
	ADDQ(Imm(2), to)
	ADDQ(Imm(uint64(s.bytes())), from)
	DECQ(left)
	JNZ(LabelRef("vector"))
	ADDQ(hitStride, hits)
	ADDQ(stride, sums)
	ADDQ(Imm(4), limits)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// cmpAtMost is the predicate of a comparison of integers that is true unless the first is greater.
const cmpAtMost = 2

// cmpAbove is the predicate of a comparison of floats that is true if the first is greater, not of NaN.
const cmpAbove = 0x1e

// limitRegisters are the registers of addByteLimits.
type limitRegisters struct {
	isa
	sqDist, norms, losses, starts, kinds, per, limits, offsets Register
	round, lost, floor, top, size, less, none                  VecVirtual
}

// addByteLimits finds the limits of rows, 16 at a time.
func addByteLimits(s isa) {
	name := "ByteLimits" + s.suffix
	TEXT(name, NOSPLIT, "func(limits *int32, offsets *int32, sqDist *float64, norms *float32, losses *float32, starts *int32, kinds *int32, per *float64, rows int, size int, numbers *float64)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i := range rows {",
		"\t\toffsets[i] = kinds[i] * int32(size)",
		"\t\tgap := float64(norms[i]) - float64(sqDist[i]*numbers[0]) + float64(float64(losses[i])*numbers[1])",
		"\t\tlimits[i] = math.MinInt32",
		"\t\tif limit := float64(gap * per[kinds[i]]); limit > numbers[2] {",
		"\t\t\tlimits[i] = int32(min(limit, numbers[3])) - 2 - starts[i]",
		"\t\t}",
		"\t}",
		"",
		"rows is positive. numbers[2] and numbers[3] are within 32 bits.",
	)
	Pragma("noescape")
	r := &limitRegisters{isa: s, round: s.vector(), lost: s.vector(), floor: s.vector(), top: s.vector(),
		size: s.vector(), less: s.vector(), none: s.vector()}
	for _, p := range []struct {
		name string
		to   *Register
	}{{"sqDist", &r.sqDist}, {"norms", &r.norms}, {"losses", &r.losses}, {"starts", &r.starts}, {"kinds", &r.kinds},
		{"per", &r.per}, {"limits", &r.limits}, {"offsets", &r.offsets}} {
		*p.to = loadArgument(p.name)
	}
	numbers := loadArgument("numbers")
	for i, v := range []VecVirtual{r.round, r.lost, r.floor, r.top} {
		VBROADCASTSD(Mem{Base: numbers, Disp: 8 * i}, v)
	}
	VPBROADCASTD(argument("size"), r.size)
	VPTERNLOGD(Imm(0xff), r.less, r.less, r.less)
	VPSLLD(Imm(31), r.less, r.none) // the least number
	VPADDD(r.less, r.less, r.less)  // -2
	r.steps()
	finish()
}

// steps goes over the rows.
func (r *limitRegisters) steps() {
	left := loadArgument("rows")
	SUBQ(Imm(16), left)
	JL(LabelRef("last"))
	Label("loop")
	r.step(nil, nil)
	for _, p := range []Register{r.norms, r.losses, r.starts, r.kinds, r.limits, r.offsets} {
		ADDQ(Imm(64), p)
	}
	ADDQ(I32(128), r.sqDist)
	SUBQ(Imm(16), left)
	JGE(LabelRef("loop"))
	Label("last")
	ADDQ(Imm(16), left)
	JZ(LabelRef("done"))
	low, high, ones := K(), K(), GP64()
	MOVQ(I32(-1), ones)
	BZHIQ(left, ones, ones)
	KMOVW(ones.As32(), low)
	SHRQ(Imm(8), ones)
	KMOVW(ones.As32(), high)
	r.step(low, high)
}

// step takes 16 rows, or those of the masks low and high.
func (r *limitRegisters) step(low, high Register) {
	load := func(from Mem, k Register) VecVirtual {
		v := r.vector()
		if k == nil {
			VMOVDQU32(from, v)
		} else {
			VMOVDQU32_Z(from, k, v)
		}
		return v
	}
	kinds, norms := load(Mem{Base: r.kinds}, low), load(Mem{Base: r.norms}, low)
	losses := load(Mem{Base: r.losses}, low)
	near, first := r.half(kinds, norms, losses, 0, low)
	far, second := r.half(kinds, norms, losses, 1, high)
	VINSERTI64X4(Imm(1), far.AsY(), near, near)
	bits, more, k := GP32(), GP32(), K()
	KMOVW(first, bits)
	KMOVW(second, more)
	SHLL(Imm(8), more)
	ORL(more, bits)
	KMOVW(bits, k)
	VPADDD(r.less, near, near)
	limits := r.vector()
	VMOVDQA32(r.none, limits)
	VPSUBD(load(Mem{Base: r.starts}, low), near, k, limits)
	VPMULLD(r.size, kinds, kinds)
	for _, out := range []struct {
		v  VecVirtual
		to Register
	}{{limits, r.limits}, {kinds, r.offsets}} {
		if low == nil {
			VMOVDQU32(out.v, Mem{Base: out.to})
		} else {
			VMOVDQU32(out.v, low, Mem{Base: out.to})
		}
	}
}

// half returns the limits of 8 of 16 rows, and a mask of those that have one.
func (r *limitRegisters) half(kinds, norms, losses VecVirtual, part int, k Register,
) (limits VecVirtual, some Register) {
	numbers := [3]VecVirtual{norms, losses, kinds}
	if part == 1 {
		for i, v := range numbers {
			numbers[i] = r.vector()
			VEXTRACTI64X4(Imm(1), v, numbers[i].AsY())
		}
	}
	gap, lost, d, per, some := r.vector(), r.vector(), r.vector(), r.vector(), K()
	VCVTPS2PD(numbers[0].AsY(), gap)
	VCVTPS2PD(numbers[1].AsY(), lost)
	from := Mem{Base: r.sqDist, Disp: part * r.bytes()}
	if k == nil {
		VMOVUPD(from, d)
	} else {
		VMOVUPD_Z(from, k, d)
	}
	VMULPD(r.round, d, d)
	VSUBPD(d, gap, gap)
	VMULPD(r.lost, lost, lost)
	VADDPD(lost, gap, gap)
	every := K()
	all := GP32()
	MOVL(U32(0xff), all)
	KMOVW(all, every)
	r.zero(per)
	VGATHERDPD(Mem{Base: r.per, Index: numbers[2].AsY(), Scale: 8}, every, per)
	VMULPD(per, gap, gap)
	VCMPPD(Imm(cmpAbove), r.floor, gap, some)
	VMINPD(r.top, gap, gap)
	VCVTTPD2DQ(gap, gap.AsY())
	return gap, some
}
