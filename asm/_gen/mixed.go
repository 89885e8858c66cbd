package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// mixedLanes is how many sums a product of float64 and float32 has.
const mixedLanes = 16

// addMixed writes the functions of family mixed: float64 weights over rows of float32, and sums of float64 rows.
func addMixed() {
	for _, s := range isas {
		addMixedDot(s, "MixedDot", "func(w []float64, x []float32) float64", "w[j]")
		addMixedDot(s, "MixedSquare", "func(x []float32) float64", "float64(x[j])")
		addMixedAxpy(s)
		addScaledRows(s)
	}
	addMixedSparse()
}

// addMixedDot writes the sum of factor times x[j] by lanes; the factor is x[j] itself where there are no weights.
func addMixedDot(s isa, kind, signature, factor string) {
	name := kind + s.suffix
	TEXT(name, NOSPLIT, signature)
	Doc(
		name+" is the loop",
		"",
		"\tfor j := range x { lane[j%16] += float64("+factor+" * float64(x[j])) }",
		"",
		"and the sum of the lanes by halves. It trusts its arguments.",
	)
	Pragma("noescape")
	d := mixed{isa: s, x: Load(Param("x").Base(), GP64()), n: Load(Param("x").Len(), GP64())}
	if kind == "MixedDot" {
		d.w = Load(Param("w").Base(), GP64())
	}
	for range mixedLanes / s.lanes {
		acc := s.vector()
		s.zero(acc)
		d.acc = append(d.acc, acc)
	}
	s.steps("block", d.n, mixedLanes, func() {
		for i := range d.acc {
			d.add(i, i, nil)
		}
		d.advance(len(d.acc))
	})
	d.rest()
	Label("sum")
	VMOVSD(s.addHalves(d.acc), result())
	finish()
}

// mixed holds the registers of an addMixedDot function; w is nil for squares.
type mixed struct {
	isa
	x, n, w Register
	acc     []VecVirtual
}

// add adds the products of a vector at a place, of which only the lanes of mask unless that is nil. Those of the others
// are 0, which changes no sum: none is -0, as they begin at 0.
func (d mixed) add(lane, place int, mask Register) {
	v := d.vector()
	d.widen(d.half(d.x, place), mask, v)
	switch {
	case d.w == nil:
		VMULPD(v, v, v)
	case mask == nil:
		VMULPD(d.at(d.w, place), v, v)
	default:
		u := d.vector()
		d.load64(d.at(d.w, place), mask, u)
		VMULPD(u, v, v)
	}
	VADDPD(v, d.acc[lane], d.acc[lane])
}

func (d mixed) advance(vectors int) {
	ADDQ(I32(vectors*d.bytes()/2), d.x)
	if d.w != nil {
		ADDQ(I32(vectors*d.bytes()), d.w)
	}
}

// rest adds fewer than mixedLanes elements: vectors, and the last under a mask, which also suppresses faults.
func (d mixed) rest() {
	for i := range d.acc {
		part := fmt.Sprintf("part%d", i)
		CMPQ(d.n, I32(d.lanes))
		JGE(LabelRef(part))
		TESTQ(d.n, d.n)
		JZ(LabelRef("sum"))
		d.add(i, 0, d.tail64(d.n))
		JMP(LabelRef("sum"))
		Label(part)
		d.add(i, 0, nil)
		d.advance(1)
		SUBQ(I32(d.lanes), d.n)
	}
}

// addHalves adds up lanes: the upper half to the lower, again and again.
func (s isa) addHalves(acc []VecVirtual) Register {
	for half := len(acc) / 2; half > 0; half /= 2 {
		for i := range half {
			VADDPD(acc[i+half], acc[i], acc[i])
		}
	}
	sum := acc[0]
	if s.masks {
		high := YMM()
		VEXTRACTF64X4(Imm(1), sum, high)
		VADDPD(high, sum.AsY(), sum.AsY())
	}
	high := XMM()
	VEXTRACTF128(Imm(1), sum.AsY(), high)
	VADDPD(high, sum.AsX(), sum.AsX())
	VUNPCKHPD(sum.AsX(), sum.AsX(), high)
	VADDSD(high, sum.AsX(), sum.AsX())
	return sum.AsX()
}

// widen loads float32 as float64, of which only the lanes of mask unless that is nil.
func (s isa) widen(from Mem, mask Register, to VecVirtual) {
	switch {
	case mask == nil:
		VCVTPS2PD(from, to)
	case s.masks:
		VCVTPS2PD_Z(from, mask, to)
	default:
		narrow := halfMask(mask)
		VMASKMOVPS(from, narrow, narrow)
		VCVTPS2PD(narrow, to)
	}
}

// load64 is loadMasked for lanes of 64 bits.
func (s isa) load64(from Mem, mask Register, to VecVirtual) {
	switch {
	case mask == nil:
		VMOVUPD(from, to)
	case s.masks:
		VMOVUPD_Z(from, mask, to)
	default:
		VMASKMOVPD(from, mask, to)
	}
}

// store64 is store for lanes of 64 bits.
func (s isa) store64(from VecVirtual, mask Register, to Mem) {
	switch {
	case mask == nil:
		VMOVUPD(from, to)
	case s.masks:
		VMOVUPD(from, mask, to)
	default:
		VMASKMOVPD(from, mask, to)
	}
}

