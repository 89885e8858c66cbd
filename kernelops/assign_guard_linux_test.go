package kernelops

import (
	"os"
	"testing"
	"unsafe"
)

// TestAssignBesideUnmappedPages puts the rows, the centroids and the sums against pages that may not be touched,
// at their end and at their start, with few sums and with many: one element too far kills the test.
func TestAssignBesideUnmappedPages(t *testing.T) {
	size := 32 * os.Getpagesize()
	xs, ys, sums := fencedPage(t, size), fencedPage(t, size), fencedPage(t, size)
	next := hardMatrices(33)["tie"]
	place := func(page []float64, rows, cols int, atEnd bool) Matrix {
		data := unsafe.Slice((*float32)(unsafe.Pointer(&page[0])), 2*len(page))
		if atEnd {
			data = data[len(data)-rows*cols:]
		}
		fill(data[:rows*cols], next)
		return Matrix{Data: data[:rows*cols], Rows: rows, Cols: cols, Stride: cols}
	}
	for _, shape := range [][3]int{{1, 1, 1}, {13, 7, 9}, {96, 24, 200}, {97, 10, 333}, {40, 9, 784}, {59, 17, 257}} {
		for _, atEnd := range []bool{false, true} {
			n, k, d := shape[0], shape[1], shape[2]
			x, y := place(xs, n, d, atEnd), place(ys, k, d, atEnd)
			got, want := sums[:k*d], make([]float64, k*d)
			if atEnd {
				got = sums[len(sums)-k*d:]
			}
			index, score := make([]int32, n), make([]float32, n)
			assignLoop(want, index, score, x, y)
			for _, s := range All() {
				clear(got)
				s.Assign(got, index, score, x, s.PackCentroids(y), &Workspace{})
				equalBits(t, s.Name, got, want)
			}
		}
	}
}
