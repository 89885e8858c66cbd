package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addGroupDistances writes the float64 distances of rows to the centers of their groups. Its sum has
// four lanes, one register of AVX2, whatever more a CPU has.
func addGroupDistances(s isa) {
	name := "GroupDistances" + s.suffix
	TEXT(name, NOSPLIT, "func(dst []float64, cols int, x []float32, stride int, centers []float64, groups []int32)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i, g := range groups {",
		"\t\tvar lane [4]float64",
		"\t\tfor j := range cols {",
		"\t\t\tt := float64(x[i*stride+j]) - centers[int(g)*cols+j]",
		"\t\t\tlane[j%4] += float64(t * t)",
		"\t\t}",
		"\t\tdst[i] = (lane[0] + lane[1]) + (lane[2] + lane[3])",
		"\t}",
		"",
		"Neither groups nor cols is zero; it trusts its arguments.",
	)
	Pragma("noescape")
	dst, cols := Load(Param("dst").Base(), GP64()), Load(Param("cols"), GP64())
	x, stride := Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	centers := Load(Param("centers").Base(), GP64())
	groups, rows := Load(Param("groups").Base(), GP64()), Load(Param("groups").Len(), GP64())
	SHLQ(Imm(2), stride)
	rest := GP64()
	MOVQ(cols, rest)
	ANDQ(Imm(uint64(s.lanes-1)), rest)
	k := s.tail64(rest)
	Label("row")
	center, from := GP64(), GP64()
	MOVLQSX(Mem{Base: groups}, center)
	IMULQ(cols, center)
	LEAQ(Mem{Base: centers, Index: center, Scale: 8}, center)
	MOVQ(x, from)
	acc := s.sumSquares(center, from, cols, k)
	high := XMM()
	VHADDPD(acc, acc, acc)
	VEXTRACTF128(Imm(1), acc, high)
	VADDSD(high, acc.AsX(), acc.AsX())
	VMOVSD(acc.AsX(), Mem{Base: dst})
	ADDQ(Imm(8), dst)
	ADDQ(stride, x)
	ADDQ(Imm(4), groups)
	DECQ(rows)
	JNZ(LabelRef("row"))
	finish()
}

// sumSquares adds the squared differences of a row and its center in one register; k masks the last columns.
func (s isa) sumSquares(center, from, cols, k Register) VecVirtual {
	narrow := halfMask(k)
	n, acc := GP64(), s.vector()
	MOVQ(cols, n)
	s.zero(acc)
	s.steps("vector", n, s.lanes, func() {
		v := s.vector()
		VCVTPS2PD(s.half(from, 0), v)
		VSUBPD(s.at(center, 0), v, v)
		addSquare(v, acc)
		ADDQ(Imm(uint64(s.bytes())), center)
		ADDQ(Imm(uint64(s.bytes()/2)), from)
	})
	TESTQ(n, n)
	JZ(LabelRef("sum"))
	v, u, f := s.vector(), s.vector(), XMM()
	VMASKMOVPS(s.half(from, 0), narrow, f)
	VCVTPS2PD(f, v)
	VMASKMOVPD(s.at(center, 0), k, u)
	VSUBPD(u, v, v)
	addSquare(v, acc)
	Label("sum")
	return acc
}

// addSquare adds the squares of v, rounded, to acc.
func addSquare(v, acc VecVirtual) {
	VMULPD(v, v, v)
	VADDPD(v, acc, acc)
}

// halfMask is a mask of float64 lanes of AVX2 as one of float32: every second word.
func halfMask(k Register) VecVirtual {
	narrow := XMM()
	VEXTRACTF128(Imm(1), k.(VecVirtual).AsY(), narrow)
	VSHUFPS(Imm(0x88), narrow, k.(VecVirtual).AsX(), narrow)
	return narrow
}

// addGroupDistances4 is addGroupDistances for rows in fours, whose chains of additions need not wait for each other.
func addGroupDistances4(s isa) {
	name := "GroupDistances4" + s.suffix
	TEXT(name, NOSPLIT, "func(dst []float64, cols int, x []float32, stride int, centers []float64, groups []int32)")
	Doc(name + " is GroupDistances" + s.suffix + " for rows in fours: groups has four elements for each.")
	Pragma("noescape")
	dst, x, groups := Load(Param("dst").Base(), GP64()), Load(Param("x").Base(), GP64()), Load(Param("groups").Base(), GP64())
	stride, three := Load(Param("stride"), GP64()), GP64()
	SHLQ(Imm(2), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	Label("rows")
	cols := loadArgument("cols")
	var center [4]Register
	var acc [4]VecVirtual
	for r := range center {
		center[r], acc[r] = GP64(), s.vector()
		MOVLQSX(Mem{Base: groups, Disp: 4 * r}, center[r])
		IMULQ(cols, center[r])
		SHLQ(Imm(3), center[r])
		ADDQ(memoryOf(Param("centers").Base()), center[r])
		s.zero(acc[r])
	}
	from, n := GP64(), GP64()
	MOVQ(x, from)
	MOVQ(cols, n)
	row := []Mem{{Base: from}, {Base: from, Index: stride, Scale: 1}, {Base: from, Index: stride, Scale: 2},
		{Base: from, Index: three, Scale: 1}}
	SUBQ(Imm(uint64(s.lanes)), n)
	JL(LabelRef("rest"))
	Label("vector")
	for r, a := range acc {
		v := s.vector()
		VCVTPS2PD(row[r], v)
		VSUBPD(Mem{Base: center[r]}, v, v)
		addSquare(v, a)
	}
	for _, p := range center {
		ADDQ(Imm(uint64(s.bytes())), p)
	}
	ADDQ(Imm(uint64(s.bytes()/2)), from)
	SUBQ(Imm(uint64(s.lanes)), n)
	JGE(LabelRef("vector"))
	Label("rest")
	ADDQ(Imm(uint64(s.lanes)), n)
	JZ(LabelRef("sum"))
	k := s.tail64(n)
	narrow := halfMask(k)
	for r, a := range acc {
		v, u, f := s.vector(), s.vector(), XMM()
		VMASKMOVPS(row[r], narrow, f)
		VCVTPS2PD(f, v)
		VMASKMOVPD(Mem{Base: center[r]}, k, u)
		VSUBPD(u, v, v)
		addSquare(v, a)
	}
	Label("sum")
	for r, a := range acc {
		high := XMM()
		VHADDPD(a, a, a)
		VEXTRACTF128(Imm(1), a, high)
		VADDSD(high, a.AsX(), a.AsX())
		VMOVSD(a.AsX(), Mem{Base: dst, Disp: 8 * r})
	}
	ADDQ(Imm(32), dst)
	LEAQ(Mem{Base: x, Index: stride, Scale: 4}, x)
	ADDQ(Imm(16), groups)
	SUBQ(Imm(4), memoryOf(Param("groups").Len()))
	JNZ(LabelRef("rows"))
	finish()
}
