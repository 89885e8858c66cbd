package kernelops

import "sync"

// Workspace holds the memory that matrix-shaped operations need beside their arguments. The zero
// Workspace is ready; kept by the caller, it spares the next operation the allocation. It serves
// one operation at a time.
type Workspace struct {
	// Threads is the number of goroutines among which an operation divides its results; 0 means 1.
	// It never changes a bit of them.
	Threads int

	packed       panels
	stream       bool // whether the result of pairs is written past the caches
	xNorms       []float32
	yNorms       []float32
	base         Base // of a search
	perGoroutine []scratch
}

// scratch is the memory of one goroutine.
type scratch struct {
	packed    panels
	dots      []float32 // a block of dot products
	tail      []float32 // the last rows of x, and rows of zeros
	scores    []float32
	columns   []int32
	hits      []uint64
	sums      []float64
	ahead     readAhead
	words     []uint32  // a panel of bytes, by rows
	direction []float32 // of a row, for cosines
	lanes     byteLanes
	bytes     byteQueries
	nearest   nearestScratch
}

// divide calls f on ranges that together are [0, n), each but the last a multiple of
// grain, at the same time. It returns when all have returned.
func (ws *Workspace) divide(n, grain int, f func(sc *scratch, from, to int)) {
	grains := (n + grain - 1) / grain
	threads := max(1, min(ws.Threads, grains))
	if len(ws.perGoroutine) < threads {
		ws.perGoroutine = append(ws.perGoroutine, make([]scratch, threads-len(ws.perGoroutine))...)
	}
	var wait sync.WaitGroup
	for t := 1; t < threads; t++ {
		wait.Go(func() {
			f(&ws.perGoroutine[t], t*grains/threads*grain, min(n, (t+1)*grains/threads*grain))
		})
	}
	f(&ws.perGoroutine[0], 0, min(n, grains/threads*grain))
	wait.Wait()
}

// Resize returns a slice of n elements, v's memory if that suffices. Their values are left over.
func Resize[E any](v []E, n int) []E {
	if cap(v) < n {
		return make([]E, n)
	}
	return v[:n]
}
