package kernelops

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// kernelOf finds the kernel whose measure op has.
func kernelOf(op pairOp) Kernel {
	m := op.measure
	switch m.kind {
	case polynomial:
		return Kernel{Kind: Polynomial, Scale: m.scale, Offset: m.offset, Degree: m.degree}
	case gaussian:
		return Kernel{Kind: RBF, Scale: -m.scale}
	case sigmoid:
		return Kernel{Kind: Sigmoid, Scale: m.scale, Offset: m.offset}
	}
	return Kernel{}
}

// TestSymmetricEqualsTheMatrix covers sizes on both sides of a tile and of its remainders.
func TestSymmetricEqualsTheMatrix(t *testing.T) {
	next := hardMatrices(22)["tie"]
	for _, n := range []int{0, 1, 7, mirrorSize, mirrorSize + 1, mirrorSize + 13, 2*mirrorSize + 24} {
		x, _ := guardedMatrix(n, 5, 1, 0, next)
		want := NewMatrix(n, n)
		Best().KernelMatrix(want, Kernel{Kind: RBF, Scale: 0.5}, x, x, &Workspace{})
		for _, s := range All() {
			dst, intact := guardedMatrix(n, n, 3, 1, func() float32 { return 7 })
			s.KernelMatrixSymmetric(dst, Kernel{Kind: RBF, Scale: 0.5}, x, &Workspace{Threads: 2})
			for i := range n {
				equalLoop32(t, fmt.Sprintf("%s, n = %d, row %d", s.Name, n, i), dst.Row(i), want.Row(i))
			}
			if !intact() {
				t.Fatalf("%s, n = %d: wrote beyond the result", s.Name, n)
			}
		}
	}
}

// TestKernelSums adds up the matrix row by row.
func TestKernelSums(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 0))
	next := hardMatrices(24)["normal"]
	for range 20 {
		x, _ := guardedMatrix(1+r.IntN(150), r.IntN(20), 1, 0, next)
		y, _ := guardedMatrix(1+r.IntN(220), x.Cols, 0, 2, next)
		n := 1 + r.IntN(9)
		groups, start := make([]int32, y.Rows), make([]float64, n*x.Rows)
		for j := range groups {
			groups[j] = int32(r.IntN(n))
		}
		for i := range start {
			start[i] = r.NormFloat64()
		}
		for _, op := range pairOps[3:] {
			values, want := NewMatrix(x.Rows, y.Rows), clone(start)
			Generic().KernelMatrix(values, kernelOf(op), x, y, &Workspace{})
			for j, g := range groups {
				for i := range x.Rows {
					want[i*n+int(g)] += float64(values.Row(i)[j])
				}
			}
			for _, s := range All() {
				got := clone(start)
				s.KernelSums(got, kernelOf(op), x, y, groups, &Workspace{Threads: 2})
				equalBits(t, s.Name+" "+op.name, got, want)
			}
		}
	}
}

var inf32 = float32(math.Inf(1))

func TestKernelValidate(t *testing.T) {
	for _, k := range []Kernel{
		{Kind: 9}, {Kind: RBF}, {Kind: RBF, Scale: -1}, {Kind: RBF, Scale: inf32}, {Kind: Polynomial, Scale: 1},
		{Kind: Polynomial, Scale: 1, Degree: maxDegree + 1}, {Kind: Sigmoid, Scale: 1, Offset: inf32},
		{Kind: Sigmoid, Scale: -inf32},
	} {
		if err := k.Validate(); !errors.Is(err, ErrKernel) {
			t.Errorf("%+v: %v, want ErrKernel", k, err)
		}
	}
	for _, op := range pairOps[3:] {
		if err := kernelOf(op).Validate(); err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
	}
}
