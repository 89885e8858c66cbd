//go:build !purego

package kernelops

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
	"github.com/gram-compute/gram/kernelops/decimal"
)

// avx2 returns the 256-bit set, or nil. cpuid reports AVX2 only where the
// operating system saves the ymm registers.
func avx2(has supports) *Set {
	if !has(cpuid.AVX2, cpuid.FMA3) {
		return nil
	}
	s := Generic()
	s.Name = "avx2"
	s.addScaled = asm.AddScaledAVX2
	s.add = asm.AddAVX2
	s.matrix = matrixAVX2
	s.bytes = bytesAVX2(has)
	s.sqDistEach = asm.SqDistEachAVX2
	s.vectorOps = vectorAVX2()
	s.oneStream = has(cpuid.SSE4A) // AMD's alone
	s.Mixed = mixedAVX2()
	return s
}

// avx512 returns the 512-bit set, or nil. cpuid reports AVX512F only where the
// operating system saves the zmm and mask registers (XCR0, bits 5 to 7). The set needs no other
// part of AVX-512: package asm's TestInstructionSets holds its instructions to that.
func avx512(has supports) *Set {
	if !has(cpuid.AVX512F, cpuid.AVX2, cpuid.FMA3, cpuid.BMI2) {
		return nil
	}
	s := Generic()
	s.Name = "avx512"
	s.addScaled = asm.AddScaledAVX512
	s.add = asm.AddAVX512
	s.matrix = matrixAVX512
	s.bytes = bytesAVX512(has)
	s.sqDistEach = asm.SqDistEachAVX512
	s.screen = asm.ScreenAVX512
	if has(cpuid.AVX512VNNI) {
		s.screenBytes = asm.ScreenBytesAVX512
	}
	s.vectorOps = vectorAVX512(has)
	s.oneStream = has(cpuid.SSE4A)
	s.Decimals = decimal.Fastest()
	s.Mixed = mixedAVX512()
	return s
}
