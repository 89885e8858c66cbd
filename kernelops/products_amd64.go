//go:build !purego

package kernelops

import "github.com/gram-compute/gram/asm"

func productAVX2() productTile {
	return productTile{rows: 6, columns: 8, add: func(dst, x, y []float64, dim int) {
		asm.Products6x8AVX2(&dst[0], &x[0], &y[0], dim)
	}}
}

func productAVX512() productTile {
	return productTile{rows: 8, columns: 24, add: func(dst, x, y []float64, dim int) {
		asm.Products8x24AVX512(&dst[0], &x[0], &y[0], dim)
	}}
}

// expsAVX2 returns how many elements it took: whole vectors.
func expsAVX2(x []float64) int { return expsOf(x, 4, asm.ExpsAVX2) }

func expsAVX512(x []float64) int { return expsOf(x, 8, asm.ExpsAVX512) }

func expsOf(x []float64, lanes int, exps func(x *float64, vectors int)) int {
	if n := len(x) / lanes; n > 0 {
		exps(&x[0], n)
		return n * lanes
	}
	return 0
}
