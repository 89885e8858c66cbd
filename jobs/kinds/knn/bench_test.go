package knn

import (
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// The search of a whole job in memory, beside the kernel alone: 20,000 x 784 for 1,000 queries.
func BenchmarkSearch(b *testing.B) {
	rows := cloud(21_000, 784)
	base, queries := rows[:20_000], rows[20_000:]
	b.Run("job", func(b *testing.B) {
		j := job{params: `{"k":3}`, base: jobstest.DenseRecords(base), queries: jobstest.DenseRecords(queries),
			shards: 1, block: 1000}
		for b.Loop() {
			j.mustRun(b)
		}
	})
	b.Run("kernel", func(b *testing.B) {
		x, y := kernelops.NewMatrix(len(queries), 784), kernelops.NewMatrix(len(base), 784)
		for i := range queries {
			copy(x.Row(i), queries[i])
		}
		for i := range base {
			copy(y.Row(i), base[i])
		}
		ids, dists := make([]int, 3*x.Rows), make([]float64, 3*x.Rows)
		for b.Loop() {
			kernelops.Best().Search(ids, dists, 3, x, y, &kernelops.Workspace{})
		}
	})
	for _, of := range []metric{cosine, innerProduct, l1, linf} {
		b.Run(string(of), func(b *testing.B) {
			j := job{params: `{"k":3,"metric":"` + string(of) + `"}`, base: jobstest.DenseRecords(base),
				queries: jobstest.DenseRecords(queries[:100]), shards: 1, block: 1000}
			for b.Loop() {
				j.mustRun(b)
			}
		})
	}
}

// The search of sparse rows in memory: 300 of 3,000 rows of width 20,000, with 11,000 entries in all.
func BenchmarkSparse(b *testing.B) {
	const width = 20_000
	draw := func(first, n int) *points {
		p := &points{Rows: rows.New(rows.Sparse, width)}
		for i := first; i < first+n; i++ {
			for e := range i%6 + 1 {
				p.Sparse.Indices = append(p.Sparse.Indices, int32(e*(width/8)+i*7919%(width/8)))
				p.Sparse.Values = append(p.Sparse.Values, float32((i+e)%5+1))
			}
			p.Sparse.Indptr = append(p.Sparse.Indptr, len(p.Sparse.Values))
			p.ids, p.N = append(p.ids, int64(i)), p.N+1
		}
		return p
	}
	base, queries := draw(0, 3000), draw(3000, 300)
	for _, of := range []metric{cosine, innerProduct, l2, l1, linf} {
		b.Run(string(of), func(b *testing.B) {
			for b.Loop() {
				s := &searcher{ops: kernelops.Best(), of: of, queries: queries,
					found: (&lists{rule: rule{k: 10}, of: of}).begin(queries.N)}
				if err := s.search(b.Context(), base); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
