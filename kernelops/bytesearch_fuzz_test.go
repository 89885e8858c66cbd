package kernelops

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzByteSearch compares searches of bases of 8 bits with the loop, on bytes taken as float32: the shape and k from
// the first four, the elements from the rest, over and over, each one moved a little from the last time.
func FuzzByteSearch(f *testing.F) {
	f.Add([]byte{13, 200, 9, 3, 0, 0, 128, 63, 254, 255, 127, 191, 1, 0, 128, 64})
	f.Add([]byte{7, 130, 33, 1, 0, 0, 0, 26, 1, 0, 0, 0, 0, 0, 0, 128})
	f.Add([]byte{2, 64, 5, 5, 0, 0, 127, 67, 0, 0, 0, 0, 0, 0, 128, 63})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 8 {
			return
		}
		shape, words := b[:4], b[4:]
		at, turn := 0, 0
		fill := func(rows, cols int) Matrix {
			m := NewMatrix(rows, cols)
			for i := range m.Data {
				bits := binary.LittleEndian.Uint32(words[at : at+4])
				m.Data[i] = math.Float32frombits(bits + uint32(turn*turn%1021)<<8)
				if at += 4; at+4 > len(words) {
					at, turn = 0, turn+1
				}
			}
			return m
		}
		y := fill(1+int(shape[1]), 1+int(shape[2])%50)
		x := fill(1+int(shape[0])%14, y.Cols)
		compareByteSearches(t, "fuzz", x, y, 1+int(shape[3])%9)
	})
}
