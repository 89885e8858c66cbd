package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// steps runs body while n >= size, and takes size from n each time.
func (s isa) steps(label string, n Register, size int, body func()) {
	Label(label)
	CMPQ(n, I32(size))
	JL(LabelRef(label + "_end"))
	Commentf("%d elements a step.", size)
	body()
	SUBQ(I32(size), n)
	JMP(LabelRef(label))
	Label(label + "_end")
}

// finish ends a function whose label done is jumped to.
func finish() {
	Label("done")
	VZEROUPPER()
	RET()
}

// half is the memory of the i-th half vector after the pointer base.
func (s isa) half(base Register, i int) Mem {
	return Mem{Base: base, Disp: i * s.bytes() / 2}
}

// tail32 returns a mask of the lowest n lanes of float32; for AVX2, a vector.
func (s isa) tail32(n Register) Register {
	if s.masks {
		return s.tailMask(n)
	}
	count := YMM()
	VMOVD(n.(GPVirtual).As32(), count.AsX())
	VPBROADCASTD(count.AsX(), count)
	VPCMPGTD(laneNumbers(), count, count)
	return count
}

// tail64 is tail32 for lanes of 64 bits.
func (s isa) tail64(n Register) Register {
	if s.masks {
		return s.tailMask(n)
	}
	count, numbers := YMM(), YMM()
	VMOVQ(n, count.AsX())
	VPBROADCASTQ(count.AsX(), count)
	VPMOVZXDQ(laneNumbers(), numbers)
	VPCMPGTQ(numbers, count, count)
	return count
}

// load loads a vector of float32, of which only the lanes of mask unless that is nil.
func (s isa) load(from Mem, mask Register, to VecVirtual) {
	if mask == nil {
		VMOVUPS(from, to)
		return
	}
	s.loadMasked(from, mask, to)
}

// loadMasked loads the lanes of mask and clears the others, whose memory is not touched.
func (s isa) loadMasked(from Mem, mask Register, to VecVirtual) {
	if s.masks {
		VMOVUPS_Z(from, mask, to)
		return
	}
	VMASKMOVPS(from, mask, to)
}

func (s isa) store(from VecVirtual, mask Register, to Mem) {
	if mask == nil {
		VMOVUPS(from, to)
		return
	}
	s.storeMasked(from, mask, to)
}

// storeMasked stores the lanes of mask and does not touch the memory of the others.
func (s isa) storeMasked(from VecVirtual, mask Register, to Mem) {
	if s.masks {
		VMOVUPS(from, mask, to)
		return
	}
	VMASKMOVPS(from, mask, to)
}

// absMask is the memory of all bits of a float32 but the sign.
var absMask = sync.OnceValue(func() Mem {
	return ConstData("absMask", U32(0x7fffffff))
})

// laneNumbers is the memory of the int32 from 0 to 31.
var laneNumbers = sync.OnceValue(func() Mem {
	m := GLOBL("laneNumbers", RODATA|NOPTR)
	for i := range sumLanes {
		DATA(4*i, U32(i))
	}
	return m
})
