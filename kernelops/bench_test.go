package kernelops

import (
	"fmt"
	"testing"
)

func BenchmarkRows(b *testing.B) {
	for _, op := range rowOps {
		for _, n := range []int{5, 20, 45, 1024, callElements, 1 << 20} {
			for _, s := range All() {
				b.Run(fmt.Sprintf("%s/%d/%s", op.name, n, s.Name), func(b *testing.B) {
					dst, x := make([]float64, n), make([]float64, n)
					for i := range x {
						x[i] = 1e-9
					}
					b.SetBytes(int64(16 * n))
					for b.Loop() {
						op.run(s, dst, x, 1)
					}
				})
			}
		}
	}
}
