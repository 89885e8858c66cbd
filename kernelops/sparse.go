package kernelops

import "unsafe"

// SparseDot returns the dot product of a sparse row (value[p] in column index[p]) with dense
// weights, by 4 lanes, each product rounded before it is added:
//
//	var lane [4]float32
//	for p := range index {
//		lane[p%4] += float32(value[p] * w[index[p]])
//	}
//	return (lane[0] + lane[1]) + (lane[2] + lane[3])
//
// p is the position in the row's list, not the column. Columns may repeat and come in any
// order, which decides the rounding. index and value have the same length. A column outside w
// panics as an index out of range.
//
// With n stored elements the error is at most (n/4 + 3) 2^-24 times the sum of
// |value[p] w[index[p]]|, to first order and without underflow.
func (s *Set) SparseDot(index []int32, value, w []float32) float32 {
	return s.sparseDot(index, value, w, soonBytes, soonBytes)
}

// SparseDotBefore is SparseDot, for a caller that goes on to other rows in an order that the hardware does not foresee:
// it prefetches the one that is read soon, so that this comes while the first is computed.
func (s *Set) SparseDotBefore(index []int32, value, w []float32, soonIndex []int32, soonValue []float32) float32 {
	if len(index) == 0 || len(value) == 0 || len(soonIndex) == 0 || len(soonValue) == 0 {
		return s.SparseDot(index, value, w)
	}
	return s.sparseDot(index, value, w, bytesTo(index, soonIndex), bytesTo(value, soonValue))
}

// soonBytes is how far behind its place in a list SparseDot prefetches.
const soonBytes = 1024

func bytesTo[T any](from, to []T) int {
	return int(uintptr(unsafe.Pointer(&to[0])) - uintptr(unsafe.Pointer(&from[0])))
}

func (s *Set) sparseDot(index []int32, value, w []float32, soonIndex, soonValue int) float32 {
	if len(index) != len(value) {
		panic("kernelops: sparse row has not one value for every column")
	}
	var l0, l1, l2, l3 float32
	if s.matrix != nil && len(w) > 0 { // not the generic set
		var lane [4]float32
		taken := sparseBlocks(&lane, index, value, w, soonIndex, soonValue) // a multiple of 4
		index, value = index[taken:], value[taken:]
		l0, l1, l2, l3 = lane[0], lane[1], lane[2], lane[3]
	}
	for len(index) >= 8 && len(value) >= 8 { // two rounds of the lanes; the weights, which come from far, first
		w0, w1, w2, w3 := w[uint32(index[0])], w[uint32(index[1])], w[uint32(index[2])], w[uint32(index[3])]
		w4, w5, w6, w7 := w[uint32(index[4])], w[uint32(index[5])], w[uint32(index[6])], w[uint32(index[7])]
		l0 += float32(value[0] * w0)
		l1 += float32(value[1] * w1)
		l2 += float32(value[2] * w2)
		l3 += float32(value[3] * w3)
		l0 += float32(value[4] * w4)
		l1 += float32(value[5] * w5)
		l2 += float32(value[6] * w6)
		l3 += float32(value[7] * w7)
		index, value = index[8:], value[8:]
	}
	for p, j := range index { // at most 7
		switch v := float32(value[p] * w[uint32(j)]); p % 4 {
		case 0:
			l0 += v
		case 1:
			l1 += v
		case 2:
			l2 += v
		default:
			l3 += v
		}
	}
	return (l0 + l1) + (l2 + l3)
}

// SparseAxpy adds a multiple of a sparse row to dense weights, each product rounded before
// it is added:
//
//	for p, j := range index {
//		w[j] += float32(a * value[p])
//	}
//
// Columns may repeat. index and value have the same length, and value does not overlap w. A
// column outside w panics before anything is written.
func (s *Set) SparseAxpy(w []float32, index []int32, value []float32, a float32) {
	if len(index) != len(value) {
		panic("kernelops: sparse row has not one value for every column")
	}
	if overlap(w, value) {
		panic("kernelops: result overlaps an input")
	}
	for _, j := range index {
		if uint(j) >= uint(len(w)) {
			panic("kernelops: sparse row is wider than the weights")
		}
	}
	value = value[:len(index)]
	for p, j := range index {
		w[j] += float32(a * value[p])
	}
}
