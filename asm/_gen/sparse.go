package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// sparseBlock is the number of stored elements whose columns are checked at once: a line of each list.
const sparseBlock = 16

// addSparse writes the dot product of a sparse row. Weights are loaded one by one and put together:
// gather instructions won 2 % where this was measured, and CPUs that must guard them are far slower.
func addSparse() {
	TEXT("SparseDotAVX2", NOSPLIT, "func(lane *[4]float32, index []int32, value, w []float32, soonIndex, soonValue int) int")
	Doc(
		"SparseDotAVX2 is the loop",
		"",
		"\tfor p := range index { lane[p%4] += float32(value[p] * w[index[p]]) }",
		"",
		"in blocks of 16, and returns how many elements it took. It ends before what is no whole block",
		"and before a block with a column outside w, which is not empty. It reads len(index) elements of value. What",
		"lies soonIndex and soonValue bytes behind each block is prefetched.",
	)
	Pragma("noescape")
	lane, n := Load(Param("lane"), GP64()), Load(Param("index").Len(), GP64())
	index, value := Load(Param("index").Base(), GP64()), Load(Param("value").Base(), GP64())
	w, first := Load(Param("w").Base(), GP64()), GP64()
	soonIndex, soonValue := Load(Param("soonIndex"), GP64()), Load(Param("soonValue"), GP64())
	last, sum := lastColumn(Load(Param("w").Len(), GP64())), XMM()
	MOVQ(index, first)
	VMOVUPS(Mem{Base: lane}, sum)
	isas[0].steps("block", n, sparseBlock, func() {
		checkColumns(index, last)
		PREFETCHT0(Mem{Base: index, Index: soonIndex, Scale: 1})
		PREFETCHT0(Mem{Base: value, Index: soonValue, Scale: 1})
		for at := 0; at < 4*sparseBlock; at += 16 {
			weights := fourWeights(w, Mem{Base: index, Disp: at})
			VMULPS(Mem{Base: value, Disp: at}, weights, weights)
			VADDPS(weights, sum, sum)
		}
		ADDQ(Imm(4*sparseBlock), index)
		ADDQ(Imm(4*sparseBlock), value)
	})
	Label("outside")
	Comment("The elements of no whole block, and where the lists begin in the middle of a line.")
	PREFETCHT0(Mem{Base: index, Index: soonIndex, Scale: 1})
	PREFETCHT0(Mem{Base: index, Index: soonIndex, Scale: 1, Disp: 60})
	PREFETCHT0(Mem{Base: value, Index: soonValue, Scale: 1})
	PREFETCHT0(Mem{Base: value, Index: soonValue, Scale: 1, Disp: 60})
	VMOVUPS(sum, Mem{Base: lane})
	SUBQ(first, index)
	SHRQ(Imm(2), index)
	Store(index, ReturnIndex(0))
	finish()
}

// lastColumn is the highest column of as many weights as an int32 can count, in all elements.
func lastColumn(weights Register) VecVirtual {
	highest, last := GP64(), YMM()
	DECQ(weights)
	MOVQ(U32(1<<31-1), highest)
	CMPQ(weights, highest)
	CMOVQGT(highest, weights)
	VMOVD(weights.(GPVirtual).As32(), last.AsX())
	VPBROADCASTD(last.AsX(), last)
	return last
}

// checkColumns leaves the loop if a column of the block is above last; a negative one is, unsigned.
func checkColumns(index Register, last VecVirtual) {
	both, least := YMM(), YMM()
	VMOVDQU(Mem{Base: index}, both)
	VPMAXUD(Mem{Base: index, Disp: 32}, both, both)
	VPMAXUD(last, both, least)
	VPXOR(last, least, least)
	VPTEST(least, least)
	JNZ(LabelRef("outside"))
}

// fourWeights loads the weights of the four columns at index.
func fourWeights(w Register, index Mem) VecVirtual {
	low, high := twoWeights(w, index), twoWeights(w, index.Offset(8))
	VMOVLHPS(high, low, low)
	return low
}

func twoWeights(w Register, index Mem) VecVirtual {
	one, two, pair := GP64(), GP64(), XMM()
	MOVQ(index, two)
	MOVL(two.As32(), one.As32())
	SHRQ(Imm(32), two)
	VMOVSS(Mem{Base: w, Index: one, Scale: 4}, pair)
	VINSERTPS(Imm(0x10), Mem{Base: w, Index: two, Scale: 4}, pair, pair)
	return pair
}
