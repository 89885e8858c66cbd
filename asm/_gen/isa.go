package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is what the generators need to know about an instruction set.
type isa struct {
	suffix string // of the function names
	lanes  int    // float64 per register
	vector func() VecVirtual
	masks  bool // has mask registers: the tail is one masked step, else a scalar loop
}

var isas = []isa{
	{suffix: "AVX2", lanes: 4, vector: YMM},
	{suffix: "AVX512", lanes: 8, vector: ZMM, masks: true},
}

// floats is the number of float32 per register.
func (s isa) floats() int { return 2 * s.lanes }

// bytes is the size of a register.
func (s isa) bytes() int { return 8 * s.lanes }

// registers is the number of vector registers.
func (s isa) registers() int {
	if s.masks {
		return 32
	}
	return 16
}

// zero clears v.
func (s isa) zero(v VecVirtual) {
	if s.masks {
		VPXORD(v, v, v)
		return
	}
	VXORPS(v, v, v)
}

// at is the memory of the i-th vector after the pointer base.
func (s isa) at(base Register, i int) Mem {
	return Mem{Base: base, Disp: i * s.lanes * 8}
}

// tailMask returns a mask of the lowest n lanes, 0 < n < lanes.
func (s isa) tailMask(n Register) Register {
	ones, k := GP64(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVW(ones.As32(), k)
	return k
}

// argument is the memory of a scalar argument.
func argument(name string) Mem { return memoryOf(Param(name)) }

// memoryOf is the memory of a part of an argument.
func memoryOf(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
