package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// BenchmarkMatrix compares a tile of kernelops with one of rows that are centered and whose errors are proved.
func BenchmarkMatrix(b *testing.B) {
	for _, c := range []struct {
		name          string
		n, width      int
		offset, gamma float64
	}{
		{"standard 784", 1024, 784, 0, 1. / 784}, {"offset 784", 1024, 784, 3, 1. / 784},
		{"standard 20", 1024, 20, 0, 1. / 20}, {"offset 20", 1024, 20, 3, 1. / 20}, {"unproved 20", 1024, 20, 3, 100},
	} {
		draw := rand.New(rand.NewPCG(1, 2))
		x := kernelops.NewMatrix(c.n, c.width)
		space := &features.Space{Width: c.width, Mean: make([]float64, c.width), Variance: make([]float64, c.width)}
		for i := range x.Data {
			x.Data[i] = float32(c.offset + draw.NormFloat64())
		}
		for j := range c.width {
			space.Mean[j], space.Variance[j] = c.offset, 1
		}
		k := kernelops.Kernel{Kind: kernelops.RBF, Scale: float32(c.gamma)}
		f, dst := kernels.NewFunction(k, space), kernelops.NewMatrix(c.n, c.n)
		b.Run(c.name+"/products", func(b *testing.B) {
			var ws kernelops.Workspace
			for b.Loop() {
				kernelops.Best().KernelMatrix(dst, k, x, x, &ws)
			}
		})
		b.Run(c.name+"/proved", func(b *testing.B) {
			e, p := kernels.Evaluator{Ops: kernelops.Best()}, kernels.Points{}
			for b.Loop() {
				p.Set(f, e.Ops, x)
				if err := e.Matrix(f, dst, &p, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
