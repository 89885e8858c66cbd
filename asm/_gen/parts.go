package main

import (
	"fmt"
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// partStep is the memory of the ratio of the grids of one part and the next, 2^-37 as a float64.
var partStep = sync.OnceValue(func() Mem {
	return ConstData("partStep", U64((1023-37)<<52))
})

// addParts writes the sums of rows by group in parts on fixed grids, of the values or of their squares.
func addParts(s isa, name string, count int, square bool) {
	name += s.suffix
	TEXT(name, NOSPLIT, "func(sums []float64, apart int, top []float64, x []float32, stride int, groups []int32)")
	docParts(name, count, square)
	Pragma("noescape")
	p := parts{isa: s, count: count, square: square}
	sums, cols := Load(Param("sums").Base(), GP64()), Load(Param("top").Len(), GP64())
	top := Load(Param("top").Base(), GP64())
	x, stride := Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	groups, rows := Load(Param("groups").Base(), GP64()), Load(Param("groups").Len(), GP64())
	p.apart = Load(Param("apart"), GP64())
	SHLQ(Imm(3), p.apart)
	SHLQ(Imm(2), stride)
	if count > 2 {
		p.step = s.vector()
		VBROADCASTSD(partStep(), p.step)
	}
	rest := GP64()
	MOVQ(cols, rest)
	ANDQ(Imm(uint64(s.lanes-1)), rest)
	k := s.tail64(rest)
	Label("row")
	n := GP64()
	p.dst, p.from, p.top = GP64(), GP64(), GP64()
	MOVLQSX(Mem{Base: groups}, p.dst)
	IMULQ(cols, p.dst)
	LEAQ(Mem{Base: sums, Index: p.dst, Scale: 8}, p.dst)
	MOVQ(x, p.from)
	MOVQ(top, p.top)
	MOVQ(cols, n)
	s.steps("block", n, unroll*s.lanes, func() { p.addWhole(unroll) })
	s.steps("vector", n, s.lanes, func() { p.addWhole(1) })
	TESTQ(n, n)
	JZ(LabelRef("next"))
	p.add(0, k)
	Label("next")
	ADDQ(stride, x)
	ADDQ(Imm(4), groups)
	DECQ(rows)
	JNZ(LabelRef("row"))
	finish()
}

// docParts writes the comment of an addParts function: its loop.
func docParts(name string, count int, square bool) {
	value := "float64(x[i*stride+j])"
	if square {
		value = "float64(x[i*stride+j]) * float64(x[i*stride+j])"
	}
	Doc(
		name+" is the loop",
		"",
		"\tfor i, g := range groups { for j, unit := range top {",
		"\t\trest, at := "+value+", int(g)*len(top)+j",
		fmt.Sprintf("\t\tfor range %d {", count-1),
		"\t\t\tpart := (rest + unit) - unit",
		"\t\t\tsums[at] += part",
		"\t\t\trest, unit, at = rest-part, unit*0x1p-37, at+apart",
		"\t\t}",
		"\t\tsums[at] += rest",
		"\t} }",
		"",
		"Neither groups nor top is empty; it trusts its arguments.",
	)
}

// parts holds the registers of an addParts function.
type parts struct {
	isa
	count                 int
	square                bool
	dst, from, top, apart Register
	step                  VecVirtual // with more than two parts
}

// addWhole adds the next vectors of a row.
func (p parts) addWhole(count int) {
	for i := range count {
		p.add(i, nil)
	}
	ADDQ(I32(count*p.bytes()), p.dst)
	ADDQ(I32(count*p.bytes()), p.top)
	ADDQ(I32(count*p.bytes()/2), p.from)
}

// add adds the i-th vector of a row to all parts; a mask leaves out the lanes behind the last column.
func (p parts) add(i int, mask Register) {
	rest, unit := p.vector(), p.vector()
	switch {
	case mask == nil:
		VCVTPS2PD(p.half(p.from, i), rest)
		VMOVUPD(p.at(p.top, i), unit)
	case p.masks:
		VCVTPS2PD_Z(p.half(p.from, i), mask, rest)
		VMOVUPD_Z(p.at(p.top, i), mask, unit)
	default:
		narrow := halfMask(mask)
		VMASKMOVPS(p.half(p.from, i), narrow, narrow)
		VCVTPS2PD(narrow, rest)
		VMASKMOVPD(p.at(p.top, i), mask, unit)
	}
	if p.square {
		VMULPD(rest, rest, rest)
	}
	for n := range p.count - 1 {
		part := p.vector()
		if n > 0 {
			VMULPD(p.step, unit, unit)
		}
		VADDPD(unit, rest, part)
		VSUBPD(unit, part, part)
		VSUBPD(part, rest, rest)
		p.addTo(n, i, part, mask)
	}
	p.addTo(p.count-1, i, rest, mask)
}

// addTo adds the i-th vector to the n-th part.
func (p parts) addTo(n, i int, part VecVirtual, mask Register) {
	to := p.at(p.dst, i)
	if n > 0 {
		to.Index, to.Scale = p.apart, uint8(n)
	}
	if mask == nil {
		VADDPD(to, part, part)
		VMOVUPD(part, to)
		return
	}
	sum := p.vector()
	if p.masks {
		VMOVUPD_Z(to, mask, sum)
		VADDPD(sum, part, part)
		VMOVUPD(part, mask, to)
		return
	}
	VMASKMOVPD(to, mask, sum)
	VADDPD(sum, part, part)
	VMASKMOVPD(part, mask, to)
}

// addColumnRanges writes low[j], high[j] = min(low[j], x[i][j]), max(high[j], x[i][j]), with -0 below +0, and the least
// magnitude above 0.
func addColumnRanges(s isa) {
	name := "ColumnRanges" + s.suffix
	TEXT(name, NOSPLIT, "func(low, high, least, x []float32, stride, rows int)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i := range rows { for j := range low {",
		"\t\tv := x[i*stride+j]",
		"\t\tlow[j], high[j] = min(low[j], v), max(high[j], v)",
		"\t\tif v != 0 { least[j] = min(least[j], abs(v)) }",
		"\t} }",
		"",
		"Neither rows nor low is empty, and no value is a NaN; it trusts its arguments.",
	)
	Pragma("noescape")
	r := ranges{isa: s, ones: s.vector()}
	r.low, r.cols = Load(Param("low").Base(), GP64()), Load(Param("low").Len(), GP64())
	r.high, r.least = Load(Param("high").Base(), GP64()), Load(Param("least").Base(), GP64())
	r.x, r.stride = Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	r.rows = Load(Param("rows"), GP64())
	SHLQ(Imm(2), r.stride)
	Comment("-1 in every lane.")
	VPCMPEQD(r.ones.AsY(), r.ones.AsY(), r.ones.AsY())
	if s.masks {
		VPTERNLOGD(Imm(0xff), r.ones, r.ones, r.ones)
	}
	for _, n := range []int{2, 1} {
		label := fmt.Sprintf("strip%d", n)
		s.steps(label, r.cols, n*s.floats(), func() { r.columns(label, n, nil) })
	}
	TESTQ(r.cols, r.cols)
	JZ(LabelRef("done"))
	Comment("The last columns under a mask, which also suppresses faults beyond the end.")
	r.columns("rest", 1, s.tail32(r.cols))
	finish()
}

// ranges holds the registers of an addColumnRanges function.
type ranges struct {
	isa
	low, high, least, cols, x, stride, rows Register
	ones                                    VecVirtual
}

// columns carries the ranges of count registers of columns down all rows.
func (r ranges) columns(label string, count int, mask Register) {
	low, high, least := make([]VecVirtual, count), make([]VecVirtual, count), make([]VecVirtual, count)
	for i := range count {
		low[i], high[i], least[i] = r.vector(), r.vector(), r.vector()
		r.load(r.at(r.low, i), mask, low[i])
		r.load(r.at(r.high, i), mask, high[i])
		r.load(r.at(r.least, i), mask, least[i])
		r.order(low[i])
		r.order(high[i])
		VPADDD(r.ones, least[i], least[i])
	}
	x, rows := GP64(), GP64()
	MOVQ(r.x, x)
	MOVQ(r.rows, rows)
	Label(label + "_rows")
	for i := range count {
		v, magnitude := r.vector(), r.vector()
		r.load(r.at(x, i), mask, v)
		Comment("Magnitudes less 1, of which 0 is the largest without a sign.")
		VPADDD(v, v, magnitude)
		VPSRLD(Imm(1), magnitude, magnitude)
		VPADDD(r.ones, magnitude, magnitude)
		VPMINUD(magnitude, least[i], least[i])
		r.order(v)
		VPMINSD(v, low[i], low[i])
		VPMAXSD(v, high[i], high[i])
	}
	ADDQ(r.stride, x)
	DECQ(rows)
	JNZ(LabelRef(label + "_rows"))
	for i := range count {
		r.order(low[i])
		r.order(high[i])
		VPSUBD(r.ones, least[i], least[i])
		r.store(low[i], mask, r.at(r.low, i))
		r.store(high[i], mask, r.at(r.high, i))
		r.store(least[i], mask, r.at(r.least, i))
	}
	for _, pointer := range []Register{r.low, r.high, r.least, r.x} {
		ADDQ(I32(count*r.bytes()), pointer)
	}
}

// order turns the bits of float32 into integers of the same order, and back: those of negative numbers are inverted.
func (r ranges) order(v VecVirtual) {
	sign := r.vector()
	VPSRAD(Imm(31), v, sign)
	VPSRLD(Imm(1), sign, sign)
	if r.masks {
		VPXORD(sign, v, v)
		return
	}
	VPXOR(sign, v, v)
}

// addAllParts writes the functions of family parts.
func addAllParts() {
	for _, s := range isas {
		addParts(s, "SumParts", 2, false)
		addParts(s, "SquareParts", 3, true)
		addColumnRanges(s)
	}
}
