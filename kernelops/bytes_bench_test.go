package kernelops

import (
	"fmt"
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
			for _, cols := range []int{64, 128, 784} {
				groups := cols / byteGroup
				a := randomTile(r, s.queries, groups, byteCallPanels, 0)
				for i := range a.terms {
					a.terms[i] = 1 << 28
				}
				clear(a.spreads)
				for i := range s.queries {
					a.limits[i], a.factors[i] = 0, 1
				}
				b.Run(fmt.Sprintf("%s/%d", name, cols), func(b *testing.B) {
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
		for _, s := range byteContenders() {
			b.Run(fmt.Sprintf("%s/%d", s.Name, cols), func(b *testing.B) {
				var ws Workspace
				for b.Loop() {
					s.Search(ids, dists, 10, x, y, &ws)
				}
			})
		}
	}
}

// BenchmarkByteRounds assigns rows to the centers of the fourth round of k-means, those of the third being known: by
// float32 and by each code for rows of 8 bits, rounded before.
func BenchmarkByteRounds(b *testing.B) {
	r := rand.New(rand.NewPCG(93, 0))
	for _, shape := range [][3]int{{30_000, 32, 256}, {20_000, 64, 100}} {
		x := NewMatrix(shape[0], shape[1])
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64())
		}
		origin, centers := meanOf(x), make([]float64, shape[2]*shape[1])
		for i, v := range x.Data[:len(centers)] {
			centers[i] = float64(v)
		}
		var ws Workspace
		last, sqDist := make([]int32, x.Rows), make([]float64, x.Rows)
		for range 3 {
			Best().Nearest(last, sqDist, x, Best().PackCenters(centers, origin), &ws)
			centers = lloyd(centers, last, x)
		}
		for _, s := range byteContenders() {
			b.Run(fmt.Sprintf("%s/%dx%d", s.Name, shape[1], shape[2]), func(b *testing.B) {
				packed, rows := s.PackCenters(centers, origin), NewByteRows(s, x, origin)
				index := slices.Clone(last)
				if rows != nil {
					rows.Nearest(index, sqDist, x, packed, 0, &ws)
				}
				for b.Loop() {
					if copy(index, last); rows == nil {
						s.Nearest(index, sqDist, x, packed, &ws)
						continue
					}
					rows.Nearest(index, sqDist, x, packed, 0, &ws)
				}
			})
		}
	}
}

// byteContenders are the sets without bytes, and with each code for them that is of their width.
func byteContenders() []*Set {
	var sets []*Set
	for _, s := range All() {
		if s.matrix == nil {
			continue
		}
		float := *s
		float.bytes, float.screenBytes, float.Name = nil, nil, s.Name+" in float32"
		sets = append(sets, &float)
		codes := byteSets()
		for _, name := range slices.Sorted(maps.Keys(codes)) {
			if name != "generic" && name != "emulated" && (name != "avx512") == (s.Name == "avx2") {
				eight := *s
				eight.bytes, eight.Name = codes[name], s.Name+" and bytes of "+name
				sets = append(sets, &eight)
			}
		}
	}
	return sets
}

// BenchmarkByteTrial is what a search takes beyond float32 where bytes do not help: the look at a sample. "of-%" is its
// share of what float32 takes for the fewest queries that have a trial, by the estimates that decide on one.
func BenchmarkByteTrial(b *testing.B) {
	for _, cols := range []int{16, 64, 128, 784} {
		for _, kind := range []byteKind{{}, {products: true}, {products: true, cosine: true}} {
			b.Run(fmt.Sprintf("%d/products=%t/cosine=%t", cols, kind.products, kind.cosine), func(b *testing.B) {
				r, s, y := rand.New(rand.NewPCG(71, 0)), Best(), NewMatrix(40_000, cols)
				hardForBytes(r)["a third is 0"](y)
				t, ws := byteTrial{x: y.RowRange(0, 400), queries: 400}, &Workspace{}
				for b.Loop() {
					if helps, _ := t.helps(s, y, kind, ws); helps {
						b.Fatal("bytes help")
					}
				}
				queries := 1
				for !BytesPay(y.Rows, cols, queries, kind.products) ||
					!kind.products && !distancesPay(y.Rows, cols, queries) {
					if queries++; queries > y.Rows {
						b.Skip("float32 is as fast for any number of queries: there is no trial")
					}
				}
				query := floatQuery + floatFlop*float64(y.Rows*cols)
				if kind.products {
					query += productQuery + productRow*float64(y.Rows)
				}
				each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(100*each/(query*float64(queries)), "of-%")
			})
		}
	}
}