// addMixedAxpy writes dst[j] += a*x[j], the product rounded.
func addMixedAxpy(s isa) {
	name := "MixedAxpy" + s.suffix
	TEXT(name, NOSPLIT, "func(dst []float64, x []float32, a float64)")
	Doc(
		name+" is the loop",
		"",
		"\tfor j := range x { dst[j] += float64(a * float64(x[j])) }",
		"",
		"It trusts its arguments.",
	)
	Pragma("noescape")
	dst, x := Load(Param("dst").Base(), GP64()), Load(Param("x").Base(), GP64())
	n, a := Load(Param("x").Len(), GP64()), s.vector()
	VBROADCASTSD(argument("a"), a)
	add := func(i int, mask Register) {
		v, u := s.vector(), s.vector()
		s.widen(s.half(x, i), mask, v)
		s.load64(s.at(dst, i), mask, u)
		VMULPD(a, v, v)
		VADDPD(v, u, u)
		s.store64(u, mask, s.at(dst, i))
	}
	step := func(count int) func() {
		return func() {
			for i := range count {
				add(i, nil)
			}
			ADDQ(I32(count*s.bytes()), dst)
			ADDQ(I32(count*s.bytes()/2), x)
		}
	}
	s.steps("block", n, unroll*s.lanes, step(unroll))
	s.steps("vector", n, s.lanes, step(1))
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Comment("The rest under a mask, which also suppresses faults beyond the end.")
	add(0, s.tail64(n))
	finish()
}

// addMixedSparse writes the dot product of a sparse row, whose weights are loaded one by one: see addSparse.
func addMixedSparse() {
	TEXT("MixedSparseDotAVX2", NOSPLIT,
		"func(lane *[16]float64, index []int32, value []float32, w []float64, soonIndex, soonValue int) int")
	Doc(
		"MixedSparseDotAVX2 is the loop",
		"",
		"\tfor p := range index { lane[p%16] += float64(w[index[p]] * float64(value[p])) }",
		"",
		"in blocks of 16 and then of 4, and returns how many elements it took. It ends before what is no whole block",
		"and before a block with a column outside w, which is not empty. It reads len(index) elements of value. What",
		"lies soonIndex and soonValue bytes behind each block of 16 is prefetched.",
	)
	Pragma("noescape")
	lane, n := Load(Param("lane"), GP64()), Load(Param("index").Len(), GP64())
	index, value := Load(Param("index").Base(), GP64()), Load(Param("value").Base(), GP64())
	w, first := Load(Param("w").Base(), GP64()), GP64()
	soonIndex, soonValue := Load(Param("soonIndex"), GP64()), Load(Param("soonValue"), GP64())
	last, acc := lastColumn(Load(Param("w").Len(), GP64())), [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	MOVQ(index, first)
	for i, a := range acc {
		VMOVUPD(isas[0].at(lane, i), a)
	}
	sparseSteps{index, value, n, w, soonIndex, soonValue}.run(last, acc[:])
	Label("outside")
	for i, a := range acc {
		VMOVUPD(a, isas[0].at(lane, i))
	}
	SUBQ(first, index)
	SHRQ(Imm(2), index)
	Store(index, ReturnIndex(0))
	finish()
}

// sparseSteps holds the registers of addMixedSparse.
type sparseSteps struct {
	index, value, n, w, soonIndex, soonValue Register
}

// run takes blocks of 16 and then of 4.
func (r sparseSteps) run(last VecVirtual, acc []VecVirtual) {
	add := func(i, at int) {
		v := YMM()
		VCVTPS2PD(Mem{Base: r.value, Disp: at}, v)
		VMULPD(fourWide(r.w, Mem{Base: r.index, Disp: at}), v, v)
		VADDPD(v, acc[i], acc[i])
	}
	isas[0].steps("block", r.n, mixedLanes, func() {
		checkColumns(r.index, last)
		PREFETCHT0(Mem{Base: r.index, Index: r.soonIndex, Scale: 1})
		PREFETCHT0(Mem{Base: r.value, Index: r.soonValue, Scale: 1})
		for i := range acc {
			add(i, 16*i)
		}
		ADDQ(Imm(4*mixedLanes), r.index)
		ADDQ(Imm(4*mixedLanes), r.value)
	})
	for i := range acc[:3] {
		SUBQ(Imm(4), r.n)
		JL(LabelRef("outside"))
		checkFour(r.index, last)
		add(i, 0)
		ADDQ(Imm(16), r.index)
		ADDQ(Imm(16), r.value)
	}
}

// checkFour is checkColumns for four columns.
func checkFour(index Register, last VecVirtual) {
	least := XMM()
	VPMAXUD(Mem{Base: index}, last.AsX(), least)
	VPXOR(last.AsX(), least, least)
	VPTEST(least, least)
	JNZ(LabelRef("outside"))
}

// fourWide loads the float64 weights of the four columns at index.
func fourWide(w Register, index Mem) VecVirtual {
	low, high, all := twoWide(w, index), twoWide(w, index.Offset(8)), YMM()
	VINSERTF128(Imm(1), high, low.AsY(), all)
	return all
}

func twoWide(w Register, index Mem) VecVirtual {
	one, two, pair := GP64(), GP64(), XMM()
	MOVQ(index, two)
	MOVL(two.As32(), one.As32())
	SHRQ(Imm(32), two)
	VMOVSD(Mem{Base: w, Index: one, Scale: 8}, pair)
	VMOVHPD(Mem{Base: w, Index: two, Scale: 8}, pair, pair)
	return pair
}
