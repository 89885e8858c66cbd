package kernelops

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/kernelops/philox"
)

// TestDotEachInAnyPlace holds rows in the order of memory, in another and with gaps to the products of a matrix, by one
// stream and by several, whatever is read soon.
func TestDotEachInAnyPlace(t *testing.T) {
	for _, set := range All() {
		for _, one := range []bool{false, true} {
			s := *set
			s.oneStream = one && s.matrix != nil
			for _, c := range []struct{ rows, cols, stride int }{{4, 1, 1}, {8, 33, 33}, {9, 784, 784}, {12, 64, 79},
				{13, 64, 80}, {7, 100, 4000}} {
				x := Matrix{Data: drawn(c.rows*c.stride, 1), Rows: c.rows, Cols: c.cols, Stride: c.stride}
				y, want, got := drawn(c.cols, 2), make([]float32, c.rows), make([]float32, c.rows)
				Generic().DotRows(want, x, y)
				rows := rowsOf(x)
				for _, soon := range [][][]float32{nil, rows[:2], rows, {nil, nil, nil, y}} {
					s.DotEach(got, rows, y, soon)
					if !slices.Equal(got, want) {
						t.Errorf("%s, one stream %v, %+v: in order %v, want %v", s.Name, one, c, got, want)
					}
				}
				dotEach(&s, got, x, y)
				if !slices.Equal(got, want) {
					t.Errorf("%s, one stream %v, %+v: scattered %v, want %v", s.Name, one, c, got, want)
				}
			}
		}
	}
}

// drawn are n numbers between -0.5 and 0.5.
func drawn(n int, stream uint64) []float32 {
	key, x := philox.New(1, "each"), make([]float32, n)
	for i := range x {
		x[i] = float32(key.Float64(uint64(i), stream) - 0.5)
	}
	return x
}
