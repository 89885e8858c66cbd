package kernelops

import "math/bits"

// HammingRows sets dst[i] to the number of bits in which row i of x differs from y. Rows lie
// side by side, 64 bits a word:
//
//	for i := range dst {
//		dst[i] = 0
//		for w := range y {
//			dst[i] += bits.OnesCount64(x[i*len(y)+w] ^ y[w])
//		}
//	}
//
// x has len(dst)*len(y) words. Bits that pad the last word of a row are compared as well: they
// must be equal everywhere, such as zero.
func (s *Set) HammingRows(dst []int, x, y []uint64) {
	if len(y) == 0 && len(x) != 0 || len(y) != 0 && (len(x)%len(y) != 0 || len(x)/len(y) != len(dst)) {
		panic("kernelops: rows have different lengths")
	}
	clear(dst)
	if len(x) == 0 {
		return
	}
	width := min(len(y), callElements)
	height := rowsPerCall(width)
	for i := 0; i < len(dst); i += height {
		end := min(i+height, len(dst))
		for w := 0; w < len(y); w += width {
			s.hammingRows(dst[i:end], x[i*len(y)+w:], len(y), y[w:min(w+width, len(y))])
		}
	}
}

func hammingRowsGeneric(dst []int, x []uint64, stride int, y []uint64) {
	for i := range dst {
		for w, v := range x[i*stride:][:len(y)] {
			dst[i] += bits.OnesCount64(v ^ y[w])
		}
	}
}
