package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// eachGroup is how many rows DotEach takes at least, and a multiple of which.
const eachGroup = 4

// sideBySide is how many rows DotEach reads at once, as many as there are registers for: that many loads are on
// their way from places that the hardware follows one by one.
func (s isa) sideBySide() int {
	if s.masks {
		return eachGroup
	}
	return eachGroup / 2
}

// addDotEach writes the dot products of rows anywhere in memory with one vector.
func addDotEach(s isa) {
	TEXT("DotEach"+s.suffix, NOSPLIT, "func(dst []float32, rows [][]float32, y []float32, soon *[4][]float32)")
	Doc(
		"DotEach"+s.suffix+" sets each dst[i] to Dot"+s.suffix+"(rows[i][:len(y)], y). dst has a multiple of 4 elements, but not none,",
		"and rows as many; it trusts its arguments. While it reads rows it prefetches those behind them, and soon",
		"while it reads the last ones.",
	)
	Pragma("noescape")
	dst, n := Load(Param("dst").Base(), GP64()), Load(Param("dst").Len(), GP64())
	rows, soon := Load(Param("rows").Base(), GP64()), Load(Param("soon"), GP64())
	r := reduction{isa: s, metric: metrics[0]}
	r.y, r.cols = Load(Param("y").Base(), GP64()), Load(Param("y").Len(), GP64())
	r.prepare()
	Label("rows")
	group := r.group(rows)
	next := GP64()
	LEAQ(Mem{Base: rows, Disp: 24 * len(group)}, next)
	CMPQ(n, I32(len(group)))
	CMOVQEQ(soon, next)
	group[0].blocks(group, next)
	for i, row := range group {
		VMOVSS(row.sum(), Mem{Base: dst, Disp: 4 * i})
	}
	ADDQ(Imm(uint64(4*len(group))), dst)
	ADDQ(Imm(uint64(24*len(group))), rows)
	SUBQ(Imm(uint64(len(group))), n)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// group begins the rows whose slices stand next at rows.
func (r reduction) group(rows Register) []reduction {
	group := make([]reduction, r.sideBySide())
	y, cols := GP64(), GP64()
	MOVQ(r.y, y)
	MOVQ(r.cols, cols)
	for i := range group {
		g := r
		g.x, g.y, g.cols = GP64(), y, cols
		MOVQ(Mem{Base: rows, Disp: 24 * i}, g.x)
		if i > 0 {
			g.lanes = nil
			for range r.lanes {
				g.lanes = append(g.lanes, r.vector())
			}
		}
		for _, l := range g.lanes {
			r.zero(l)
		}
		group[i] = g
	}
	return group
}

// blocks takes the columns of all rows of a group into their lanes, and prefetches the rows whose slices stand at next,
// into the second cache level: the first has no room for two groups.
func (r reduction) blocks(group []reduction, next Register) {
	place := GP64()
	XORQ(place, place)
	r.steps("block", r.cols, sumLanes, func() {
		for i := range group {
			row := GP64()
			MOVQ(Mem{Base: next, Disp: 24 * i}, row)
			PREFETCHT1(Mem{Base: row, Index: place, Scale: 1})
			PREFETCHT1(Mem{Base: row, Index: place, Scale: 1, Disp: 64})
		}
		ADDQ(I32(4*sumLanes), place)
		for i := range r.lanes {
			y := r.vector()
			VMOVUPS(r.at(r.y, i), y)
			for _, g := range group {
				r.fold(y, r.at(g.x, i), g.lanes[i])
			}
		}
		ADDQ(I32(4*sumLanes), r.y)
		for _, g := range group {
			ADDQ(I32(4*sumLanes), g.x)
		}
	})
	TESTQ(r.cols, r.cols)
	JZ(LabelRef("reduced"))
	Comment("The last columns under masks, as in DotRows.")
	for _, g := range group {
		for i, l := range g.lanes {
			g.masked(i, l)
		}
	}
	Label("reduced")
}
