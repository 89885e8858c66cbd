package bench

import (
	"github.com/gram-compute/gram/internal/limits"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// matrix returns about normal numbers, the same on every machine: each is the sum of four 16-bit parts of a random
// word, centered and scaled by a power of two, so that every step is exact.
func matrix(m *limits.Memory, purpose string, rows, cols int) kernelops.Matrix {
	x := kernelops.Matrix{Data: limits.Allocate[float32](m, rows*cols), Rows: rows, Cols: cols, Stride: cols}
	key := philox.New(seed, "bench/"+purpose)
	for i := range x.Data {
		z := key.Uint64(0, uint64(i))
		sum := int32(z&0xFFFF + z>>16&0xFFFF + z>>32&0xFFFF + z>>48)
		x.Data[i] = float32(sum-131070) / (1 << 15)
	}
	return x
}

// zeros returns a matrix to write to.
func zeros(m *limits.Memory, rows, cols int) kernelops.Matrix {
	return kernelops.Matrix{Data: limits.Allocate[float32](m, rows*cols), Rows: rows, Cols: cols, Stride: cols}
}
