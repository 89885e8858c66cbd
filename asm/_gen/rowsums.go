package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scaledWidth is how many registers of dst addScaledRows carries down all rows at once.
const scaledWidth = 8

// addScaledRows writes dst[j] += a[i]*x[i][j], i ascending, each product rounded.
func addScaledRows(s isa) {
	name := "AddScaledRows" + s.suffix
	TEXT(name, NOSPLIT, "func(dst, x []float64, stride int, a []float64)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i := range a { for j := range dst { dst[j] += float64(a[i] * x[i*stride+j]) } }",
		"",
		"Neither a nor dst is empty; it trusts its arguments.",
	)
	Pragma("noescape")
	r := scaled{isa: s}
	r.dst, r.cols = Load(Param("dst").Base(), GP64()), Load(Param("dst").Len(), GP64())
	r.x, r.stride = Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	r.a, r.rows = Load(Param("a").Base(), GP64()), Load(Param("a").Len(), GP64())
	SHLQ(Imm(3), r.stride)
	s.steps("strip", r.cols, scaledWidth*s.lanes, func() {
		r.columns("strip", scaledWidth, nil)
		ADDQ(I32(scaledWidth*s.bytes()), r.dst)
		ADDQ(I32(scaledWidth*s.bytes()), r.x)
	})
	TESTQ(r.cols, r.cols)
	JZ(LabelRef("done"))
	Comment("The last columns, as many registers as they need: the last of these under a mask, which also")
	Comment("suppresses faults beyond the end.")
	for n := 1; n <= scaledWidth; n++ {
		label := fmt.Sprintf("last%d", n)
		if n < scaledWidth {
			CMPQ(r.cols, I32(n*s.lanes))
			JG(LabelRef(label + "_more"))
		}
		SUBQ(I32((n-1)*s.lanes), r.cols)
		r.columns(label, n, s.tail64(r.cols))
		JMP(LabelRef("done"))
		Label(label + "_more")
	}
	finish()
}

// scaled holds the registers of an addScaledRows function.
type scaled struct {
	isa
	dst, cols, x, stride, a, rows Register
}

// columns carries count registers of dst down all rows, the last under a mask unless that is nil.
func (r scaled) columns(label string, count int, mask Register) {
	acc := make([]VecVirtual, count)
	of := func(i int) Register {
		if i == count-1 {
			return mask
		}
		return nil
	}
	for i := range acc {
		acc[i] = r.vector()
		r.load64(r.at(r.dst, i), of(i), acc[i])
	}
	x, a, rows := GP64(), GP64(), GP64()
	MOVQ(r.x, x)
	MOVQ(r.a, a)
	MOVQ(r.rows, rows)
	Label(label + "_rows")
	f := r.vector()
	VBROADCASTSD(Mem{Base: a}, f)
	for i := range acc {
		v := r.vector()
		if mask := of(i); mask == nil {
			VMULPD(r.at(x, i), f, v)
		} else {
			r.load64(r.at(x, i), mask, v)
			VMULPD(f, v, v)
		}
		VADDPD(v, acc[i], acc[i])
	}
	ADDQ(r.stride, x)
	ADDQ(Imm(8), a)
	DECQ(rows)
	JNZ(LabelRef(label + "_rows"))
	for i := range acc {
		r.store64(acc[i], of(i), r.at(r.dst, i))
	}
}

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
