package kernelops

import (
	"fmt"
	"os"
	"testing"
	"unsafe"
)

// TestVectorsBesideUnmappedPages puts every operand against pages that may not be touched, after
// its end and before its start: one byte read too far kills the test.
func TestVectorsBesideUnmappedPages(t *testing.T) {
	page := os.Getpagesize()
	x, y, a, row, col := fenced32(t, page), fenced32(t, page), fenced32(t, page), fenced32(t, page), fenced32(t, page)
	sums, far := fencedPage(t, 4*page), fencedPage(t, page)
	next := hardData32(9)["normal"]
	const rows = 3
	for cols := 1; cols <= min(2*tile32+9, page/(4*rows)); cols++ {
		for _, place := range []struct {
			name string
			of   func(page []float32, n int) []float32
			wide func(page []float64, n int) []float64
		}{
			{"end", last[float32], last[float64]},
			{"start", first[float32], first[float64]},
		} {
			o := &operands{
				x: Matrix{Data: place.of(x, rows*cols), Rows: rows, Cols: cols, Stride: cols},
				y: place.of(y, cols), a: place.of(a, rows), row: place.of(row, cols), col: place.of(col, rows),
				sums: place.wide(sums, 6*cols), far: place.wide(far, rows), groups: make([]int32, rows), f: 2, g: 3,
			}
			fill(o.x.Data, next)
			fill(o.y, next)
			fill(o.a, next)
			for _, op := range vectorOps32 {
				fill(o.row, next)
				clear(o.sums)
				want := &operands{x: o.x, y: o.y, a: o.a, row: append([]float32(nil), o.row...),
					col: make([]float32, rows), sums: make([]float64, 6*cols), far: make([]float64, rows),
					groups: o.groups, f: o.f, g: o.g}
				op.run(Generic(), want)
				begin := append([]float32(nil), o.row...)
				for _, s := range All() {
					copy(o.row, begin)
					clear(o.col)
					clear(o.sums)
					clear(o.far)
					op.run(s, o)
					where := fmt.Sprintf("%s %s at the %s of a page, %d columns", s.Name, op.name, place.name, cols)
					equalBits32(t, where, o.row, want.row)
					equalBits32(t, where, o.col, want.col)
					equalBits(t, where, o.sums, want.sums)
					equalBits(t, where, o.far, want.far)
				}
			}
		}
	}
}

// TestHammingBesideUnmappedPages is the same for packed bits.
func TestHammingBesideUnmappedPages(t *testing.T) {
	page := os.Getpagesize()
	xs, ys := fencedPage(t, page), fencedPage(t, page)
	x, y := words(xs), words(ys)
	for i := range x {
		x[i], y[i] = uint64(i)*0x9e3779b97f4a7c15, ^uint64(i)
	}
	const rows = 3
	for n := 1; n <= min(2*tile+9, page/(8*rows)); n++ {
		for _, of := range []func([]uint64, int) []uint64{last[uint64], first[uint64]} {
			want, got := make([]int, rows), make([]int, rows)
			hammingRowsGeneric(want, of(x, rows*n), n, of(y, n))
			for _, s := range All() {
				s.HammingRows(got, of(x, rows*n), of(y, n))
				if [rows]int(got) != [rows]int(want) {
					t.Fatalf("%s, %d words: %v, want %v", s.Name, n, got, want)
				}
			}
		}
	}
}

func first[T any](page []T, n int) []T { return page[:n:n] }

func last[T any](page []T, n int) []T { return page[len(page)-n:] }

func fenced32(t *testing.T, page int) []float32 {
	t.Helper()
	p := fencedPage(t, page)
	return unsafe.Slice((*float32)(unsafe.Pointer(&p[0])), 2*len(p))
}

func words(page []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(&page[0])), len(page))
}
