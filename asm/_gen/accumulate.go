package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addAccumulateRows writes sums[group][j] += float64(x[i][j]), i ascending.
func addAccumulateRows(s isa) {
	name := "AccumulateRows" + s.suffix
	TEXT(name, NOSPLIT, "func(sums []float64, cols int, x []float32, stride int, groups []int32)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i, g := range groups { for j := range cols { sums[int(g)*cols+j] += float64(x[i*stride+j]) } }",
		"",
		"Neither groups nor cols is zero; it trusts its arguments.",
	)
	Pragma("noescape")
	sums, cols := Load(Param("sums").Base(), GP64()), Load(Param("cols"), GP64())
	x, stride := Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	groups, rows := Load(Param("groups").Base(), GP64()), Load(Param("groups").Len(), GP64())
	SHLQ(Imm(2), stride)
	rest := GP64()
	MOVQ(cols, rest)
	ANDQ(Imm(uint64(s.lanes-1)), rest)
	k := s.tail64(rest)
	Label("row")
	dst, from, n := GP64(), GP64(), GP64()
	MOVLQSX(Mem{Base: groups}, dst)
	IMULQ(cols, dst)
	LEAQ(Mem{Base: sums, Index: dst, Scale: 8}, dst)
	MOVQ(x, from)
	MOVQ(cols, n)
	step := func(count int) func() {
		return func() {
			for i := range count {
				v := s.vector()
				VCVTPS2PD(s.half(from, i), v)
				VADDPD(s.at(dst, i), v, v)
				VMOVUPD(v, s.at(dst, i))
			}
			ADDQ(I32(count*s.bytes()), dst)
			ADDQ(I32(count*s.bytes()/2), from)
		}
	}
	s.steps("block", n, unroll*s.lanes, step(unroll))
	s.steps("vector", n, s.lanes, step(1))
	TESTQ(n, n)
	JZ(LabelRef("next"))
	s.addTail(k, from, dst)
	Label("next")
	ADDQ(stride, x)
	ADDQ(Imm(4), groups)
	DECQ(rows)
	JNZ(LabelRef("row"))
	finish()
}

// addTail adds the last float32 at from to the float64 at dst.
func (s isa) addTail(k, from, dst Register) {
	v, u := s.vector(), s.vector()
	if s.masks {
		VCVTPS2PD_Z(s.half(from, 0), k, v)
		VMOVUPD_Z(s.at(dst, 0), k, u)
		VADDPD(u, v, v)
		VMOVUPD(v, k, s.at(dst, 0))
		return
	}
	narrow := halfMask(k)
	VMASKMOVPS(s.half(from, 0), narrow, narrow)
	VCVTPS2PD(narrow, v)
	VMASKMOVPD(s.at(dst, 0), k, u)
	VADDPD(u, v, v)
	VMASKMOVPD(v, k, s.at(dst, 0))
}
