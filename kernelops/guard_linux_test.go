package kernelops

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// TestRowsBesideUnmappedPages puts rows against pages that may not be touched, after
// their end and before their start: one byte read too far kills the test.
func TestRowsBesideUnmappedPages(t *testing.T) {
	page := os.Getpagesize()
	dst, x := fencedPage(t, page), fencedPage(t, page)
	for _, s := range All() {
		for _, op := range rowOps {
			for n := range 2*tile + 8 {
				for i := range dst {
					dst[i], x[i] = 1, float64(i)
				}
				end := len(dst) - n
				op.run(s, dst[end:], x[end:], 1)
				op.run(s, dst[:n], x[:n], 1)
				for i := range dst {
					want := 1.0
					if i >= end {
						want += float64(i)
					}
					if i < n {
						want += float64(i)
					}
					if dst[i] != want {
						t.Fatalf("%s %s, n = %d: element %d is %v, want %v", s.Name, op.name, n, i, dst[i], want)
					}
				}
			}
		}
	}
}

// fencedPage returns one page of float64 between two inaccessible ones.
func fencedPage(t *testing.T, page int) []float64 {
	t.Helper()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{mem[:page], mem[2*page:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&mem[page])), page/8)
}

// TestBoundsBesideUnmappedPages puts rows against such pages.
func TestBoundsBesideUnmappedPages(t *testing.T) {
	page := os.Getpagesize()
	for _, s := range All() {
		for cols := 1; cols <= 40; cols++ {
			mem := fencedPage(t, page)
			values := unsafe.Slice((*float32)(unsafe.Pointer(&mem[0])), 2*len(mem))
			rows := min(len(values)/cols, 11)
			x := Matrix{Data: values[len(values)-rows*cols:], Rows: rows, Cols: cols, Stride: cols}
			var centers []float64
			for i := range 70 * cols {
				centers = append(centers, float64(i*i%31))
			}
			for i := range x.Data {
				x.Data[i] = float32(i * i % 29)
			}
			c := s.PackCenters(centers, make([]float32, cols))
			b := NewBounds(s, c, rows, NewByteRows(s, x, make([]float32, cols)))
			if b == nil {
				continue
			}
			var ws Workspace
			index, sqDist := make([]int32, rows), make([]float64, rows)
			b.Nearest(index, sqDist, x, 0, &ws)
			want, wantDist := make([]int32, rows), make([]float64, rows)
			s.Nearest(want, wantDist, x, c, &ws)
			if !slices.Equal(index, want) || !slices.Equal(sqDist, wantDist) {
				t.Fatalf("%d columns: %v, want %v", cols, index, want)
			}
		}
	}
}
