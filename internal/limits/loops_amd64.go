//go:build !purego

package limits

import (
	"github.com/gram-compute/gram/internal/limits/asm"
	"github.com/gram-compute/gram/kernelops"
)

// multiplyAdds: a step feeds 12 registers, two operations a lane.
func multiplyAdds() []MultiplyAdd {
	known := map[string]MultiplyAdd{
		"avx2":   {"avx2", asm.MultiplyAddAVX2, 12 * 8 * 2},
		"avx512": {"avx512", asm.MultiplyAddAVX512, 12 * 16 * 2},
	}
	var here []MultiplyAdd
	for _, set := range kernelops.All() {
		if m, ok := known[set.Name]; ok {
			here = append(here, m)
		}
	}
	return here
}

// multiplyBytes: a step feeds 12 registers, 4 products and as many sums in each of 16 lanes. There is no such loop for
// AVX-VNNI.
func multiplyBytes() MultiplyBytes {
	if best := kernelops.Best(); best.Name != "avx512" || !kernelops.HasBytes(best) {
		return MultiplyBytes{}
	}
	return MultiplyBytes{asm.MultiplyBytesAVX512, 12 * 16 * 4 * 2}
}

func widest() Bandwidth {
	switch kernelops.Best().Name {
	case "avx512":
		return Bandwidth{asm.ReadAVX512, asm.StoreAVX512, asm.StreamAVX512}
	case "avx2":
		return Bandwidth{asm.ReadAVX2, asm.StoreAVX2, asm.StreamAVX2}
	}
	return Bandwidth{}
}
