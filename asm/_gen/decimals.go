package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The numbers of four fields are one vector of text: each has a lane of 16 bytes, at whose end it ends.
const laneBytes = 16

// decimals holds the registers that stay.
type decimals struct {
	text, dst, left, rest, pattern Register
	chars, ends, starts            VecVirtual
	offset, lane, zeros, spread    VecVirtual
	negative, long                 GPVirtual
}

// addDecimals writes the reader of decimal numbers.
func addDecimals() {
	TEXT("DecimalsAVX512", NOSPLIT,
		"func(dst []float32, text []byte, length int, first, other byte, pattern, inexact uint64) (numbers, used int)")
	Doc(decimalsDoc...)
	Pragma("noescape")
	d := decimals{text: Load(Param("text").Base(), GP64()), dst: Load(Param("dst").Base(), GP64()),
		left: Load(Param("dst").Len(), GP64()), rest: Load(Param("length"), GP64()),
		pattern: Load(Param("pattern"), GP64())}
	first, other := byteVector("first"), byteVector("other")
	d.offset, d.lane, d.zeros, d.spread = ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(byteTable("decimalOffsets", func(i int) int { return i%laneBytes - laneBytes }), d.offset)
	VMOVDQU64(byteTable("decimalLanes", func(i int) int { return i % laneBytes }), d.lane)
	VMOVDQU64(byteTable("decimalSpread", func(i int) int { return 2 * (i / laneBytes) }), d.spread)
	VPXORQ(d.zeros, d.zeros, d.zeros)
	Label("chunk")
	marks, limit := d.findEnds(first, other)
	done := GP64()
	XORQ(done, done)
	d.short(limit, done)
	Comment("Numbers, eight at a time.")
	Label("eight")
	room := GP64()
	MOVQ(limit, room)
	SUBQ(done, room)
	d.count(8, d.eight(room), room, done, limit)
	JMP(LabelRef("eight"))
	d.advance(marks, done)
	Label("finished")
	base := GP64()
	Load(Param("dst").Base(), base)
	SUBQ(base, d.dst)
	SHRQ(Imm(2), d.dst)
	Store(d.dst, ReturnIndex(0))
	Load(Param("text").Base(), base)
	SUBQ(base, d.text)
	Store(d.text, ReturnIndex(1))
	finish()
}

// count adds good numbers of n to those that are done, as far as there is room, and goes to the next n unless the chunk
// is done.
func (d *decimals) count(n uint8, good, room, done, limit Register) {
	CMPQ(good, room)
	CMOVQGT(room, good)
	ADDQ(good, done)
	LEAQ(Mem{Base: d.dst, Index: good, Scale: 4}, d.dst)
	CMPQ(good, Imm(uint64(n)))
	JNE(LabelRef("chunkDone"))
	CMPQ(done, limit)
	JE(LabelRef("chunkDone"))
	VALIGNQ(Imm(uint64(n/8)), d.ends, d.ends, d.ends)
	VALIGNQ(Imm(uint64(n/8)), d.starts, d.starts, d.starts)
	SHRQ(Imm(uint64(n)), d.negative)
	SHRQ(Imm(uint64(n)), d.long)
}

// short takes whole numbers of at most four digits, sixteen at a time, if the fields are nothing else.
func (d *decimals) short(limit, done Register) {
	const lane = 4
	beyond, points, k, length := GP64(), GP64(), K(), ZMM()
	VPSUBB(d.starts, d.ends, length)
	VPCMPB(Imm(6), byteTable("decimalShort", func(int) int { return lane }), length, k)
	KMOVQ(k, beyond)
	BZHIQ(limit, beyond, beyond)
	VPCMPEQB(byteTable("decimalPoint", func(int) int { return '.' }), d.chars, k)
	KMOVQ(k, points)
	ORQ(points, beyond)
	JNZ(LabelRef("eight"))
	spread, offset, ends, starts := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(byteTable("decimalSpread4", func(i int) int { return i / lane }), spread)
	VMOVDQU64(byteTable("decimalOffsets4", func(i int) int { return i%lane - lane }), offset)
	Comment("Short whole numbers, sixteen at a time.")
	Label("sixteen")
	room, good := GP64(), GP64()
	MOVQ(limit, room)
	SUBQ(done, room)
	at, digits, bad := ZMM(), ZMM(), ZMM()
	VPERMB(d.ends, spread, ends)
	VPERMB(d.starts, spread, starts)
	VPADDB(offset, ends, at)
	VPCMPB(Imm(5), starts, at, k)
	VPERMB(d.chars, at, at)
	VMOVDQU64(byteTable("decimalNone4", func(i int) int { return i % lane / (lane - 1) * 255 }), digits)
	VPSUBB(byteTable("decimalZero", func(int) int { return '0' }), at, k, digits)
	VPSUBUSB(byteTable("decimalNine", func(int) int { return 9 }), digits, bad)
	VPTESTMD(bad, bad, k)
	KMOVW(k, good.As32())
	VPMADDUBSW(byteTable("decimalTens", func(i int) int { return 10 - 9*(i%2) }), digits, digits)
	VPMADDWD(wordTable("decimalHundreds", 100), digits, digits)
	VCVTDQ2PS(digits, digits)
	KMOVW(d.negative.As32(), k)
	VPXORD(quadTable("decimalSigns32", 1<<63|1<<31), digits, k, digits)
	plus := GP64()
	MOVQ(d.negative, plus)
	ANDQ(d.pattern, plus)
	ORQ(plus, good)
	MOVQ(I32(1<<16-1), plus)
	BZHIQ(room, plus, plus)
	KMOVW(plus.As32(), k)
	VMOVUPS(digits, k, Mem{Base: d.dst})
	ORQ(U32(1<<16), good)
	TZCNTQ(good, good)
	d.count(16, good, room, done, limit)
	JMP(LabelRef("sixteen"))
}

