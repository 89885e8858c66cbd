package main

import "github.com/gram-compute/gram/kernelops"

// word returns the i-th word of a stream: SplitMix64 at a counter, so that the peers'
// process, in another language, makes the same data from a seed (benchmarks/peers/data.py).
func word(seed, stream, i uint64) uint64 {
	const golden, first, second = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
	z := seed*first + stream*second + (i+1)*golden
	z = (z ^ z>>30) * first
	z = (z ^ z>>27) * second
	return z ^ z>>31
}

// normals returns n about normal numbers, variance 4/3: the sum of a word's four 16-bit
// parts, centred and scaled by a power of two. Every step is exact.
func (e env) normals(stream uint64, n int) []float32 {
	x := allocate[float32](e.memory, n)
	for i := range x {
		z := word(e.seed, stream, uint64(i))
		sum := int32(z&0xFFFF + z>>16&0xFFFF + z>>32&0xFFFF + z>>48)
		x[i] = float32(sum-131070) / (1 << 15)
	}
	return x
}

// points returns a matrix of about normal numbers.
func (e env) points(stream uint64, rows, cols int) kernelops.Matrix {
	return kernelops.Matrix{Data: e.normals(stream, rows*cols), Rows: rows, Cols: cols, Stride: cols}
}

// matrix returns one of zeros.
func (e env) matrix(rows, cols int) kernelops.Matrix {
	return kernelops.Matrix{Data: allocate[float32](e.memory, rows*cols), Rows: rows, Cols: cols, Stride: cols}
}

// columns returns ascending column numbers, filled a row: one in each of as many equal strips.
func (e env) columns(stream uint64, rows, filled, width int) []int32 {
	strip := width / filled
	at := make([]int32, rows*filled)
	for i := range at {
		within := word(e.seed, stream, uint64(i)) >> 32 * uint64(strip) >> 32
		at[i] = int32(within) + int32(i%filled*strip)
	}
	return at
}

// total is the sum of x, squares that of its squares, in float64: what contenders must agree on.
func total(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

func squares(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}
