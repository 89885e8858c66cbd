//go:build !purego

package decimal

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
)

// Fastest returns the Read of this CPU, or nil where it has none.
func Fastest() Read {
	if !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VBMI, cpuid.AVX512VBMI2,
		cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT) {
		return nil
	}
	return asm.DecimalsAVX512
}
