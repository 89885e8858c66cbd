package main

import (
	"fmt"
	"math"
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The constants of kernelops/exp32.go, where they are explained.
const (
	log2e     = 0x1.715476p+0
	ln2High   = 0x1.63p-1
	ln2Low    = -0x1.bd0106p-13
	expLowest = -87.3
	tanhOne   = 10
)

var expFactors = []float32{0x1.6d113cp-10, 0x1.120ba2p-7, 0x1.55551ap-5, 0x1.5554dcp-3, 0x1p-1}

// float32Data is the memory of a constant, one for each value.
func float32Data(x float32) Mem {
	data, ok := float32s[x]
	if !ok {
		data = ConstData(fmt.Sprintf("float32_%08x", math.Float32bits(x)), U32(math.Float32bits(x)))
		float32s[x] = data
	}
	return data
}

// vectorData is the memory of a vector of AVX2 with x in every lane.
func vectorData(x float32) Mem {
	data, ok := vectors[x]
	if !ok {
		data = GLOBL(fmt.Sprintf("vector_%08x", math.Float32bits(x)), RODATA|NOPTR)
		for i := range 8 {
			DATA(4*i, U32(math.Float32bits(x)))
		}
		vectors[x] = data
	}
	return data
}

var vectors = map[float32]Mem{}

var float32s = map[float32]Mem{}

// signMask is the memory of the sign bit of a float32.
var signMask = sync.OnceValue(func() Mem { return ConstData("signMask", U32(1<<31)) })

// expConstants keeps what expParts needs.
func (b *block) expConstants() {
	b.constant("log2e", log2e)
	b.constant("ln2High", ln2High)
	b.constant("ln2Low", ln2Low)
	for i, c := range expFactors {
		b.constant(fmt.Sprint("factor", i), c)
	}
	b.constant("1", 1)
}

// expParts returns r, p and the exponent field of s with exp(z) = s*(1 + r + r*r*p), s a power of 2.
func (b *block) expParts(z VecVirtual) (r, p, field VecVirtual) {
	n, r, p := b.vector(), b.vector(), b.vector()
	VMULPS(b.data["log2e"], z, n)
	if b.masks {
		VRNDSCALEPS(Imm(roundToNearest), n, n)
	} else {
		VROUNDPS(Imm(roundToNearest), n, n)
	}
	VMOVAPS(z, r)
	VFNMADD231PS(b.data["ln2High"], n, r)
	VFNMADD231PS(b.data["ln2Low"], n, r)
	VMOVUPS(b.data["factor0"], p)
	for i := 1; i < len(expFactors); i++ {
		VFMADD213PS(b.data[fmt.Sprint("factor", i)], r, p)
	}
	field = b.vector()
	VCVTPS2DQ(n, field)
	VPSLLD(Imm(23), field, field)
	return r, p, field
}

func gaussians(s isa) epilogue {
	return epilogue{
		isa: s, name: "Gaussians",
		doc: []string{
			"",
			"\td := fma32(-2, dot, rowNorms[i]+colNorms[j])",
			"\tif d < 0 { d = 0 }",
			"\tg := exp32(float32(scale*d))",
			"",
			"scale is not positive.",
		},
		constants: func(b *block) {
			b.sqDistConstants()
			b.expConstants()
			b.parameter("scale")
			b.constant("lowest", expLowest)
		},
		apply: func(b *block, v VecVirtual) {
			z := b.vector()
			b.sqDist(v)
			VMULPS(b.keep["scale"], v, z)
			r, p, field := b.expParts(z)
			VFMADD213PS(b.data["1"], r, p)
			VFMADD213PS(b.data["1"], r, p)
			VPADDD(field, p, v)
			b.clearWhere(cmpLess, z, b.data["lowest"], v)
		},
	}
}

func sigmoids(s isa) epilogue {
	return epilogue{
		isa: s, name: "Sigmoids",
		doc: []string{
			"",
			"\tg := tanh32(fma32(scale, dot, offset))",
		},
		constants: func(b *block) {
			b.expConstants()
			b.parameter("scale")
			b.parameter("offset")
			b.register("10", tanhOne)
			b.constant("-2", -2)
			b.keep["sign"] = b.vector()
			VBROADCASTSS(signMask(), b.keep["sign"])
		},
		apply: func(b *block, v VecVirtual) {
			z, s, sign := b.vector(), b.vector(), b.vector()
			VFMADD213PS(b.keep["offset"], b.keep["scale"], v)
			b.and(b.keep["sign"], v, sign)
			b.andNot(b.keep["sign"], v, v)
			VMINPS(v, b.keep["10"], v) // a NaN second operand is the result
			VMULPS(b.data["-2"], v, z)
			q, p, field := b.expParts(z)
			square := b.vector()
			VMULPS(q, q, square)
			VFMADD231PS(square, p, q)
			VPADDD(b.data["1"], field, s) // 2^n
			VSUBPS(b.data["1"], s, v)
			VFMADD231PS(q, s, v) // exp(z) - 1
			VSUBPS(b.data["-2"], v, s)
			VDIVPS(s, v, v)
			b.andNot(b.keep["sign"], v, v)
			b.or(sign, v, v)
		},
	}
}

// and, or and andNot (of the first operand) work on bits; AVX-512F has them for integers only.
func (s isa) and(x, y, to VecVirtual) {
	if s.masks {
		VPANDD(x, y, to)
	} else {
		VANDPS(x, y, to)
	}
}

func (s isa) andNot(x, y, to VecVirtual) {
	if s.masks {
		VPANDND(y, x, to)
	} else {
		VANDNPS(y, x, to)
	}
}

func (s isa) or(x, y, to VecVirtual) {
	if s.masks {
		VPORD(x, y, to)
	} else {
		VORPS(x, y, to)
	}
}
