package kernelops

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzPairs compares every set with the loop on bytes taken as float32: the shape from
// the first three bytes, the elements from the rest, over and over.
func FuzzPairs(f *testing.F) {
	f.Add([]byte{13, 33, 9, 0, 0, 128, 51, 254, 255, 127, 63, 1, 0, 128, 63})
	f.Add([]byte{12, 32, 8, 0, 0, 0, 26, 1, 0, 0, 0, 0, 0, 0, 128})
	f.Add([]byte{97, 17, 5, 0, 0, 128, 127, 0, 0, 0, 0, 0, 0, 128, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 7 {
			return
		}
		shape, words := b[:3], b[3:]
		at := 0
		fill := func(rows, cols int) Matrix {
			m := NewMatrix(rows, cols)
			for i := range m.Data {
				m.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(words[at : at+4]))
				if at += 4; at+4 > len(words) {
					at = 0
				}
			}
			return m
		}
		x := fill(int(shape[0])%110, int(shape[2])%40)
		y := fill(int(shape[1])%80, x.Cols)
		for _, op := range pairOps {
			want := wantPairs(op.measure, x, y)
			for _, s := range All() {
				dst := NewMatrix(x.Rows, y.Rows)
				op.run(s, dst, x, y, &Workspace{})
				equalLoop32(t, s.Name+" "+op.name, dst.Data, want)
			}
		}
		if x.Rows > 0 {
			compareSearches(t, "fuzz", x, y, 3)
		}
	})
}
