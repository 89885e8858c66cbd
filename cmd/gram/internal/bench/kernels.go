package bench

import (
	"fmt"

	"github.com/gram-compute/gram/internal/limits"
	"github.com/gram-compute/gram/kernelops"
)

// workload is a loop of the machine's limits or a kernel.
type workload struct {
	id, title, unit string
	of              string  // the ID of its limit; "" for a limit
	amount          float64 // of work in one run
	run             func()
	digest          func() string // of the result; nil for a limit
}

// Units of a rate, 1e9 a second each.
const (
	gflops   = "GFLOP/s"
	gigabyte = "GB/s"
)

// IDs of limits.
const (
	peak  = "peak"
	read  = "read"
	store = "store"
)

// beyondCache is more memory than caches hold.
const beyondCache = 256 << 20

// bounds are the limits of this machine that have a loop, on threads at once.
func bounds(set *kernelops.Set, m *limits.Memory, threads int) []workload {
	var all []workload
	for _, p := range limits.MultiplyAdds() {
		if p.Set == set.Name {
			all = append(all, workload{id: peak, title: "multiply-add in registers, " + p.Set, unit: gflops,
				amount: float64(threads) * p.Flop(), run: func() { onThreads(threads, func(int) { p.Run() }) }})
		}
	}
	loops := limits.Widest()
	if !loops.Known() {
		return all
	}
	words := limits.Allocate[uint64](m, beyondCache/8)
	loops.Store(words, 1) // pages that nobody wrote would all be one page of zeros
	part := limits.Whole(words[:len(words)/threads])
	over := func(id, title string, f func(part []uint64)) workload {
		return workload{id: id, title: title, unit: gigabyte, amount: float64(threads * part * 8), run: func() {
			onThreads(threads, func(t int) { f(words[t*part : (t+1)*part]) })
		}}
	}
	return append(all,
		over(read, "read memory", loops.Read),
		over(store, "write memory", func(p []uint64) { loops.Store(p, 1) }),
		over("stream", "write memory, past the caches", func(p []uint64) { loops.Stream(p, 1) }))
}

// kernels are what jobs spend their time in. Counted are the multiplications and additions of the inner products
// alone, and the bytes that must be read.
func kernels(set *kernelops.Set, m *limits.Memory, threads int) []workload {
	all := []workload{product(set, m, threads), distances(set, m, threads), nearest(set, m, threads),
		search(set, m, threads)}
	if threads == 1 {
		all = append(all, scan(set, m))
	}
	return all
}

func arithmetic(id, title string, rows, cols, d int, run func(), digest func() string) workload {
	amount := 2 * float64(rows) * float64(cols) * float64(d)
	return workload{id: id, title: title, unit: gflops, of: peak, amount: amount, run: run, digest: digest}
}

func product(set *kernelops.Set, m *limits.Memory, threads int) workload {
	const n, d = 1024, 128
	x, y, dst, ws := matrix(m, "x", n, d), matrix(m, "y", n, d), zeros(m, n, n), workspace(threads)
	return arithmetic("products", fmt.Sprintf("X·Yᵀ, %d x %d, d = %d", n, n, d), n, n, d,
		func() { set.Dots(dst, x, y, ws) }, func() string { return digestOf(dst.Data) })
}

func distances(set *kernelops.Set, m *limits.Memory, threads int) workload {
	const n, d = 1024, 128
	x, y, dst, ws := matrix(m, "x", n, d), matrix(m, "y", n, d), zeros(m, n, n), workspace(threads)
	kernel := kernelops.Kernel{Kind: kernelops.RBF, Scale: 1. / d}
	return arithmetic("rbf", fmt.Sprintf("RBF matrix, %d x %d, d = %d", n, n, d), n, n, d,
		func() { set.KernelMatrix(dst, kernel, x, y, ws) }, func() string { return digestOf(dst.Data) })
}

func nearest(set *kernelops.Set, m *limits.Memory, threads int) workload {
	const n, d, k = 16384, 32, 256
	x := matrix(m, "points", n, d)
	values := make([]float64, 0, k*d)
	for _, v := range x.RowRange(0, k).Data[:k*d] {
		values = append(values, float64(v))
	}
	centers := set.PackCenters(values, make([]float32, d))
	index, sqDist := make([]int32, n), make([]float64, n)
	ws := make([]kernelops.Workspace, threads)
	return arithmetic("nearest", fmt.Sprintf("nearest of %d centers, %d x %d", k, n, d), n, k, d, func() {
		onThreads(threads, func(t int) {
			from, to := t*n/threads, (t+1)*n/threads
			set.Nearest(index[from:to], sqDist[from:to], x.RowRange(from, to), centers, &ws[t])
		})
	}, func() string { return digestOf(index, sqDist) })
}

func search(set *kernelops.Set, m *limits.Memory, threads int) workload {
	const n, d, queries, k = 16384, 128, 128, 10
	x, y, ws := matrix(m, "queries", queries, d), matrix(m, "base", n, d), workspace(threads)
	ids, dists := make([]int, queries*k), make([]float64, queries*k)
	return arithmetic("search", fmt.Sprintf("top-%d of %d x %d, %d queries", k, n, d, queries), queries, n, d,
		func() { set.Search(ids, dists, k, x, y, ws) }, func() string { return digestOf(ids, dists) })
}

func scan(set *kernelops.Set, m *limits.Memory) workload {
	const n, d = 131072, 128
	x, w, dst := matrix(m, "rows", n, d), matrix(m, "weights", 1, d), make([]float32, n)
	return workload{id: "scan", title: fmt.Sprintf("dot of each row, %d x %d", n, d), unit: gigabyte, of: read,
		amount: 4 * n * d, run: func() { set.DotRows(dst, x, w.Data) }, digest: func() string { return digestOf(dst) }}
}

func workspace(threads int) *kernelops.Workspace { return &kernelops.Workspace{Threads: threads} }
