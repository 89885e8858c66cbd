//go:build !purego

package kernelops

import (
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
)

// byteSetsForTests are codes of no set, by name: that of 256 bits with its products encoded for AVX-512, which CPUs
// run that have no AVX-VNNI, and that of AVX-VNNI on an emulated CPU.
func byteSetsForTests() map[string]*byteSet {
	sets := map[string]*byteSet{}
	if cpuid.CPU.Supports(cpuid.AVX512VL, cpuid.AVX512VNNI, cpuid.AVX2, cpuid.FMA3) {
		sets["avx512vl"] = bytes256(asm.ByteTile6x64AVX512VL, asm.ByteTile1x64AVX512VL, asm.ByteNear6x16AVX512VL,
			asm.ByteMost6x16AVX512VL)
	}
	if e := emulated(); e != nil && cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		sets["emulated"] = e.bytes()
	}
	return sets
}

// TestBytesOfFeatures: which code for rows of 8 bits the sets have.
func TestBytesOfFeatures(t *testing.T) {
	const avx2, fma, bmi2, f512, vl = cpuid.AVX2, cpuid.FMA3, cpuid.BMI2, cpuid.AVX512F, cpuid.AVX512VL
	for _, c := range []struct {
		name           string
		features       []cpuid.FeatureID
		narrow, widest bool
	}{
		{"AVX2", []cpuid.FeatureID{avx2, fma}, false, false},
		{"AVX-VNNI", []cpuid.FeatureID{avx2, fma, cpuid.AVXVNNI}, true, false},
		{"AVX-512 without VNNI", []cpuid.FeatureID{avx2, fma, bmi2, f512, vl}, false, false},
		{"AVX512_VNNI", []cpuid.FeatureID{avx2, fma, bmi2, f512, vl, cpuid.AVX512VNNI}, false, true},
		{"both", []cpuid.FeatureID{avx2, fma, bmi2, f512, vl, cpuid.AVX512VNNI, cpuid.AVXVNNI}, true, true},
	} {
		for _, s := range runnable(cpuWith(c.features...)) {
			want := s.Name == "avx2" && c.narrow || s.Name == "avx512" && c.widest
			if HasBytes(s) != want {
				t.Errorf("%s: set %s has bytes: %t, want %t", c.name, s.Name, HasBytes(s), want)
			}
			if want && (s.bytes.assign.wide.width == 64) != (s.Name == "avx512") {
				t.Errorf("%s: set %s has the tiles of another", c.name, s.Name)
			}
		}
	}
}
