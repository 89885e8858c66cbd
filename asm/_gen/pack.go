package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// packRows is the number of rows that one call interleaves, or takes norms of.
const packRows = 8

// addPacking writes what runs over few rows at a time and gains nothing from wider registers.
func addPacking() {
	addTranspose()
	addSqNorms()
	TEXT("StoreFence", NOSPLIT, "func()")
	Doc("StoreFence makes streamed stores visible to other threads before any later store.")
	SFENCE()
	RET()
}

// addTranspose writes the interleaving of 8 rows. Loads of half registers put row i and row
// i+4 side by side, so that two rounds of shuffles within the halves suffice.
func addTranspose() {
	TEXT("Interleave8AVX2", NOSPLIT, "func(dst *float32, dstStride int, x *float32, xStride int, dim int)")
	Doc(
		"Interleave8AVX2 turns 8 rows into columns:",
		"",
		"\tfor k := range dim {",
		"\t\tfor j := range 8 { dst[k*dstStride+j] = x[j*xStride+k] }",
		"\t}",
		"",
		"dim is a positive multiple of 8.",
	)
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	step := Load(Param("dstStride"), GP64())
	SHLQ(Imm(2), step)
	x := loadRowPointers(packRows)
	left := Load(Param("dim"), GP64())
	x.begin()
	Label("loop")
	for half := range 2 {
		Commentf("Columns %d to %d of the next 8.", 4*half, 4*half+3)
		for _, column := range transpose4(x, 16*half) {
			VMOVUPS(column, Mem{Base: dst})
			ADDQ(step, dst)
		}
	}
	x.advance(4 * packRows)
	SUBQ(Imm(packRows), left)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// transpose4 returns the 4 columns that start disp bytes ahead, 8 rows each.
func transpose4(x rowPointers, disp int) [4]VecVirtual {
	var rows, pairs, columns [4]VecVirtual
	for i := range rows {
		rows[i] = YMM()
		VMOVUPS(x.element(i, disp), rows[i].AsX())
		VINSERTF128(Imm(1), x.element(i+4, disp), rows[i], rows[i])
	}
	for i := range pairs {
		pairs[i], columns[i] = YMM(), YMM()
	}
	VUNPCKLPS(rows[1], rows[0], pairs[0]) // a0 b0 a1 b1
	VUNPCKHPS(rows[1], rows[0], pairs[1]) // a2 b2 a3 b3
	VUNPCKLPS(rows[3], rows[2], pairs[2]) // c0 d0 c1 d1
	VUNPCKHPS(rows[3], rows[2], pairs[3]) // c2 d2 c3 d3
	VUNPCKLPD(pairs[2], pairs[0], columns[0])
	VUNPCKHPD(pairs[2], pairs[0], columns[1])
	VUNPCKLPD(pairs[3], pairs[1], columns[2])
	VUNPCKHPD(pairs[3], pairs[1], columns[3])
	return columns
}

// addSqNorms writes the squared norms of 8 rows: scalar chains, which hide each other's latency.
func addSqNorms() {
	TEXT("SqNorms8FMA", NOSPLIT, "func(dst *float32, x *float32, xStride int, dim int, tiles int)")
	Doc(
		"SqNorms8FMA squares the norms of 8*tiles rows:",
		"",
		"\tfor i := range 8*tiles {",
		"\t\tc := float32(0)",
		"\t\tfor k := range dim { c = fma32(x[i*xStride+k], x[i*xStride+k], c) }",
		"\t\tdst[i] = c",
		"\t}",
		"",
		"dim and tiles are positive.",
	)
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	x := loadRowPointers(packRows)
	tiles := Load(Param("tiles"), GP64())
	var acc [packRows]VecVirtual
	for i := range acc {
		acc[i] = XMM()
	}
	Label("tile")
	for _, a := range acc {
		VXORPS(a, a, a)
	}
	left := Load(Param("dim"), GP64())
	x.begin()
	Label("loop")
	for i, a := range acc {
		e := XMM()
		VMOVSS(x.element(i, 0), e)
		VFMADD231SS(e, e, a)
	}
	x.advance(4)
	DECQ(left)
	JNZ(LabelRef("loop"))
	for i, a := range acc {
		VMOVSS(a, Mem{Base: dst, Disp: 4 * i})
	}
	ADDQ(Imm(4*packRows), dst)
	x.nextRows()
	DECQ(tiles)
	JNZ(LabelRef("tile"))
	RET()
}
