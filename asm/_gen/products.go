package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addProducts writes the functions of family products: float64 products of rows of float32, and exponentials of them.
func addProducts() {
	addProductTile(isas[0], 6, 2)
	addProductTile(isas[1], 8, 3)
	for _, s := range isas {
		addExps(s)
	}
}

// addProductTile writes a tile of float64 products.
func addProductTile(s isa, rows, vectors int) {
	width := vectors * s.lanes
	name := fmt.Sprintf("Products%dx%d%s", rows, width, s.suffix)
	TEXT(name, NOSPLIT, "func(dst *float64, x *float64, y *float64, dim int)")
	Doc(
		fmt.Sprintf("%s multiplies %d packed rows by %d packed columns, of float64:", name, rows, width),
		"",
		"\tfor k := range dim {",
		fmt.Sprintf("\t\tfor i := range %d {", rows),
		fmt.Sprintf("\t\t\tfor j := range %d { d := &dst[i*%d+j]; *d = math.FMA(x[k*%d+i], y[k*%d+j], *d) }", width,
			width, rows, width),
		"\t\t}",
		"\t}",
		"",
		"dim is positive.",
	)
	Pragma("noescape")
	dst, x, y := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	left := Load(Param("dim"), GP64())
	acc := make([]VecVirtual, rows*vectors)
	for i := range acc {
		acc[i] = s.vector()
		VMOVUPD(s.at(dst, i), acc[i])
	}
	Label("step")
	columns := make([]VecVirtual, vectors)
	for v := range columns {
		columns[v] = s.vector()
		VMOVUPD(s.at(y, v), columns[v])
	}
	for i := range rows {
		row := s.vector()
		VBROADCASTSD(Mem{Base: x, Disp: 8 * i}, row)
		for v := range columns {
			VFMADD231PD(row, columns[v], acc[i*vectors+v])
		}
	}
	ADDQ(I32(8*rows), x)
	ADDQ(I32(8*width), y)
	DECQ(left)
	JNZ(LabelRef("step"))
	for i := range acc {
		VMOVUPD(acc[i], s.at(dst, i))
	}
	finish()
}

// The constants of kernelops/fmath/exp.go, where they are explained.
const (
	exp64Log2e = 1 / math.Ln2
	exp64High  = 0x1.62e42fefa38p-1
	exp64Low   = 0x1.ef35793c7673p-45
	exp64Round = 0x1.8p52
)

// float64s are the memory of vectors with a constant in every lane.
var float64s = map[float64]Mem{}

func float64Data(x float64) Mem {
	data, ok := float64s[x]
	if !ok {
		data = GLOBL(fmt.Sprintf("float64_%016x", math.Float64bits(x)), RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(math.Float64bits(x)))
		}
		float64s[x] = data
	}
	return data
}

// addExps writes the exponentials of float64.
func addExps(s isa) {
	name := "Exps" + s.suffix
	TEXT(name, NOSPLIT, "func(x *float64, vectors int)")
	Doc(
		fmt.Sprintf("%s is the loop, over %d*vectors elements,", name, s.lanes),
		"",
		"\tfor i := range x { x[i] = fmath.Exp(x[i]) }",
		"",
		"for elements between -700 and 700. vectors is positive.",
	)
	Pragma("noescape")
	x, left := Load(Param("x"), GP64()), Load(Param("vectors"), GP64())
	Label("vector")
	v := s.vector()
	VMOVUPD(s.at(x, 0), v)
	VMOVUPD(s.exp(v), s.at(x, 0))
	ADDQ(I32(s.bytes()), x)
	DECQ(left)
	JNZ(LabelRef("vector"))
	finish()
}

// exp returns the exponentials of a vector, by the steps of fmath.Exp.
func (s isa) exp(x VecVirtual) VecVirtual {
	integer, n, a, b := s.vector(), s.vector(), s.vector(), s.vector()
	VMULPD(float64Data(exp64Log2e), x, integer)
	VADDPD(float64Data(exp64Round), integer, integer) // n in the lowest bits
	VSUBPD(float64Data(exp64Round), integer, n)
	VMULPD(float64Data(exp64High), n, a)
	VSUBPD(a, x, a)
	VMULPD(float64Data(exp64Low), n, b)
	high, low := s.vector(), s.vector()
	VSUBPD(b, a, high)
	VSUBPD(high, a, low)
	VSUBPD(b, low, low)
	tail := s.expTail64(high, low)
	sum := s.vector()
	VADDPD(float64Data(1), high, sum) // fastTwoSum(1, high)
	rest := s.vector()
	VSUBPD(float64Data(1), sum, rest)
	VSUBPD(rest, high, rest)
	VADDPD(tail, rest, rest)
	VADDPD(rest, sum, sum)
	VPSLLQ(Imm(52), integer, integer)
	VPADDQ(integer, sum, sum)
	return sum
}

// expTail64 is expTail of fmath.
func (s isa) expTail64(high, low VecVirtual) VecVirtual {
	z, even, odd, t := s.vector(), s.vector(), s.vector(), s.vector()
	VMULPD(high, high, z)
	series := func(sum VecVirtual, factorials ...float64) {
		VMULPD(float64Data(1/factorials[0]), z, sum)
		for i, f := range factorials[1:] {
			VADDPD(float64Data(1/f), sum, sum)
			if i+2 < len(factorials) {
				VMULPD(z, sum, sum)
			}
		}
	}
	series(even, 479001600, 3628800, 40320, 720, 24, 2)
	series(odd, 6227020800, 39916800, 362880, 5040, 120, 6)
	VMULPD(odd, high, t)
	VADDPD(t, even, t)
	VMULPD(z, t, t)
	VADDPD(float64Data(1), high, even)
	VMULPD(even, low, even)
	VADDPD(even, t, t)
	return t
}
