package main

import (
	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/internal/limits"
	"github.com/gram-compute/gram/kernelops"
)

// normals returns n about normal numbers.
func (e env) normals(stream uint64, n int) []float32 {
	x := limits.Allocate[float32](e.memory, n)
	peers.Normals(x, e.seed, stream)
	return x
}

// points returns a matrix of about normal numbers.
func (e env) points(stream uint64, rows, cols int) kernelops.Matrix {
	return kernelops.Matrix{Data: e.normals(stream, rows*cols), Rows: rows, Cols: cols, Stride: cols}
}

// matrix returns one of zeros.
func (e env) matrix(rows, cols int) kernelops.Matrix {
	return kernelops.Matrix{Data: limits.Allocate[float32](e.memory, rows*cols), Rows: rows, Cols: cols, Stride: cols}
}

// columns returns ascending column numbers, filled a row: one in each of as many equal strips.
func (e env) columns(stream uint64, rows, filled, width int) []int32 {
	return peers.Columns(e.seed, stream, rows, filled, width)
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
