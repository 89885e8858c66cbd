package kernelops

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkVectors runs each operation on rows that stay in the second-level cache, and counts
// the bytes of the rows.
func BenchmarkVectors(b *testing.B) {
	for _, cols := range []int{5, 32, 128, 784} {
		rows := 1 << 16 / cols
		o := newOperands(rand.New(rand.NewPCG(1, 1)), rows, cols, 0, 0, hardData32(1)["normal"])
		for _, op := range vectorOps32 {
			for _, s := range All() {
				b.Run(fmt.Sprintf("%s/%d/%s", op.name, cols, s.Name), func(b *testing.B) {
					b.SetBytes(int64(4 * rows * cols))
					if op.name == "Axpy" || op.name == "Axpby" {
						b.SetBytes(int64(4 * cols))
					}
					o.f, o.g = 1e-9, 1-0x1p-20
					clear(o.row)
					for b.Loop() {
						op.run(s, o)
					}
				})
			}
		}
	}
}
