package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// unroll is the number of registers in the main loop: enough to cover the latency
// of a multiplication and an addition with loads of the next row elements.
const unroll = 4

// addRows writes dst[i] += x[i], or dst[i] += a*x[i] with the product rounded first.
// Elements do not meet, so every width gives the same bits.
func addRows(s isa, scaled bool) {
	name, params, loop := "Add", "dst, x []float64", "dst[i] += x[i]"
	if scaled {
		name, params, loop = "AddScaled", "dst, x []float64, a float64", "dst[i] += float64(a * x[i])"
	}
	TEXT(name+s.suffix, NOSPLIT, "func("+params+")")
	Doc(
		fmt.Sprintf("%s%s is the loop", name, s.suffix),
		"",
		"\tfor i := range dst { "+loop+" }",
		"",
		"It reads len(dst) elements of x and trusts its arguments.",
	)
	Pragma("noescape")
	r := row{isa: s, scaled: scaled}
	r.dst = Load(Param("dst").Base(), GP64())
	r.n = Load(Param("dst").Len(), GP64())
	r.x = Load(Param("x").Base(), GP64())
	if scaled {
		r.a = s.vector()
		VBROADCASTSD(argument("a"), r.a)
	}
	r.loop("block", unroll)
	r.loop("vector", 1)
	if s.masks {
		r.maskedTail()
	} else {
		r.scalarTail()
	}
	Label("done")
	Comment("Upper halves back to zero: the caller's SSE code would pay for them.")
	VZEROUPPER()
	RET()
}

// row holds the registers of one addRows function.
type row struct {
	isa
	scaled    bool
	dst, x, n Register
	a         VecVirtual
}

// loop handles count vectors at a time while n holds that many.
func (r row) loop(label string, count int) {
	step := count * r.lanes
	end := label + "_end"
	Label(label)
	Commentf("%d elements a step.", step)
	CMPQ(r.n, I32(step))
	JL(LabelRef(end))
	acc := make([]VecVirtual, count)
	for i := range acc {
		acc[i] = r.vector()
		VMOVUPD(r.at(r.x, i), acc[i])
	}
	for i := range acc {
		if r.scaled {
			VMULPD(acc[i], r.a, acc[i])
		}
		VADDPD(r.at(r.dst, i), acc[i], acc[i])
	}
	for i := range acc {
		VMOVUPD(acc[i], r.at(r.dst, i))
	}
	ADDQ(I32(step*8), r.dst)
	ADDQ(I32(step*8), r.x)
	SUBQ(I32(step), r.n)
	JMP(LabelRef(label))
	Label(end)
}

// maskedTail handles the last n < lanes elements; masked lanes are neither read nor written.
func (r row) maskedTail() {
	TESTQ(r.n, r.n)
	JZ(LabelRef("done"))
	Comment("The rest under a mask, which also suppresses faults beyond the end.")
	k := r.tailMask(r.n)
	x, dst := r.vector(), r.vector()
	VMOVUPD_Z(r.at(r.x, 0), k, x)
	VMOVUPD_Z(r.at(r.dst, 0), k, dst)
	if r.scaled {
		VMULPD(x, r.a, x)
	}
	VADDPD(dst, x, x)
	VMOVUPD(x, k, r.at(r.dst, 0))
}

// scalarTail handles the last n < lanes elements one by one.
func (r row) scalarTail() {
	Label("scalar")
	TESTQ(r.n, r.n)
	JZ(LabelRef("done"))
	t := XMM()
	VMOVSD(Mem{Base: r.x}, t)
	if r.scaled {
		VMULSD(t, r.a.AsX(), t)
	}
	VADDSD(Mem{Base: r.dst}, t, t)
	VMOVSD(t, Mem{Base: r.dst})
	ADDQ(Imm(8), r.dst)
	ADDQ(Imm(8), r.x)
	DECQ(r.n)
	JMP(LabelRef("scalar"))
}
