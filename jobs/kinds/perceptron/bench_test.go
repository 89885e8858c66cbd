package perceptron

import (
	"testing"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// One epoch of a Learner over rows in memory, without a job around it.
func BenchmarkLearn(b *testing.B) {
	const rows, entries, width, dim = 20_000, 110, 100_000, 784
	key := philox.New(1, "bench")
	index, values := make([]int32, rows*entries), make([]float32, rows*dim)
	for i := range index {
		index[i] = int32(key.Uint64(uint64(i), 0) % width)
	}
	for i := range values {
		values[i] = float32(key.Float64(uint64(i), 1) - 0.5)
	}
	for _, c := range []struct {
		name   string
		setup  Setup
		stride int
	}{
		{"sparse 2", Setup{Classes: 2, Width: width, Sparse: true}, entries},
		{"sparse 20", Setup{Rule: ArgMax, Classes: 20, Width: width, Sparse: true}, entries},
		{"dense 2", Setup{Classes: 2, Width: dim}, dim},
		{"dense 10", Setup{Rule: ArgMax, Classes: 10, Width: dim}, dim},
	} {
		for _, form := range []Form{Plain, Averaged} {
			c.setup.Form, c.setup.Bias = form, true
			b.Run(c.name+"/"+form.String(), func(b *testing.B) {
				for b.Loop() {
					l := NewLearner(c.setup, kernelops.Best())
					for i := range rows {
						x := Row{Values: values[i*c.stride : (i+1)*c.stride]}
						if c.setup.Sparse {
							x.Index = index[i*entries : (i+1)*entries]
						}
						l.Learn(x, i%c.setup.Classes/(1+i/7%2), 1)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/record")
			})
		}
	}
}
