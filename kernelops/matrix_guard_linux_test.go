package kernelops

import (
	"os"
	"testing"
	"unsafe"
)

// TestPairsBesideUnmappedPages puts the operands and the result against pages that may not be
// touched, at their end and at their start: one element read or written too far kills the test.
func TestPairsBesideUnmappedPages(t *testing.T) {
	page := os.Getpagesize()
	var pages [3][]float32
	for i := range pages {
		p := fencedPage(t, page)
		pages[i] = unsafe.Slice((*float32)(unsafe.Pointer(&p[0])), page/4)
	}
	next := hardMatrices(31)["tie"]
	place := func(i, rows, cols int, atEnd bool) Matrix {
		data := pages[i][:rows*cols]
		if atEnd {
			data = pages[i][len(pages[i])-rows*cols:]
		}
		for j := range data {
			data[j] = next()
		}
		return Matrix{Data: data, Rows: rows, Cols: cols, Stride: cols}
	}
	ids, dists := make([]int, 64), make([]float64, 64)
	for _, s := range All() {
		var ws Workspace
		for _, shape := range [][3]int{{1, 1, 1}, {12, 32, 8}, {12, 16, 8}, {9, 42, 24}, {6, 16, 16}, {12, 8, 8},
			{13, 33, 9}, {25, 39, 17}, {5, 60, 15}, {24, 40, 24}, {3, 3, 340}} {
			for _, atEnd := range []bool{false, true} {
				x, y := place(0, shape[0], shape[2], atEnd), place(1, shape[1], shape[2], atEnd)
				for _, op := range pairOps {
					dst := place(2, shape[0], shape[1], atEnd)
					op.run(s, dst, x, y, &ws)
					equalLoop32(t, s.Name+" "+op.name, dst.Data, wantPairs(op.measure, x, y))
				}
				n := x.Rows
				s.Search(ids[:n], dists[:n], 1, x, y, &ws)
			}
		}
	}
}
