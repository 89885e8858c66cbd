package kernelops

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkByteTiles multiplies bytes that stay in the caches, and finds nothing. Operations are two for each product.
func BenchmarkByteTiles(b *testing.B) {
	r := rand.New(rand.NewPCG(91, 0))
	sets := byteSets()
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		if s := sets[name]; name != "generic" && name != "emulated" {
			for _, groups := range []int{16, 32, 196} {
				a := randomTile(r, s.queries, groups, byteCallPanels, 0)
				for i := range a.terms {
					a.terms[i] = 1 << 28
				}
				clear(a.spreads)
				for i := range s.queries {
					a.limits[i], a.factors[i] = 0, 1
				}
				b.Run(name+"/"+map[int]string{16: "64", 32: "128", 196: "784"}[groups], func(b *testing.B) {
					for b.Loop() {
						if s.tile(a.hits, a.dots, a.x, a.y, a.terms, a.factors, a.limits, a.starts, a.spreads, groups,
							byteCallPanels) != 0 {
							b.Fatal("hits")
						}
					}
					products := float64(b.N) * float64(s.queries*byteCallPanels*byteWidth*groups*byteGroup)
					b.ReportMetric(2*products/b.Elapsed().Seconds()/1e9, "GOP/s")
				})
			}
		}
	}
}

// BenchmarkByteSearch finds the 10 nearest of 20,000 normal rows for 500 queries, packing included: by float32 and by
// each code for rows of 8 bits.
func BenchmarkByteSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(92, 0))
	for _, cols := range []int{64, 128, 784} {
		x, y := NewMatrix(500, cols), NewMatrix(20_000, cols)
		for _, m := range []Matrix{x, y} {
			for i := range m.Data {
				m.Data[i] = float32(r.NormFloat64())
			}
		}
		ids, dists := make([]int, x.Rows*10), make([]float64, x.Rows*10)
		var sets []*Set
		for _, s := range All() {
			if s.matrix == nil {
				continue
			}
			float := *s
			float.bytes, float.Name = nil, s.Name+" in float32"
			sets = append(sets, &float)
			for name, bytes := range byteSets() {
				if name != "generic" && name != "emulated" && (name != "avx512") == (s.Name == "avx2") {
					eight := *s
					eight.bytes, eight.Name = bytes, s.Name+" and bytes of "+name
					sets = append(sets, &eight)
				}
			}
		}
		for _, s := range sets {
			b.Run(s.Name+"/"+map[int]string{64: "64", 128: "128", 784: "784"}[cols], func(b *testing.B) {
				var ws Workspace
				for b.Loop() {
					s.Search(ids, dists, 10, x, y, &ws)
				}
			})
		}
	}
}
