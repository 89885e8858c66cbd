package main

import (
	"fmt"
	"github.com/gram-compute/gram/internal/limits"

	"github.com/gram-compute/gram/kernelops"
)

// rows is a workload that reads n rows of d float32 from memory in turn, as a
// perceptron does. The rate counts those bytes alone.
func rows(operation, title string, n, d int) workload {
	return workload{
		id:     workloadID(operation, n, d),
		title:  fmt.Sprintf("%s, %d x %d", title, n, d),
		unit:   gigabyte,
		amount: 4 * float64(n) * float64(d),
		limits: bandwidth,
		serial: true,
	}
}

// dotOfRows is the product of each row with one vector.
func dotOfRows(n, d int) workload {
	w := rows("dotrows", "dot of each row", n, d)
	w.entrant = func(e env) []contender {
		x, y := e.points(0, n, d), e.normals(1, d)
		dst := limits.Allocate[float32](e.memory, n)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			return func() { s.DotRows(dst, x, y) }, func() float64 { return squares(dst) }
		})
	}
	return w
}

// axpyOfRows is the sum of all rows, each times its own number.
func axpyOfRows(n, d int) workload {
	w := rows("axpyrows", "axpy of each row", n, d)
	w.entrant = func(e env) []contender {
		x, a := e.points(0, n, d), e.normals(1, n)
		dst := limits.Allocate[float32](e.memory, d)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			run := func() {
				clear(dst)
				s.AxpyRows(dst, x, a)
			}
			return run, func() float64 { return squares(dst) }
		})
	}
	return w
}

// l1OfRows is the L1 distance of each row and one vector.
func l1OfRows(n, d int) workload {
	w := rows("l1rows", "L1 distance of each row", n, d)
	w.short, w.limits = true, nothing // in the cache
	w.entrant = func(e env) []contender {
		x, y := e.points(0, n, d), e.normals(1, d)
		dst := limits.Allocate[float32](e.memory, n)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			return func() { s.L1Rows(dst, x, y) }, func() float64 { return total(dst) }
		})
	}
	return w
}

// sparseDot is the product of each sparse row with one dense vector.
func sparseDot(rows, filled, width int) workload {
	w := workload{
		id:     workloadID("sparsedot", rows, filled, width),
		title:  fmt.Sprintf("sparse dot, %d rows of %d non-zeros, %d weights", rows, filled, width),
		unit:   nonzeros,
		amount: float64(rows) * float64(filled),
		limits: nothing,
		serial: true,
	}
	w.entrant = func(e env) []contender {
		at := e.columns(0, rows, filled, width)
		value, weight := e.normals(1, rows*filled), e.normals(2, width)
		dst := limits.Allocate[float32](e.memory, rows)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			run := func() {
				for i := range dst {
					from, to := i*filled, (i+1)*filled
					dst[i] = s.SparseDot(at[from:to], value[from:to], weight)
				}
			}
			return run, func() float64 { return squares(dst) }
		})
	}
	return w
}
