package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// sumLanes is the number of partial results of a reduction. It is part of what a
// reduction means (docs/numerics.md), not a matter of speed.
const sumLanes = 32

// prefetch is how far ahead of its use x is asked for, in bytes. Memory then keeps up across the ends
// of pages, where the hardware's own prefetching starts anew: 87 % to 98 % of read bandwidth measured.
const prefetch = 1024

// metric is a reduction of two rows to one number.
type metric struct {
	name string
	term string                              // what lane l does with x[i] and y[i], in Go
	tree string                              // how two lanes become one, in Go
	meet func(r reduction, x Register, y Op) // x becomes what is folded
	fold func(x Register, y Op, to ...Op)    // to is the lane, behind its mask if it has one
	join func(from, to Op)                   // to takes from in
}

func addLanes(from, to Op)                   { VADDPS(from, to, to) }
func maxLanes(from, to Op)                   { VPMAXSD(from, to, to) }
func subtract(_ reduction, x Register, y Op) { VSUBPS(y, x, x) }

func distance(r reduction, x Register, y Op) {
	VSUBPS(y, x, x)
	if r.masks {
		VPANDD(r.abs, x, x)
	} else {
		VANDPS(r.abs, x, x)
	}
}

var metrics = []metric{
	{
		name: "Dot", term: "lane[i%32] = fma32(x[i], y[i], lane[i%32])", tree: "lane[j] + lane[j+h]", join: addLanes,
		fold: func(x Register, y Op, to ...Op) { VFMADD231PS(append([]Op{y, x}, to...)...) },
	},
	{
		name: "SqEuclidean", term: "t := x[i] - y[i]; lane[i%32] = fma32(t, t, lane[i%32])",
		tree: "lane[j] + lane[j+h]",
		meet: subtract, join: addLanes,
		fold: func(x Register, _ Op, to ...Op) { VFMADD231PS(append([]Op{x, x}, to...)...) },
	},
	{
		name: "L1", term: "lane[i%32] += abs(x[i] - y[i])", tree: "lane[j] + lane[j+h]", meet: distance, join: addLanes,
		fold: func(x Register, _ Op, to ...Op) { VADDPS(append([]Op{x, to[len(to)-1]}, to...)...) },
	},
	{
		name: "LInf", term: "lane[i%32] = max(lane[i%32], abs(x[i]-y[i]))", tree: "max(lane[j], lane[j+h])",
		meet: distance, join: maxLanes,
		fold: func(x Register, _ Op, to ...Op) { VPMAXSD(append([]Op{x, to[len(to)-1]}, to...)...) },
	},
}

// reduction holds the registers of one function. n counts rows, cols columns.
type reduction struct {
	isa
	metric
	dst, n, x, stride, y, cols, carry Register
	abs                               VecVirtual
	tails                             []Register // masks of the last cols%32 columns, a vector each
	lanes                             []VecVirtual
}

// addReductions writes the functions of family reduce.
func addReductions() {
	for _, s := range isas {
		addDot(s)
		addDotEach(s)
		for _, m := range metrics {
			addRowReduction(s, m)
		}
	}
}

// addDot writes the dot product of one pair of rows.
func addDot(s isa) {
	TEXT("Dot"+s.suffix, NOSPLIT, "func(x, y []float32) float32")
	Doc(
		fmt.Sprintf("Dot%s returns row 0 of DotRows%s with a matrix of one row.", s.suffix, s.suffix),
		"It reads len(x) elements of y and trusts its arguments.",
	)
	Pragma("noescape")
	r := reduction{isa: s, metric: metrics[0]}
	r.x, r.cols = Load(Param("x").Base(), GP64()), Load(Param("x").Len(), GP64())
	r.y = Load(Param("y").Base(), GP64())
	r.prepare()
	for _, l := range r.lanes {
		r.zero(l)
	}
	r.row()
	VMOVSS(r.sum(), result())
	VZEROUPPER()
	RET()
}

// addRowReduction writes the reduction of every row of a matrix against one vector.
func addRowReduction(s isa, m metric) {
	name := m.name + "Rows" + s.suffix
	TEXT(name, NOSPLIT, "func(dst, x []float32, stride int, y []float32, carry *[32]float32)")
	Doc(
		name+" sets each dst[i] from row i of x, which is x[i*stride:][:len(y)], by",
		"",
		"\tfor i := range y { "+m.term+" }",
		"\tfor h := 16; h > 0; h /= 2 { for j := range h { lane[j] = "+m.tree+" } }",
		"",
		"and dst[i] = lane[0]. The lanes start from zero, unless carry is given: then from there, and",
		"what they were before the tree is stored there. Not every dst is empty; it trusts its arguments.",
	)
	Pragma("noescape")
	r := reduction{isa: s, metric: m}
	r.dst, r.n = Load(Param("dst").Base(), GP64()), Load(Param("dst").Len(), GP64())
	r.x, r.stride = Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	r.y, r.cols = Load(Param("y").Base(), GP64()), Load(Param("y").Len(), GP64())
	r.carry = Load(Param("carry"), GP64())
	r.prepare()
	SHLQ(Imm(2), r.stride)
	r.rows()
	VZEROUPPER()
	RET()
}

