package features

import (
	"context"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// One leaf of 62,500 x 32 standard normal numbers in blocks in memory, and one of as many rows of 32 sparse entries in
// 10,000 columns, to be standardized.
func BenchmarkMap(b *testing.B) {
	const n, width = 62_500, 32
	r := rand.New(rand.NewPCG(1, 1))
	var dense, sparse []*dataset.Block
	for from := 0; from < n; from += 1000 {
		d := &dataset.Block{Dense: dataset.Dense{Width: width}}
		s := &dataset.Block{Sparse: dataset.Sparse{Width: 10_000, Indptr: []int{0}}}
		for i := range min(1000, n-from) {
			d.IDs = append(d.IDs, dataset.Identity{Object: "rows", Offset: int64(from + i)})
			for j := range width {
				d.Dense.Values = append(d.Dense.Values, float32(r.NormFloat64()))
				s.Sparse.Indices = append(s.Sparse.Indices, int32(300*j+r.IntN(300)))
				s.Sparse.Values = append(s.Sparse.Values, float32(r.ExpFloat64()))
			}
			s.Sparse.Indptr = append(s.Sparse.Indptr, len(s.Sparse.Values))
		}
		s.IDs = d.IDs
		dense, sparse = append(dense, d), append(sparse, s)
	}
	for name, c := range map[string]struct {
		scale  string
		blocks []*dataset.Block
	}{"dense": {ScaleNone, dense}, "sparse": {ScaleStandard, sparse}} {
		phase, err := New(scaleParams(c.scale), protocol.JobSpec{}, "next")
		if err != nil {
			b.Fatal(err)
		}
		leaf := jobs.Leaf{Blocks: func(context.Context) iter.Seq2[*dataset.Block, error] {
			return func(yield func(*dataset.Block, error) bool) {
				for _, block := range c.blocks {
					if !yield(block, nil) {
						return
					}
				}
			}
		}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := phase.Map(b.Context(), nil, leaf, nil, kernelops.Best()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*width), "ns/value")
		})
	}
}