// findEnds loads 64 bytes and finds the fields in them: marks has a bit for each end, and limit of
// them may be taken.
func (d *decimals) findEnds(first, other VecVirtual) (marks, limit Register) {
	m, a, c, n, x := GP64(), GP64(), GP64(), GP64(), GP64()
	d.chars, d.ends, d.starts, d.negative, d.long = ZMM(), ZMM(), ZMM(), GP64(), GP64()
	k := K()
	VMOVDQU64(Mem{Base: d.text}, d.chars)
	VPCMPEQB(first, d.chars, k)
	KMOVQ(k, a)
	VPCMPEQB(other, d.chars, k)
	KMOVQ(k, m)
	ORQ(a, m)
	CMPQ(d.rest, Imm(64))
	JGE(LabelRef("within"))
	BZHIQ(d.rest, m, m)
	ANDQ(m, a)
	BTSQ(d.rest, m)
	Label("within")
	POPCNTQ(m, c)
	PEXTQ(m, a, x) // which of the ends are the first kind
	XORQ(d.pattern, x)
	TZCNTQ(x, n)
	CMPQ(n, c)
	CMOVQGT(c, n)
	CMPQ(n, d.left)
	CMOVQGT(d.left, n)
	TESTQ(n, n)
	JZ(LabelRef("finished"))
	Comment("Places of the ends and of the begins, and signs.")
	places := ZMM()
	VMOVDQU64(byteTable("decimalPlaces", func(i int) int { return i }), places)
	KMOVQ(m, k)
	compress(places, k, d.ends)
	begins := GP64()
	LEAQ(Mem{Base: m, Index: m, Scale: 1, Disp: 1}, begins)
	KMOVQ(begins, k)
	compress(places, k, d.starts)
	signs, length, one := ZMM(), ZMM(), ZMM()
	VPERMB(d.chars, d.starts, signs)
	VPCMPEQB(byteTable("decimalMinus", func(int) int { return '-' }), signs, k)
	KMOVQ(k, d.negative)
	VMOVDQU64(byteTable("decimalOne", func(int) int { return 1 }), one)
	VPADDB(one, d.starts, k, d.starts)
	VPSUBB(d.starts, d.ends, length)
	VPCMPB(Imm(6), byteTable("decimalLongest", func(int) int { return laneBytes }), length, k)
	KMOVQ(k, d.long)
	return m, n
}

// compress moves the bytes of x that k marks to the front of dst; avo does not know the instruction.
func compress(x VecVirtual, k, dst Register) {
	Instruction(&ir.Instruction{Opcode: "VPCOMPRESSB", Suffixes: []string{"Z"}, Operands: []Op{x, k, dst},
		Inputs: []Op{x, k}, Outputs: []Op{dst}, ISA: []string{"AVX512VBMI2"}})
}

