//go:build !purego

package main

import (
	"github.com/gram-compute/gram/benchmarks/kernels/asm"
	"github.com/gram-compute/gram/kernelops"
)

// loops returns those that this CPU runs, as kernelops judges it. A step feeds 12
// registers, two operations a lane.
func loops() []multiplyAdd {
	known := map[string]multiplyAdd{
		"avx2":   {"avx2", asm.MultiplyAddAVX2, 12 * 8 * 2},
		"avx512": {"avx512", asm.MultiplyAddAVX512, 12 * 16 * 2},
	}
	var here []multiplyAdd
	for _, set := range kernelops.All() {
		if p, ok := known[set.Name]; ok {
			here = append(here, p)
		}
	}
	return here
}

// readLoop returns the widest reading loop of this CPU, nil if it has none.
func readLoop() func(p []uint64, words *[8]uint64) {
	switch kernelops.Best().Name {
	case "avx512":
		return asm.ReadAVX512
	case "avx2":
		return asm.ReadAVX2
	}
	return nil
}

// byteLoop returns the loop of products of bytes, nil if this CPU has no instruction for them. A step feeds 12
// registers, 4 products and as many sums in each of 16 lanes.
func byteLoop() func(n int, x, y uint32, sums *[16]int32) {
	if !kernelops.HasBytes(kernelops.Best()) {
		return nil
	}
	return asm.MultiplyBytesAVX512
}
