package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// epilogue turns a block of dot products, fresh in cache, into what they are wanted for.
// The block has one row after the other without gaps, each of whole vectors.
type epilogue struct {
	isa
	name string
	doc  []string
	// constants prepares registers before the loops.
	constants func(e *block)
	// apply turns the vector of dot products v into its results.
	apply func(e *block, v VecVirtual)
}

// block holds the registers of one epilogue.
type block struct {
	isa
	rowNorm VecVirtual            // of this row, in every lane
	colNorm Mem                   // of the columns of this vector
	keep    map[string]VecVirtual // what the loops keep in registers
	data    map[string]Op         // what may be in memory
	n       Register
}

func addEpilogues() {
	for _, s := range isas {
		for _, e := range []epilogue{sqDists(s), polynomials(s), gaussians(s), sigmoids(s)} {
			e.add()
		}
	}
}

func (e epilogue) add() {
	TEXT(e.name+e.suffix, NOSPLIT,
		"func(dst *float32, dstStride int, dots *float32, rowNorms *float32, colNorms *float32, rows int, vectors int, scale float32, offset float32, degree int, stream bool)")
	Doc(append([]string{e.name + e.suffix + " sets every dst[i*dstStride+j] from dot := dots[i*width+j] by"},
		e.doc...)...)
	Pragma("noescape")
	b := &block{isa: e.isa, keep: map[string]VecVirtual{}, data: map[string]Op{}, rowNorm: e.vector()}
	dst, dots := Load(Param("dst"), GP64()), Load(Param("dots"), GP64())
	step := Load(Param("dstStride"), GP64())
	SHLQ(Imm(2), step)
	rowNorms, rows := Load(Param("rowNorms"), GP64()), Load(Param("rows"), GP64())
	e.constants(b)
	Label("row")
	to, norms, left := GP64(), GP64(), GP64()
	MOVQ(dst, to)
	MOVQ(argument("colNorms"), norms)
	MOVQ(argument("vectors"), left)
	b.colNorm = Mem{Base: norms}
	VBROADCASTSS(Mem{Base: rowNorms}, b.rowNorm)
	Label("vector")
	v := e.vector()
	VMOVUPS(Mem{Base: dots}, v)
	e.apply(b, v)
	CMPB(argument("stream"), Imm(0))
	JNE(LabelRef("stream"))
	VMOVUPS(v, Mem{Base: to})
	JMP(LabelRef("next"))
	Label("stream")
	VMOVNTPS(v, Mem{Base: to})
	Label("next")
	for _, p := range []Register{dots, norms, to} {
		ADDQ(Imm(uint64(e.bytes())), p)
	}
	DECQ(left)
	JNZ(LabelRef("vector"))
	ADDQ(step, dst)
	ADDQ(Imm(4), rowNorms)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// register puts x into every lane of a register that the loops keep.
func (b *block) register(name string, x float32) {
	b.keep[name] = b.vector()
	VBROADCASTSS(float32Data(x), b.keep[name])
}

// constant makes a vector of x for use as first operand. With 16 registers it stays in memory.
func (b *block) constant(name string, x float32) {
	if !b.masks {
		b.data[name] = vectorData(x)
		return
	}
	b.register(name, x)
	b.data[name] = b.keep[name]
}

// parameter puts the named argument into every lane of a register that the loops keep.
func (b *block) parameter(name string) {
	b.keep[name] = b.vector()
	VBROADCASTSS(argument(name), b.keep[name])
}

// sqDist turns the dot products v into squared distances.
func (b *block) sqDist(v VecVirtual) {
	sum := b.vector()
	VADDPS(b.colNorm, b.rowNorm, sum)
	VFMADD213PS(sum, b.keep["-2"], v)
	VMAXPS(v, b.keep["0"], v) // a NaN second operand is the result
}

func (b *block) sqDistConstants() {
	b.register("-2", -2)
	b.keep["0"] = b.vector()
	b.zero(b.keep["0"])
}

func sqDists(s isa) epilogue {
	return epilogue{
		isa: s, name: "SqDists",
		doc: []string{
			"",
			"\td := fma32(-2, dot, rowNorms[i]+colNorms[j])",
			"\tif d < 0 { d = 0 }",
		},
		constants: (*block).sqDistConstants,
		apply:     (*block).sqDist,
	}
}

func polynomials(s isa) epilogue {
	return epilogue{
		isa: s, name: "Polynomials",
		doc: []string{
			"",
			"\tt := fma32(scale, dot, offset)",
			"\tp := t",
			"\tfor range degree-1 { p = float32(p*t) }",
			"",
			"degree is positive.",
		},
		constants: func(b *block) {
			b.parameter("scale")
			b.parameter("offset")
			b.n = Load(Param("degree"), GP64())
		},
		apply: func(b *block, v VecVirtual) {
			t, left := b.vector(), GP64()
			VFMADD213PS(b.keep["offset"], b.keep["scale"], v)
			VMOVAPS(v, t)
			MOVQ(b.n, left)
			Label("power")
			DECQ(left)
			JZ(LabelRef("powered"))
			VMULPS(t, v, v)
			JMP(LabelRef("power"))
			Label("powered")
		},
	}
}

// Predicates of comparisons, in the order of the instruction set's manual.
const (
	cmpEqual       = 0  // equal, false for NaN
	cmpLess        = 17 // less, false for NaN, quiet
	cmpNotGreater  = 26 // not greater, true for NaN, quiet
	roundToNearest = 8  // nearest, ties to even, no exception
)

// clearWhere sets v to +0 in the lanes where predicate(x, y) holds.
func (s isa) clearWhere(predicate uint8, x VecVirtual, y Op, v VecVirtual) {
	if s.masks {
		k := K()
		VCMPPS(Imm(uint64(predicate)), y, x, k)
		VPXORD(v, v, k, v)
		return
	}
	m := s.vector()
	VCMPPS(Imm(uint64(predicate)), y, x, m)
	VANDNPS(v, m, v)
}
