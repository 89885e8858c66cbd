//go:build !purego

package kernelops

import (
	"reflect"
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
)

// cpuWith answers for a CPU that has these features and no others.
func cpuWith(features ...cpuid.FeatureID) supports {
	return func(asked ...cpuid.FeatureID) bool {
		return !slices.ContainsFunc(asked, func(f cpuid.FeatureID) bool { return !slices.Contains(features, f) })
	}
}

// TestSetsOfFeatures names the sets of machines other than this one.
func TestSetsOfFeatures(t *testing.T) {
	const avx2, fma, bmi2, f512 = cpuid.AVX2, cpuid.FMA3, cpuid.BMI2, cpuid.AVX512F
	for _, c := range []struct {
		name     string
		features []cpuid.FeatureID
		want     []string
	}{
		{"nothing", nil, []string{"generic"}},
		{"AVX and FMA, no AVX2", []cpuid.FeatureID{cpuid.AVX, fma, bmi2}, []string{"generic"}},
		{"AVX2 without FMA", []cpuid.FeatureID{cpuid.AVX, avx2, bmi2}, []string{"generic"}},
		{"AVX2 and FMA", []cpuid.FeatureID{avx2, fma}, []string{"generic", "avx2"}},
		// What cpuid leaves of a CPU with AVX-512 where the operating system saves the ymm registers only:
		// it drops every AVX512 feature. That cpuid does so is its promise, not tested here.
		{"no zmm state", []cpuid.FeatureID{cpuid.AVX, avx2, fma, bmi2}, []string{"generic", "avx2"}},
		// Nor the ymm registers: FMA3 and BMI2 remain, which do not depend on them.
		{"no ymm state", []cpuid.FeatureID{fma, bmi2}, []string{"generic"}},
		{"AVX512F alone", []cpuid.FeatureID{f512}, []string{"generic"}},
		{"AVX512F without BMI2", []cpuid.FeatureID{avx2, fma, f512}, []string{"generic", "avx2"}},
		{"AVX512F without FMA", []cpuid.FeatureID{avx2, bmi2, f512}, []string{"generic"}},
		{"AVX512F without AVX2", []cpuid.FeatureID{fma, bmi2, f512}, []string{"generic"}},
		{"parts of AVX-512 without F",
			[]cpuid.FeatureID{avx2, fma, bmi2, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VPOPCNTDQ},
			[]string{"generic", "avx2"}},
		{"AVX512F and what it needs", []cpuid.FeatureID{avx2, fma, bmi2, f512}, []string{"generic", "avx2", "avx512"}},
	} {
		var got []string
		for _, s := range runnable(cpuWith(c.features...)) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestHammingOfFeatures demands that bits are counted by VPOPCNTQ only where the CPU has it.
func TestHammingOfFeatures(t *testing.T) {
	base := []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.BMI2, cpuid.AVX512F}
	for _, c := range []struct {
		name string
		has  supports
		want func([]int, []uint64, int, []uint64)
	}{
		{"AVX512F only", cpuWith(base...), asm.HammingRowsAVX2},
		{"BITALG, another one", cpuWith(append(slices.Clip(base), cpuid.AVX512BITALG)...), asm.HammingRowsAVX2},
		{"VPOPCNTDQ", cpuWith(append(slices.Clip(base), cpuid.AVX512VPOPCNTDQ)...), asm.HammingRowsAVX512},
	} {
		got := avx512(c.has).hammingRows
		if reflect.ValueOf(got).Pointer() != reflect.ValueOf(c.want).Pointer() {
			t.Errorf("%s: the wrong kernel", c.name)
		}
	}
}
