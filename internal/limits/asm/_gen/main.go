// Command _gen writes the loops that benchmarks compare with: one that only multiplies and adds, one that only reads,
// and two that only write.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set with registers of its own width.
type isa struct {
	suffix string // of the function names
	bytes  int    // a register
	vector func() VecVirtual
	xor    func(m, x, y Op) // by width: the zmm form has another name
	store  func(x, m Op)    // plain, likewise
}

var isas = []isa{
	{"AVX2", 32, YMM, func(m, x, y Op) { VPXOR(m, x, y) }, func(x, m Op) { VMOVDQU(x, m) }},
	{"AVX512", 64, ZMM, func(m, x, y Op) { VPXORQ(m, x, y) }, func(x, m Op) { VMOVDQU64(x, m) }},
}

func main() {
	ConstraintExpr("amd64,!purego")
	for _, s := range isas {
		multiplyAdd(s)
		read(s)
		write(s, "Store", "by plain stores: a line is read before it is written.", s.store)
		write(s, "Stream", "past the caches. p[0] is aligned to 64 bytes.", func(x, m Op) { VMOVNTDQ(x, m) })
	}
	multiplyBytes(isas[1])
	Generate()
}

// accumulators is enough to hide the latency of an FMA: 4 or 5 cycles, two a cycle.
const accumulators = 12

// multiplyAdd writes the loop that nothing with an FMA in it can beat.
func multiplyAdd(s isa) {
	TEXT("MultiplyAdd"+s.suffix, NOSPLIT, "func(n int, x, y float32, sums *[16]float32)")
	Doc(
		fmt.Sprintf("MultiplyAdd%s adds x*y to each lane of %d registers of %d float32, n times,", s.suffix,
			accumulators, s.bytes/4),
		"and stores the first register's lanes: the first min(16, lanes) sums. n is positive.",
	)
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	x, y := s.broadcast("x"), s.broadcast("y")
	acc := s.zeros(accumulators)
	Label("loop")
	for _, a := range acc {
		VFMADD231PS(x, y, a)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	sums := Load(Param("sums"), GP64())
	VMOVUPS(acc[0], Mem{Base: sums})
	VZEROUPPER()
	RET()
}

// multiplyBytes writes the loop that nothing with a product of bytes in it can beat.
func multiplyBytes(s isa) {
	TEXT("MultiplyBytes"+s.suffix, NOSPLIT, "func(n int, x, y uint32, sums *[16]int32)")
	Doc(
		fmt.Sprintf("MultiplyBytes%s adds the products of the 4 bytes of x, signed, and those of y, unsigned, to each",
			s.suffix),
		fmt.Sprintf("lane of %d registers of %d int32, n times, and stores the first register's lanes. n is positive.",
			accumulators, s.bytes/4),
		"It needs AVX512_VNNI.",
	)
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	x, y := s.broadcast("x"), s.broadcast("y")
	acc := s.zeros(accumulators)
	Label("loop")
	for _, a := range acc { // avo does not know the instruction
		Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: []Op{x, y, a}, Inputs: []Op{x, y, a},
			Outputs: []Op{a}, ISA: []string{"AVX512F", "AVX512VNNI"}})
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	sums := Load(Param("sums"), GP64())
	VMOVUPS(acc[0], Mem{Base: sums})
	VZEROUPPER()
	RET()
}

// A step of the reading loop takes this many cache lines from each quarter of its input.
// Four streams read faster than one: each has its own prefetcher.
const (
	streams = 4
	lines   = 2
)

// read writes the loop that takes every byte in once and nothing more.
func read(s isa) {
	TEXT("Read"+s.suffix, NOSPLIT, "func(p []uint64, words *[8]uint64)")
	Doc(
		fmt.Sprintf("Read%s loads p and XORs its words into words, word i into i mod 8.", s.suffix),
		fmt.Sprintf("len(p) is a positive multiple of %d.", streams*lines*8),
	)
	Pragma("noescape")
	p := []Register{Load(Param("p").Base(), GP64())}
	left, quarter := Load(Param("p").Len(), GP64()), GP64()
	Comment("The words left of a quarter, and its bytes.")
	SHRQ(Imm(2), left)
	MOVQ(left, quarter)
	SHLQ(Imm(3), quarter)
	for len(p) < streams {
		next := GP64()
		LEAQ(Mem{Base: p[len(p)-1], Index: quarter, Scale: 1}, next)
		p = append(p, next)
	}
	acc := s.zeros(streams * lines)
	Label("loop")
	for at := 0; at < lines*64; at += s.bytes {
		for i, from := range p {
			a := acc[i*lines+at/s.bytes%lines]
			s.xor(Mem{Base: from, Disp: at}, a, a)
		}
	}
	for _, from := range p {
		ADDQ(I32(lines*64), from)
	}
	SUBQ(I32(lines*8), left)
	JNZ(LabelRef("loop"))
	s.fold(acc)
	VZEROUPPER()
	RET()
}

// A step of the writing loops fills this many cache lines, one after another: writes need no prefetcher.
const written = 8

// write writes the loop that puts a word everywhere and does nothing more.
func write(s isa, name, how string, store func(x, m Op)) {
	TEXT(name+s.suffix, NOSPLIT, "func(p []uint64, word uint64)")
	Doc(
		fmt.Sprintf("%s%s sets every word of p, %s", name, s.suffix, how),
		fmt.Sprintf("len(p) is a positive multiple of %d.", written*8),
	)
	Pragma("noescape")
	p, left := Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64())
	word, err := Param("word").Resolve()
	if err != nil {
		panic(err)
	}
	v := s.vector()
	VPBROADCASTQ(word.Addr, v)
	Label("loop")
	for at := 0; at < written*64; at += s.bytes {
		store(v, Mem{Base: p, Disp: at})
	}
	ADDQ(I32(written*64), p)
	SUBQ(I32(written*8), left)
	JNZ(LabelRef("loop"))
	if name == "Stream" {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// fold XORs the accumulators into words: as many together as fill its 64 bytes.
func (s isa) fold(acc []VecVirtual) {
	words := Load(Param("words"), GP64())
	parts := 64 / s.bytes
	for i := parts; i < len(acc); i++ {
		s.xor(acc[i], acc[i%parts], acc[i%parts])
	}
	for i := range parts {
		at := Mem{Base: words, Disp: i * s.bytes}
		s.xor(at, acc[i], acc[i])
		VMOVUPS(acc[i], at)
	}
}

func (s isa) broadcast(param string) VecVirtual {
	b, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	v := s.vector() // 4 bytes, whatever they are
	VBROADCASTSS(b.Addr, v)
	return v
}

func (s isa) zeros(n int) []VecVirtual {
	acc := make([]VecVirtual, n)
	for i := range acc {
		acc[i] = s.vector()
		s.xor(acc[i], acc[i], acc[i])
	}
	return acc
}
