package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addVectors writes the functions of family vector: multiples of rows, added to rows.
func addVectors() {
	for _, s := range isas {
		addAxpby(s)
		addAxpyRows(s)
		addAccumulateRows(s)
		if !s.masks {
			addGroupDistances(s)
			addGroupDistances4(s)
		}
	}
}

// addAxpby writes dst[i] = fma32(a, x[i], b*dst[i]).
func addAxpby(s isa) {
	name := "Axpby" + s.suffix
	TEXT(name, NOSPLIT, "func(dst, x []float32, a, b float32)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i := range dst { dst[i] = fma32(a, x[i], float32(b*dst[i])) }",
		"",
		"It reads len(dst) elements of x and trusts its arguments.",
	)
	Pragma("noescape")
	dst, n := Load(Param("dst").Base(), GP64()), Load(Param("dst").Len(), GP64())
	x := Load(Param("x").Base(), GP64())
	a, b := s.vector(), s.vector()
	VBROADCASTSS(argument("a"), a)
	VBROADCASTSS(argument("b"), b)
	step := func(count int) func() {
		return func() {
			for i := range count {
				v := s.vector()
				VMULPS(s.at(dst, i), b, v)
				VFMADD231PS(s.at(x, i), a, v)
				VMOVUPS(v, s.at(dst, i))
			}
			ADDQ(I32(count*s.bytes()), dst)
			ADDQ(I32(count*s.bytes()), x)
		}
	}
	s.steps("block", n, unroll*s.floats(), step(unroll))
	s.steps("vector", n, s.floats(), step(1))
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Comment("The rest under a mask, which also suppresses faults beyond the end.")
	k, u, v := s.tail32(n), s.vector(), s.vector()
	s.loadMasked(s.at(dst, 0), k, v)
	s.loadMasked(s.at(x, 0), k, u)
	VMULPS(v, b, v)
	VFMADD231PS(u, a, v)
	s.storeMasked(v, k, s.at(dst, 0))
	finish()
}

// strips are the numbers of registers whose columns addAxpyRows carries down all rows at once. Eight chains
// cover the latency of an FMA on two ports; the others are for what is left.
var strips = []int{8, 4, 2, 1}

// addAxpyRows writes dst[j] = fma32(a[i], x[i][j], dst[j]), i ascending.
func addAxpyRows(s isa) {
	name := "AxpyRows" + s.suffix
	TEXT(name, NOSPLIT, "func(dst, x []float32, stride int, a []float32)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i := range a { for j := range dst { dst[j] = fma32(a[i], x[i*stride+j], dst[j]) } }",
		"",
		"Neither a nor dst is empty; it trusts its arguments.",
	)
	Pragma("noescape")
	w := weighted{isa: s}
	w.dst, w.cols = Load(Param("dst").Base(), GP64()), Load(Param("dst").Len(), GP64())
	w.x, w.stride = Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	w.a, w.rows = Load(Param("a").Base(), GP64()), Load(Param("a").Len(), GP64())
	SHLQ(Imm(2), w.stride)
	for _, n := range strips {
		label := fmt.Sprintf("strip%d", n)
		s.steps(label, w.cols, n*s.floats(), func() { w.columns(label, n, nil) })
	}
	TESTQ(w.cols, w.cols)
	JZ(LabelRef("done"))
	Comment("The last columns under a mask, which also suppresses faults beyond the end.")
	w.columns("rest", 1, s.tail32(w.cols))
	finish()
}

// weighted holds the registers of an addAxpyRows function.
type weighted struct {
	isa
	dst, cols, x, stride, a, rows Register
}

// columns carries count registers of dst down all rows.
func (w weighted) columns(label string, count int, mask Register) {
	acc := make([]VecVirtual, count)
	for i := range acc {
		acc[i] = w.vector()
		w.load(w.at(w.dst, i), mask, acc[i])
	}
	x, a, rows := GP64(), GP64(), GP64()
	MOVQ(w.x, x)
	MOVQ(w.a, a)
	MOVQ(w.rows, rows)
	Label(label + "_rows")
	f := w.vector()
	VBROADCASTSS(Mem{Base: a}, f)
	for i := range acc {
		if mask == nil {
			VFMADD231PS(w.at(x, i), f, acc[i])
			continue
		}
		v := w.vector()
		w.loadMasked(w.at(x, i), mask, v)
		VFMADD231PS(v, f, acc[i])
	}
	ADDQ(w.stride, x)
	ADDQ(Imm(4), a)
	DECQ(rows)
	JNZ(LabelRef(label + "_rows"))
	for i := range acc {
		w.store(acc[i], mask, w.at(w.dst, i))
	}
	ADDQ(I32(count*w.bytes()), w.dst)
	ADDQ(I32(count*w.bytes()), w.x)
}