// four takes the digits of four fields apart: wide are their values as numbers of four digits, bad has bytes other than
// 0 in the lanes of fields that are no numbers, and point is where the decimal point was in its lane, from 1, or 0.
func (d *decimals) four(odd bool) (wide, bad, point VecVirtual) {
	ends, starts, at, text, digits := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	wide, bad, point = ZMM(), ZMM(), ZMM()
	inside, found := K(), K()
	which := d.spread
	if odd {
		which = ZMM()
		VPADDB(byteTable("decimalOne", func(int) int { return 1 }), d.spread, which)
	}
	VPERMB(d.ends, which, ends)
	VPERMB(d.starts, which, starts)
	VPADDB(d.offset, ends, at)
	VPCMPB(Imm(5), starts, at, inside) // at >= starts
	VPERMB_Z(d.chars, at, inside, text)
	VPCMPEQB(byteTable("decimalPoint", func(int) int { return '.' }), text, found)
	other, all := ZMM(), ZMM()
	VMOVDQU8_Z(byteTable("decimalLanes1", func(i int) int { return i%laneBytes + 1 }), found, point)
	VPSADBW(d.zeros, point, point)
	VPSHUFD(Imm(0x4e), point, other)
	VPADDQ(other, point, point)
	VPSHUFB(d.zeros, point, all)
	before := K()
	VPCMPUB(Imm(1), all, d.lane, before) // up to the point
	VPSUBB(byteTable("decimalOne", func(int) int { return 1 }), at, before, at)
	VPCMPB(Imm(5), starts, at, inside)
	VPERMB(d.chars, at, text)
	VMOVDQU64(byteTable("decimalNone", func(i int) int { return i % laneBytes / (laneBytes - 1) * 255 }), digits)
	VPSUBB(byteTable("decimalZero", func(int) int { return '0' }), text, inside, digits)
	VPSUBUSB(byteTable("decimalNine", func(int) int { return 9 }), digits, bad)
	VPMADDUBSW(byteTable("decimalTens", func(i int) int { return 10 - 9*(i%2) }), digits, wide)
	VPMADDWD(wordTable("decimalHundreds", 100), wide, wide)
	return wide, bad, point
}

// eight stores eight numbers, or as many as there is room for, and returns how many of them are good: the rest is
// rubbish.
func (d *decimals) eight(room Register) (good GPVirtual) {
	even, badEven, pointEven := d.four(false)
	odd, badOdd, pointOdd := d.four(true)
	good = GP64()
	k := K()
	low, points, signs := d.flaws(badEven, badOdd, pointEven, pointOdd, k)
	value := d.quotients(even, odd, low, points, k)
	single, back, k2 := ZMM(), ZMM(), K()
	VCVTPD2PS(value, single.AsY())
	VCVTPS2PD(single.AsY(), back)
	VCMPPD(Imm(4), back, value, k2)
	KMOVW(k2, good.As32())
	moved := Load(Param("inexact"), GP64())
	ANDQ(moved, good)
	ORQ(good, signs.As64())
	KMOVW(k, good.As32())
	ORQ(signs.As64(), good)
	ORQ(U32(1<<8), good)
	TZCNTQ(good, good)
	Comment("Signs, and the store of what there is room for.")
	KMOVW(d.negative.As32(), k)
	VPXORQ(quadTable("decimalSign", 1<<63), value, k, value)
	VCVTPD2PS(value, value.AsY())
	MOVQ(I32(255), signs.As64())
	BZHIQ(room, signs.As64(), signs.As64())
	KMOVW(signs, k)
	VMOVUPS(value, k, Mem{Base: d.dst})
	return good
}

// flaws marks in k which of eight fields are no numbers, and in signs which of them have what is refused. low is free.
func (d *decimals) flaws(badEven, badOdd, pointEven, pointOdd VecVirtual, k Register) (
	low, points VecVirtual, signs GPVirtual,
) {
	k2 := K()
	Comment("What is no number, and the points.")
	low = ZMM()
	VPUNPCKLQDQ(badOdd, badEven, low)
	VPUNPCKHQDQ(badOdd, badEven, badEven)
	VPORQ(badEven, low, low)
	VPTESTMQ(low, low, k)
	points = ZMM()
	VPUNPCKLQDQ(pointOdd, pointEven, points)
	VPTESTMQ(points, points, k2)
	signs = GP32()
	KMOVW(k2, signs)
	ORQ(d.negative, signs.As64())
	ANDQ(d.pattern, signs.As64())
	ORQ(d.long, signs.As64())
	return low, points, signs
}

