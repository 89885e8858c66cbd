package main

import (
	"fmt"

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

// fetchPer is the number of registers of columns for which a line of what is read next is fetched.
const fetchPer = 8

// addAccumulateGroup writes sum[j] += float64(x[rows[i]][j]), i ascending. The sums of a strip of
// columns stay in registers: AccumulateRows must load and store them for every row.
func addAccumulateGroup(s isa) {
	name := "AccumulateGroup" + s.suffix
	TEXT(name, NOSPLIT, "func(sum []float64, x []float32, stride int, rows []int32, next *float32, nextStep int)")
	Doc(
		name+" adds rows of one group to its sum. It is the loop",
		"",
		"\tfor _, i := range rows { for j := range sum { sum[j] += float64(x[int(i)*stride+j]) } }",
		"",
		fmt.Sprintf("For every %d columns of a row, in whole strips, it prefetches the line at next, which then moves on by", fetchPer*s.lanes),
		"nextStep bytes. Neither sum nor rows is empty; it trusts its arguments.",
	)
	Pragma("noescape")
	g := group{isa: s}
	g.sum, g.cols = Load(Param("sum").Base(), GP64()), Load(Param("sum").Len(), GP64())
	g.x, g.stride = Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	g.rows, g.n = Load(Param("rows").Base(), GP64()), Load(Param("rows").Len(), GP64())
	g.next, g.step = Load(Param("next"), GP64()), Load(Param("nextStep"), GP64())
	SHLQ(Imm(2), g.stride)
	Comment("Rows are counted up to zero from behind the last.")
	LEAQ(Mem{Base: g.rows, Index: g.n, Scale: 4}, g.rows)
	NEGQ(g.n)
	widest := fetchPer
	if s.masks {
		widest *= 2 // there are twice as many registers
	}
	for _, count := range []int{widest, 4, 1} {
		label := fmt.Sprintf("strip%d", count)
		s.steps(label, g.cols, count*s.lanes, func() { g.columns(label, count) })
	}
	TESTQ(g.cols, g.cols)
	JZ(LabelRef("done"))
	Comment("The last columns under a mask, which also suppresses faults beyond the end.")
	k := s.tail64(g.cols)
	g.eachRow("rest", func(from Register) { s.addTail(k, from, g.sum) })
	finish()
}

// group holds the registers of an addAccumulateGroup function.
type group struct {
	isa
	sum, cols, x, stride, rows, n, next, step Register
}

// columns carries count registers of sums over all rows.
func (g group) columns(label string, count int) {
	acc := make([]VecVirtual, count)
	for i := range acc {
		acc[i] = g.vector()
		VMOVUPD(g.at(g.sum, i), acc[i])
	}
	g.eachRow(label, func(from Register) {
		for range count / fetchPer {
			PREFETCHT0(Mem{Base: g.next})
			ADDQ(g.step, g.next)
		}
		for i := range acc {
			v := g.vector()
			VCVTPS2PD(g.half(from, i), v)
			VADDPD(v, acc[i], acc[i])
		}
	})
	for i := range acc {
		VMOVUPD(acc[i], g.at(g.sum, i))
	}
	ADDQ(I32(count*g.bytes()), g.sum)
	ADDQ(I32(count*g.bytes()/2), g.x)
}

// eachRow runs body on the columns reached of every row.
func (g group) eachRow(label string, body func(from Register)) {
	at, from := GP64(), GP64()
	MOVQ(g.n, at)
	Label(label + "_rows")
	MOVLQSX(Mem{Base: g.rows, Index: at, Scale: 4}, from)
	IMULQ(g.stride, from)
	ADDQ(g.x, from)
	body(from)
	INCQ(at)
	JNZ(LabelRef(label + "_rows"))
}
