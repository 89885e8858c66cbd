package kernelops

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkKept searches a base for 40 calls of 256 queries: as it is, and kept.
func BenchmarkKept(b *testing.B) {
	r := rand.New(rand.NewPCG(96, 0))
	const k, rows = 5, 256
	for _, size := range [][2]int{{20_000, 64}, {60_000, 128}} {
		y, x := NewMatrix(size[0], size[1]), NewMatrix(rows, size[1])
		for _, m := range []Matrix{x, y} {
			for i := range m.Data {
				m.Data[i] = float32(r.NormFloat64())
			}
		}
		ids, dists := make([]int, k*rows), make([]float64, k*rows)
		s, ws := Best(), &Workspace{}
		b.Run(fmt.Sprintf("%dx%d/each call", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				for range 40 {
					s.Search(ids, dists, k, x, y, ws)
				}
			}
		})
		b.Run(fmt.Sprintf("%dx%d/kept", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				var base Base
				for range 40 {
					base.Keep(s, y, x, ws)
					base.Search(ids, dists, k, x, nil, ws)
				}
			}
		})
	}
}