// quotients are the mantissas of eight fields over their powers of ten. It marks in k those that are too large, or
// half-way between two float32.
func (d *decimals) quotients(even, odd, low, points VecVirtual, k Register) (value VecVirtual) {
	Comment("Mantissas and quotients.")
	tens, k2 := ZMM(), K()
	value = ZMM()
	VPACKUSDW(odd, even, even)
	VPMADDWD(wordTable("decimalMyriads", 10000), even, even)
	VPSRLQ(Imm(32), even, low)
	VPANDQ(quadTable("decimalLowHalf", 1<<32-1), even, even)
	VCVTUQQ2PD(even, value)
	VCVTUQQ2PD(low, low)
	VMULPD(quadTable("decimalHigh", math.Float64bits(1e8)), value, value)
	VADDPD(low, value, value)
	VCMPPD(Imm(13), quadTable("decimalWhole64", math.Float64bits(1<<53)), value, k2)
	KORW(k, k2, k)
	VMOVDQU64(tensTable(0), low)
	VMOVDQU64(points, tens)
	VPERMI2PD(tensTable(1), low, tens)
	VDIVPD(tens, value, value)
	VCMPPD(Imm(13), quadTable("decimalWhole32", math.Float64bits(1<<24)), value, k2)
	KORW(k, k2, k)
	VPANDQ(quadTable("decimalTail", 1<<29-1), value, low)
	VPCMPEQQ(quadTable("decimalHalf", 1<<28), low, k2)
	KORW(k, k2, k)
	return value
}

// advance goes to the field after those that are done.
func (d *decimals) advance(marks, done Register) {
	Label("chunkDone")
	TESTQ(done, done)
	JZ(LabelRef("finished"))
	at, last := GP64(), GP64()
	MOVQ(U32(1), last)
	MOVQ(done, RCX)
	DECQ(RCX)
	SHLQ(CL, last)
	PDEPQ(marks, last, last)
	TZCNTQ(last, at)
	INCQ(at)
	ADDQ(at, d.text)
	SUBQ(at, d.rest)
	SUBQ(done, d.left)
	INCQ(RCX)
	RORQ(CL, d.pattern)
	POPCNTQ(marks, at)
	CMPQ(done, at)
	JNE(LabelRef("finished"))
	TESTQ(d.left, d.left)
	JZ(LabelRef("finished"))
	CMPQ(d.rest, Imm(0))
	JGE(LabelRef("chunk"))
}

func byteVector(name string) VecVirtual {
	one, all := GP32(), ZMM()
	Load(Param(name), one.As8())
	MOVBLZX(one.As8(), one)
	VMOVD(one, all.AsX())
	VPBROADCASTB(all.AsX(), all)
	return all
}

var tables = map[string]Mem{}

// table is 64 bytes of constants.
func table(name string, quad func(i int) uint64) Mem {
	m, ok := tables[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(quad(i)))
		}
		tables[name] = m
	}
	return m
}

func byteTable(name string, value func(i int) int) Mem {
	return table(name, func(quad int) (bytes uint64) {
		for i := range 8 {
			bytes |= uint64(uint8(value(8*quad+i))) << (8 * i)
		}
		return bytes
	})
}

// wordTable has a factor and 1 in turn, as words.
func wordTable(name string, factor uint64) Mem {
	return quadTable(name, (factor|1<<16)*(1+1<<32))
}

func quadTable(name string, value uint64) Mem { return table(name, func(int) uint64 { return value }) }

// tensTable has 10 to the number of digits that follow a point at 0 to 7 or 8 to 15 of its lane, from 1; and 1 for no
// point, which is 0, or for one at the end, which is 16.
func tensTable(half int) Mem {
	return table(fmt.Sprintf("decimalTens%d", half), func(i int) uint64 {
		power := 1.0
		for range (laneBytes - 8*half - i) % laneBytes {
			power *= 10
		}
		return math.Float64bits(power)
	})
}

var decimalsDoc = []string{
	"DecimalsAVX512 reads decimal numbers at the front of text[:length], each of which one of two delimiters or the end",
	"of the text follows, to the nearest float32:",
	"",
	"\tfor numbers < len(dst) && used <= length {",
	"\t\tend := used + bytes.IndexAny(text[used:length], first and other), or length",
	"\t\tisFirst := pattern>>(numbers%64)&1 == 1 // which delimiter must be at the end",
	"\t\tdst[numbers], ok = number(text[used:end])",
	"\t\tif !ok || isFirst != (text[end] is first) { break }",
	"\t\tnumbers, used = numbers+1, end+1",
	"\t}",
	"",
	"The end of the text counts as other. The bits of pattern repeat after 8. A number has a minus or not, at most 16",
	"characters after it, digits and at most one point among them, and at least one digit. It is refused where its digits",
	"are 2^53 or more, where it is 2^24 or more, where its nearest float64 is half-way between two float32, if it ends with",
	"first, where it has a minus or a point, and, if all bits of inexact are 1 and not 0, where its nearest float64 is no",
	"float32. What is in dst after the numbers is rubbish. It loads up to 64 bytes after length.",
}
