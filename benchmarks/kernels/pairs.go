package main

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/gram-compute/gram/kernelops"
)

// pairs is a workload over all pairs of m rows of x and n rows of y. The rate counts
// the multiplications and additions of the inner products only.
func pairs(operation, title string, m, n, d int) workload {
	return workload{
		id:     workloadID(operation, m, n, d),
		title:  fmt.Sprintf("%s, %d x %d, d = %d", title, m, n, d),
		unit:   gflops,
		amount: 2 * float64(m) * float64(n) * float64(d),
		limits: arithmetic,
	}
}

// operation computes a result for every pair.
type operation func(s *kernelops.Set, dst, x, y kernelops.Matrix, ws *kernelops.Workspace)

// allPairs are the contenders of our sets, checked by checksum.
func allPairs(e env, op operation, dst, x, y kernelops.Matrix, checksum func([]float32) float64) []contender {
	return each(e, func(s *kernelops.Set, ws *kernelops.Workspace) (func(), func() float64) {
		return func() { op(s, dst, x, y, ws) }, func() float64 { return checksum(dst.Data) }
	})
}

// products is X·Yᵀ.
func products(m, n, d int) workload {
	w := pairs("xyt", "X·Yᵀ", m, n, d)
	w.entrant = func(e env) []contender {
		x, y, dst := e.points(0, m, d), e.points(1, n, d), e.matrix(m, n)
		all := allPairs(e, (*kernelops.Set).Dots, dst, x, y, squares)
		if d == 128 && e.threads == 1 { // a tenth of the others' speed: one dimension is enough
			all = append(all, local("gonum", func() { gonumProducts(dst, x, y) },
				func() float64 { return squares(dst.Data) }))
		}
		return all
	}
	return w
}

func gonumProducts(dst, x, y kernelops.Matrix) {
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(x), general(y), 0, general(dst))
}

func general(m kernelops.Matrix) blas32.General {
	return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

// genericProducts is X·Yᵀ by the generic set alone, smaller: it is the specification, not
// the way to compute.
func genericProducts(m, n, d int) workload {
	w := pairs("generic", "X·Yᵀ by the exact generic set", m, n, d)
	w.limits, w.serial = nothing, true
	w.entrant = func(e env) []contender {
		e.sets = []*kernelops.Set{kernelops.Generic()}
		return allPairs(e, (*kernelops.Set).Dots, e.matrix(m, n), e.points(0, m, d), e.points(1, n, d), squares)
	}
	return w
}

// sqDists is the matrix of squared Euclidean distances.
func sqDists(m, n, d int) workload {
	w := pairs("sqdist", "squared distances", m, n, d)
	w.short = true
	w.entrant = func(e env) []contender {
		return allPairs(e, (*kernelops.Set).SqDists, e.matrix(m, n), e.points(0, m, d), e.points(1, n, d), total)
	}
	return w
}

// rbf is the matrix of exp(-|x-y|^2 / d).
func rbf(m, n, d int) workload {
	w := pairs("rbf", "RBF matrix", m, n, d)
	w.entrant = kernelMatrix(m, n, d, kernelops.Kernel{Kind: kernelops.RBF, Scale: 1 / float32(d)})
	return w
}

// polynomial is the matrix of (x·y/d + 1)^3.
func polynomial(m, n, d int) workload {
	w := pairs("polynomial", "polynomial matrix, degree 3", m, n, d)
	w.entrant = kernelMatrix(m, n, d,
		kernelops.Kernel{Kind: kernelops.Polynomial, Scale: 1 / float32(d), Offset: 1, Degree: 3})
	return w
}

func kernelMatrix(m, n, d int, k kernelops.Kernel) func(env) []contender {
	return func(e env) []contender {
		op := func(s *kernelops.Set, dst, x, y kernelops.Matrix, ws *kernelops.Workspace) {
			s.KernelMatrix(dst, k, x, y, ws)
		}
		return allPairs(e, op, e.matrix(m, n), e.points(0, m, d), e.points(1, n, d), total)
	}
}

// symmetricRBF is the matrix of rbf of n rows and themselves. The rate counts the half that
// must be computed.
func symmetricRBF(n, d int) workload {
	w := pairs("rbfsymmetric", "RBF matrix of one set", n, n, d)
	w.id, w.amount = workloadID("rbfsymmetric", n, d), w.amount/2
	w.short, w.serial = true, true
	k := kernelops.Kernel{Kind: kernelops.RBF, Scale: 1 / float32(d)}
	w.entrant = func(e env) []contender {
		x, dst := e.points(0, n, d), e.matrix(n, n)
		return each(e, func(s *kernelops.Set, ws *kernelops.Workspace) (func(), func() float64) {
			return func() { s.KernelMatrixSymmetric(dst, k, x, ws) }, func() float64 { return total(dst.Data) }
		})
	}
	return w
}

// projection takes n rows of d dimensions to cols by a Gaussian matrix made from a seed, which
// is part of the work.
func projection(n, d, cols int) workload {
	w := pairs("projection", "", n, cols, d)
	w.title = fmt.Sprintf("random projection, %d x %d to %d", n, d, cols)
	w.short, w.serial = true, true
	w.entrant = func(e env) []contender {
		x, dst := e.points(0, n, d), e.matrix(n, cols)
		p := kernelops.NewProjection(e.seed, "benchmark", cols)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			return func() { s.Project(p, dst, x, 0) }, func() float64 { return squares(dst.Data) }
		})
	}
	return w
}