// rows reduces n > 0 rows.
func (r reduction) rows() {
	Label("row")
	for _, l := range r.lanes {
		r.zero(l)
	}
	TESTQ(r.carry, r.carry)
	JZ(LabelRef("start"))
	for i, l := range r.lanes {
		VMOVUPS(r.at(r.carry, i), l)
	}
	Label("start")
	x, y, cols := GP64(), GP64(), GP64()
	MOVQ(r.x, x)
	MOVQ(r.y, y)
	MOVQ(r.cols, cols)
	inner := r
	inner.x, inner.y, inner.cols = x, y, cols
	inner.row()
	TESTQ(r.carry, r.carry)
	JZ(LabelRef("tree"))
	for i, l := range r.lanes {
		VMOVUPS(l, r.at(r.carry, i))
	}
	Label("tree")
	VMOVSS(r.sum(), Mem{Base: r.dst})
	ADDQ(Imm(4), r.dst)
	ADDQ(r.stride, r.x)
	DECQ(r.n)
	JNZ(LabelRef("row"))
}

// prepare takes registers, and computes the masks of the columns behind the last whole 32.
func (r *reduction) prepare() {
	for range sumLanes / (2 * r.isa.lanes) {
		r.lanes = append(r.lanes, r.vector())
	}
	if r.name == "L1" || r.name == "LInf" {
		r.abs = r.vector()
		VBROADCASTSS(absMask(), r.abs)
	}
	rest := GP64()
	MOVQ(r.cols, rest)
	ANDQ(Imm(sumLanes-1), rest)
	if r.masks {
		ones := GP64()
		MOVQ(I32(-1), ones)
		BZHIQ(rest, ones, ones)
		for range r.lanes {
			k := K()
			KMOVW(ones.As32(), k)
			SHRQ(Imm(16), ones)
			r.tails = append(r.tails, k)
		}
		return
	}
	count := YMM()
	VMOVD(rest.As32(), count.AsX())
	VPBROADCASTD(count.AsX(), count)
	for i := range r.lanes {
		mask := YMM()
		VPCMPGTD(laneNumbers().Offset(32*i), count, mask)
		r.tails = append(r.tails, mask)
	}
}

// row takes cols columns at x and y into the lanes.
func (r reduction) row() {
	Label("block")
	Comment("32 columns a step, one for each lane.")
	CMPQ(r.cols, Imm(sumLanes))
	JL(LabelRef("tail"))
	PREFETCHT0(Mem{Base: r.x, Disp: prefetch})
	PREFETCHT0(Mem{Base: r.x, Disp: prefetch + 64})
	for i, l := range r.lanes {
		x := r.vector()
		VMOVUPS(r.at(r.x, i), x)
		if r.meet != nil {
			r.meet(r, x, r.at(r.y, i))
		}
		r.fold(x, r.at(r.y, i), l)
	}
	ADDQ(I32(4*sumLanes), r.x)
	ADDQ(I32(4*sumLanes), r.y)
	SUBQ(Imm(sumLanes), r.cols)
	JMP(LabelRef("block"))
	Label("tail")
	TESTQ(r.cols, r.cols)
	JZ(LabelRef("reduced"))
	Comment(
		"The last columns under masks. The lanes without one keep every bit: adding zero would lose the sign of -0.")
	for i, l := range r.lanes {
		r.masked(i, l)
	}
	Label("reduced")
}

// masked takes the last columns of vector i.
func (r reduction) masked(i int, lane VecVirtual) {
	x, y, mask := r.vector(), r.vector(), r.tails[i]
	r.loadMasked(r.at(r.x, i), mask, x)
	r.loadMasked(r.at(r.y, i), mask, y)
	if r.meet != nil {
		r.meet(r, x, y)
	}
	if r.masks {
		r.fold(x, y, mask, lane)
		return
	}
	next := r.vector()
	VMOVAPS(lane, next)
	r.fold(x, y, next)
	VBLENDVPS(mask, next, lane, lane)
}

// sum joins the lanes along the tree: halves, until one is left.
func (r reduction) sum() Register {
	Comment("The tree: 16 lanes apart, then 8, 4, 2, 1.")
	l := r.lanes
	for ; len(l) > 1; l = l[:len(l)/2] {
		for i := range len(l) / 2 {
			r.join(l[i+len(l)/2], l[i])
		}
	}
	half := YMM()
	if r.masks {
		VEXTRACTF64X4(Imm(1), l[0], half)
		r.join(half, l[0].AsY())
	}
	VEXTRACTF128(Imm(1), l[0].AsY(), half.AsX())
	r.join(half.AsX(), l[0].AsX())
	VMOVHLPS(l[0].AsX(), l[0].AsX(), half.AsX())
	r.join(half.AsX(), l[0].AsX())
	VMOVSHDUP(l[0].AsX(), half.AsX())
	r.join(half.AsX(), l[0].AsX())
	return l[0].AsX()
}

// result is the memory of the value returned.
func result() Mem {
	b, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
