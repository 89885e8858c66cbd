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

// fourRows are rows that addGroupDistances4 takes at once, and the centers of their groups.
type fourRows struct {
	isa
	row         [4]Mem
	center      [4]Register
	acc         [4]VecVirtual
	from, left  Register // the column reached, and the columns left
	ahead       Register // as far on as the rows so far are long
	dst, groups Register
}

// distancesAhead is how far ahead of its use memory is fetched, in bytes and one line after the other: memory gives
// more to a reader of one place than of four rows, and most to the second cache level.
const distancesAhead = 16384

// addGroupDistances4 is addGroupDistances for rows in fours, whose chains of additions need not wait for each other.
func addGroupDistances4(s isa) {
	name := "GroupDistances4" + s.suffix
	TEXT(name, NOSPLIT, "func(dst []float64, cols int, x []float32, stride int, centers []float64, groups []int32)")
	Doc(name + " is GroupDistances" + s.suffix + " for rows in fours: groups has four elements for each.")
	Pragma("noescape")
	r := fourRows{isa: s, dst: Load(Param("dst").Base(), GP64()), groups: Load(Param("groups").Base(), GP64())}
	x, stride, three := Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64()), GP64()
	SHLQ(Imm(2), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	Label("rows")
	r.begin(x, stride, three)
	SUBQ(Imm(uint64(s.lanes)), r.left)
	JL(LabelRef("rest"))
	Label("vector")
	PREFETCHT1(Mem{Base: r.ahead, Disp: distancesAhead})
	ADDQ(Imm(64), r.ahead)
	r.add(nil, nil)
	for _, p := range r.center {
		ADDQ(Imm(uint64(s.bytes())), p)
	}
	ADDQ(Imm(uint64(s.bytes()/2)), r.from)
	SUBQ(Imm(uint64(s.lanes)), r.left)
	JGE(LabelRef("vector"))
	Label("rest")
	ADDQ(Imm(uint64(s.lanes)), r.left)
	JZ(LabelRef("sum"))
	k := s.tail64(r.left)
	r.add(k, halfMask(k))
	Label("sum")
	r.store()
	ADDQ(Imm(32), r.dst)
	LEAQ(Mem{Base: x, Index: stride, Scale: 4}, x)
	ADDQ(Imm(16), r.groups)
	SUBQ(Imm(4), memoryOf(Param("groups").Len()))
	JNZ(LabelRef("rows"))
	finish()
}

// begin goes to the first column of four rows.
func (r *fourRows) begin(x, stride, three Register) {
	r.from, r.left, r.ahead = GP64(), GP64(), GP64()
	MOVQ(argument("cols"), r.left)
	for i := range r.center {
		r.center[i], r.acc[i] = GP64(), r.vector()
		MOVLQSX(Mem{Base: r.groups, Disp: 4 * i}, r.center[i])
		IMULQ(r.left, r.center[i])
		SHLQ(Imm(3), r.center[i])
		ADDQ(memoryOf(Param("centers").Base()), r.center[i])
		r.zero(r.acc[i])
	}
	MOVQ(x, r.from)
	MOVQ(x, r.ahead)
	r.row = [4]Mem{{Base: r.from}, {Base: r.from, Index: stride, Scale: 1}, {Base: r.from, Index: stride, Scale: 2},
		{Base: r.from, Index: three, Scale: 1}}
}

// add adds the squared differences of a vector of columns; of the last ones by the masks of both widths.
func (r *fourRows) add(k, narrow Register) {
	var center [4]Mem
	for i, p := range r.center {
		center[i] = Mem{Base: p}
	}
	r.addOf(center, k, narrow)
}

// addOf is add for centers that are there.
func (r *fourRows) addOf(center [4]Mem, k, narrow Register) {
	for i, acc := range r.acc {
		v := r.vector()
		if k == nil {
			VCVTPS2PD(r.row[i], v)
			VSUBPD(center[i], v, v)
		} else {
			u, f := r.vector(), XMM()
			VMASKMOVPS(r.row[i], narrow, f)
			VCVTPS2PD(f, v)
			VMASKMOVPD(center[i], k, u)
			VSUBPD(u, v, v)
		}
		addSquare(v, acc)
	}
}

// store adds the lanes up.
func (r *fourRows) store() {
	for i, acc := range r.acc {
		high := XMM()
		VHADDPD(acc, acc, acc)
		VEXTRACTF128(Imm(1), acc, high)
		VADDSD(high, acc.AsX(), acc.AsX())
		VMOVSD(acc.AsX(), Mem{Base: r.dst, Disp: 8 * i})
	}
}
