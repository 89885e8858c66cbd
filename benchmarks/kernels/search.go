package main

import (
	"fmt"
	"unsafe"

	"github.com/gram-compute/gram/kernelops"
)

// knn finds the k nearest of n points for each query, all in one call. Ours are
// exact: the re-ranking in float64 is part of it.
func knn(n, d, queries, k int) workload {
	w := workload{
		id:     workloadID("knn", n, d, queries, k),
		title:  fmt.Sprintf("top-%d of %d x %d, %d queries", k, n, d, queries),
		unit:   gflops,
		amount: 2 * float64(n) * float64(d) * float64(queries),
		limits: byteArithmetic,
	}
	w.entrant = func(e env) []contender { return searches(e, e.points(0, n, d), queries, k, queries) }
	return w
}

// knnOneByOne is the same with one query a call, which reads all points each time.
func knnOneByOne(n, d, queries, k int) workload {
	w := workload{
		id:     workloadID("knnsingle", n, d, queries, k),
		title:  fmt.Sprintf("top-%d of %d x %d, one query a call", k, n, d),
		unit:   gigabyte,
		amount: 4 * float64(n) * float64(d) * float64(queries),
		limits: bandwidth,
		serial: true,
	}
	w.entrant = func(e env) []contender {
		base := e.points(0, n, d)
		words := unsafe.Slice((*uint64)(unsafe.Pointer(&base.Data[0])), len(base.Data)/2)
		// Some of the base stays in the cache from query to query: this much faster is it read.
		return append(searches(e, base, queries, k, 1), reading("read base", 1, words)...)
	}
	return w
}

// searches are our sets, with a number of queries a call: of the points as they are, and of a base that was packed
// before, as an index of FAISS is filled before.
func searches(e env, base kernelops.Matrix, queries, k, call int) []contender {
	q := e.points(1, queries, base.Cols)
	ids, dists := make([]int, queries*k), make([]float64, queries*k)
	sum := func() float64 {
		sum := 0.0
		for _, v := range dists {
			sum += v
		}
		return sum
	}
	inCalls := func(search func(ids []int, dists []float64, x kernelops.Matrix)) func() {
		return func() {
			for i := 0; i < queries; i += call {
				search(ids[i*k:(i+call)*k], dists[i*k:(i+call)*k], q.RowRange(i, i+call))
			}
		}
	}
	all := each(e, func(s *kernelops.Set, ws *kernelops.Workspace) (func(), func() float64) {
		return inCalls(func(ids []int, dists []float64, x kernelops.Matrix) {
			s.Search(ids, dists, k, x, base, ws)
		}), sum
	})
	var packing []*kernelops.Set // the others keep the points as they are
	for _, s := range e.sets {
		if kernelops.HasBytes(s) {
			packing = append(packing, s)
		}
	}
	e.sets = packing
	packed := each(e, func(s *kernelops.Set, ws *kernelops.Workspace) (func(), func() float64) {
		var b kernelops.Base
		b.Pack(s, base, manyQueries, ws)
		return inCalls(func(ids []int, dists []float64, x kernelops.Matrix) {
			b.Search(ids, dists, k, x, nil, ws)
		}), sum
	})
	for i := range packed {
		packed[i].name += packedBase
	}
	return append(all, packed...)
}

// packedBase is in the names of those that search a base packed before.
const packedBase = ", base packed before"

// manyQueries is how many queries a packed base is said to be for: an index serves for long.
const manyQueries = 1 << 20
