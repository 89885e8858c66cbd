package knn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// densePoints are rows whose ids ascend, in the order of ties or, with a source of chance, in another.
func densePoints(r *rand.Rand, n, width, first int, value func(i, j int) float64) *points {
	p := &points{Rows: rows.New(rows.Dense, width)}
	for i := range n {
		for j := range width {
			p.Dense = append(p.Dense, float32(value(i, j)))
		}
		p.ids, p.N = append(p.ids, int64(first+i)), p.N+1
	}
	if r != nil {
		p.place = make([]int64, n)
		p.order = r.Perm(n)
		for at, i := range p.order {
			p.place[i] = int64(at)
		}
	}
	return p
}

// productRows are kinds of rows by name.
func productRows(r *rand.Rand) map[string]func(i, j int) float64 {
	return map[string]func(i, j int) float64{
		"normal":    func(_, _ int) float64 { return r.NormFloat64() },
		"ties":      func(_, _ int) float64 { return float64(r.IntN(2)) },
		"bytes":     func(_, _ int) float64 { return float64(r.IntN(256)) },
		"far":       func(_, _ int) float64 { return 1000 + r.NormFloat64() },
		"scales":    func(_, j int) float64 { return r.NormFloat64() * math.Pow(10, float64(j%9)) },
		"long rows": func(i, _ int) float64 { return r.NormFloat64() * math.Pow(10, float64(i%9)) },
		"zeros":     func(i, _ int) float64 { return r.NormFloat64() * float64(i%3) },
		"one far column": func(i, j int) float64 {
			if j == 3 {
				return 1e6 * float64(i%2)
			}
			return r.NormFloat64()
		},
	}
}

// TestProductsOnAllSets compares the lists of products and cosines of every set with those of the generic one, by all
// keys, where there are enough rows and queries that sets with 8 bits use them: in chunks, with ties by number and by
// id, and with the queries in the base.
func TestProductsOnAllSets(t *testing.T) {
	r := rand.New(rand.NewPCG(90, 0))
	for name, value := range productRows(r) {
		for run := range 4 {
			k, width := 1+r.IntN(9), 16+r.IntN(30)
			ordered := r
			if run%2 == 0 {
				ordered = nil
			}
			base := []*points{densePoints(ordered, 700+r.IntN(100), width, 0, value),
				densePoints(ordered, 600, width, 800, value)}
			queries := densePoints(nil, 130+r.IntN(300), width, 0, value)
			if run%4 < 2 {
				queries.Dense = slices.Clone(base[0].Dense[:queries.N*width])
			}
			for _, of := range []metric{innerProduct, cosine} {
				lists := func(ops *kernelops.Set) [][]neighbor {
					s := &searcher{ops: ops, of: of, queries: queries, own: run%4 < 2,
						found: (&lists{rule: rule{k: k}, of: of}).begin(queries.N)}
					for _, b := range base {
						if err := s.search(t.Context(), b); err != nil {
							t.Fatal(err)
						}
					}
					return s.found.rows
				}
				want := lists(kernelops.Generic())
				for _, ops := range kernelops.All() {
					for q, got := range lists(ops) {
						if !slices.Equal(got, want[q]) {
							t.Fatalf("%s, %s on %s, run %d, query %d: %v, want %v", ops.Name, of, name, run, q, got,
								want[q])
						}
					}
				}
			}
		}
	}
}

// TestRadiusOnAllSets compares the lists of all rows within a radius, which some rows are at, with those of the generic
// set, by all distances.
func TestRadiusOnAllSets(t *testing.T) {
	r := rand.New(rand.NewPCG(95, 0))
	for name, value := range productRows(r) {
		for run := range 2 {
			width := 16 + r.IntN(3)
			base := densePoints(nil, 1500, width, 0, value)
			queries := densePoints(nil, 420, width, 0, value) // enough for bytes where these pay most
			if run == 0 {
				queries.Dense = slices.Clone(base.Dense[:queries.N*width])
			}
			key := l2.key(base.Tile(7, 8, nil).Row(0), queries.Tile(9, 10, nil).Row(0), 0, 0)
			within := rule{radius: l2.distance(key) * (0.4 + 0.6*float64(run)), most: base.N}
			search := func(ops *kernelops.Set) [][]neighbor {
				s := &searcher{ops: ops, of: l2, queries: queries, own: run == 0,
					found: (&lists{rule: within, of: l2}).begin(queries.N)}
				if err := s.search(t.Context(), base); err != nil {
					t.Fatal(err)
				}
				s.found.sort()
				return s.found.rows
			}
			want := search(kernelops.Generic())
			for _, ops := range kernelops.All() {
				for q, got := range search(ops) {
					if !slices.Equal(got, want[q]) {
						t.Fatalf("%s on %s, run %d, query %d: %v, want %v", ops.Name, name, run, q, got, want[q])
					}
				}
			}
		}
	}
}

// BenchmarkProducts searches 20,000 x 128 for 1,000 queries, by rows of 8 bits and by float32 products.
func BenchmarkProducts(b *testing.B) {
	r := rand.New(rand.NewPCG(91, 0))
	value := func(_, _ int) float64 { return r.NormFloat64() }
	base, queries := densePoints(nil, 20_000, 128, 0, value), densePoints(nil, 1000, 128, 0, value)
	for _, of := range []metric{innerProduct, cosine} {
		for name, search := range map[string]func(s *searcher) error{
			"as it is": func(s *searcher) error { return s.search(b.Context(), base) },
			"float32": func(s *searcher) error {
				return s.tiles(b.Context(), base, rows.QueryRows, rows.BaseRows, s.dots)
			},
		} {
			b.Run(string(of)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					s := &searcher{ops: kernelops.Best(), of: of, queries: queries,
						found: (&lists{rule: rule{k: 10}, of: of}).begin(queries.N)}
					if err := search(s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
