package knn

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/kernelops"
)

// A row whose key is just the worst that can enter passes its filter, whatever the kernel's
// rounding made of it; and a filter that let everything pass would be none.
func TestFiltersKeepWhatIsAtTheBound(t *testing.T) {
	dropped := map[metric]int{}
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{1, 3, 33, 64, 300}).Draw(rt, "width")
		scale := rapid.SampledFrom([]float32{1, 1e-20, 1e-38, 1e15}).Draw(rt, "scale")
		offset := rapid.SampledFrom([]float32{0, 1, 1000}).Draw(rt, "offset")
		y := kernelops.NewMatrix(8, width)
		x := kernelops.NewMatrix(1, width)
		value := rapid.Float32Range(-1, 1)
		for _, m := range []kernelops.Matrix{x, y} {
			for i := range m.Data {
				m.Data[i] = (value.Draw(rt, "value") + offset) * scale
			}
		}
		f, ops := newFilter(width), rapid.SampledFrom(kernelops.All()).Draw(rt, "ops")
		products, differences := kernelops.NewMatrix(1, y.Rows), make([]float32, y.Rows)
		ops.Dots(products, x, y, &kernelops.Workspace{})
		for _, of := range []metric{innerProduct, cosine, l1, linf} {
			if of == l1 {
				ops.L1Rows(differences, y, x.Row(0))
			} else if of == linf {
				ops.LInfRows(differences, y, x.Row(0))
			}
			xNorm := norm64(x.Row(0))
			for j := range y.Rows {
				yNorm := norm64(y.Row(j))
				key := of.key(x.Row(0), y.Row(j), xNorm, yNorm)
				drops := func(worst float64) bool {
					if of == l1 || of == linf {
						return f.beyond(differences[j], worst)
					}
					return f.out(products.Data[j], f.need(of, worst, xNorm, yNorm), xNorm, yNorm)
				}
				if drops(key) {
					rt.Fatalf("%s of width %d: a row is dropped at its own distance %v", of, width, key)
				}
				if lower := key - 0.01*(1+xNorm*yNorm+xNorm*xNorm+yNorm*yNorm+xNorm+yNorm)*float64(width); drops(
					lower) {
					dropped[of]++
				}
			}
		}
	})
	for _, of := range []metric{innerProduct, cosine, l1, linf} {
		if dropped[of] == 0 {
			t.Errorf("%s: nothing was ever dropped", of)
		}
	}
}
