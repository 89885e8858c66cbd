package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addHammings writes the functions of family hamming: differing bits, counted.
func addHammings() {
	for _, s := range isas {
		addHammingRows(s)
	}
}

// addHammingRows writes dst[i] += OnesCount64(x[i][w] ^ y[w]) over all words w.
func addHammingRows(s isa) {
	name := "HammingRows" + s.suffix
	TEXT(name, NOSPLIT, "func(dst []int, x []uint64, stride int, y []uint64)")
	Doc(
		name+" is the loop",
		"",
		"\tfor i := range dst { for w := range y { dst[i] += bits.OnesCount64(x[i*stride+w] ^ y[w]) } }",
		"",
		"Not every dst is empty; it trusts its arguments.",
	)
	Pragma("noescape")
	dst, rows := Load(Param("dst").Base(), GP64()), Load(Param("dst").Len(), GP64())
	x, stride := Load(Param("x").Base(), GP64()), Load(Param("stride"), GP64())
	y, words := Load(Param("y").Base(), GP64()), Load(Param("y").Len(), GP64())
	SHLQ(Imm(3), stride)
	c := newBitCounter(s)
	rest := GP64()
	MOVQ(words, rest)
	ANDQ(Imm(uint64(s.lanes-1)), rest)
	k := s.tail64(rest)
	Label("row")
	xs, ys, n := GP64(), GP64(), GP64()
	MOVQ(x, xs)
	MOVQ(y, ys)
	MOVQ(words, n)
	ADDQ(c.differences(xs, ys, n, k), Mem{Base: dst})
	ADDQ(Imm(8), dst)
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	finish()
}

// differences returns the number of bits in which n words at x and y differ. k masks those behind the
// last whole register.
func (c bitCounter) differences(x, y, n, k Register) Register {
	total := c.vector()
	c.zero(total)
	step := func(count int) func() {
		return func() {
			for i := range count {
				v := c.vector()
				VMOVUPS(c.at(x, i), v)
				c.xor(v, c.at(y, i))
				c.add(v, total)
			}
			ADDQ(I32(count*c.bytes()), x)
			ADDQ(I32(count*c.bytes()), y)
		}
	}
	c.steps("block", n, unroll*c.lanes, step(unroll))
	c.steps("vector", n, c.lanes, step(1))
	TESTQ(n, n)
	JZ(LabelRef("counted"))
	Comment("The last words under a mask; the others count as equal.")
	v, u := c.vector(), c.vector()
	c.loadWords(c.at(x, 0), k, v)
	c.loadWords(c.at(y, 0), k, u)
	c.xor(v, u)
	c.add(v, total)
	Label("counted")
	return c.sumWords(total)
}

// bitCounter holds what the counting of bits needs where there is no instruction for it.
type bitCounter struct {
	isa
	table, low, zeros VecVirtual
}

// newBitCounter loads the constants. AVX2 looks up the count of each half byte in a table, by
// a shuffle, and sums bytes by VPSADBW (Muła, Kurz and Lemire, "Faster population counts using AVX2
// instructions", Computer Journal 61(1), 2018, section 3).
func newBitCounter(s isa) bitCounter {
	c := bitCounter{isa: s}
	if s.masks {
		return c
	}
	c.table, c.low, c.zeros = s.vector(), s.vector(), s.vector()
	counts := GLOBL("halfByteCounts", RODATA|NOPTR)
	DATA(0, U64(0x0302020102010100))
	DATA(8, U64(0x0403030203020201))
	VBROADCASTI128(counts, c.table)
	VPBROADCASTB(ConstData("halfByte", U8(0x0f)), c.low)
	VPXOR(c.zeros, c.zeros, c.zeros)
	return c
}

func (c bitCounter) xor(v VecVirtual, with Op) {
	if c.masks {
		VPXORQ(with, v, v)
		return
	}
	VPXOR(with, v, v)
}

// add adds the bits of v to total, 64-bit lane by lane, and destroys v.
func (c bitCounter) add(v, total VecVirtual) {
	if c.masks {
		VPOPCNTQ(v, v)
		VPADDQ(v, total, total)
		return
	}
	high := c.vector()
	VPSRLW(Imm(4), v, high)
	VPAND(c.low, v, v)
	VPAND(c.low, high, high)
	VPSHUFB(v, c.table, v)
	VPSHUFB(high, c.table, high)
	VPADDB(high, v, v)
	VPSADBW(c.zeros, v, v)
	VPADDQ(v, total, total)
}

// loadWords loads the lanes of mask and clears the others, whose memory is not touched.
func (s isa) loadWords(from Mem, mask Register, to VecVirtual) {
	if s.masks {
		VMOVDQU64_Z(from, mask, to)
		return
	}
	VPMASKMOVQ(from, mask, to)
}

// sumWords returns the sum of the 64-bit lanes of v, which it destroys.
func (s isa) sumWords(v VecVirtual) Register {
	half, sum := YMM(), GP64()
	if s.masks {
		VEXTRACTI64X4(Imm(1), v, half)
		VPADDQ(half, v.AsY(), v.AsY())
	}
	VEXTRACTI128(Imm(1), v.AsY(), half.AsX())
	VPADDQ(half.AsX(), v.AsX(), v.AsX())
	VPSHUFD(Imm(0xee), v.AsX(), half.AsX())
	VPADDQ(half.AsX(), v.AsX(), v.AsX())
	VMOVQ(v.AsX(), sum)
	return sum
}
