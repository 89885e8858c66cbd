package knn

import (
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
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
