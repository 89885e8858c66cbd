package kernelops

// SqEuclideanRows sets dst[i] to the squared Euclidean distance of x.Row(i) and y, by the
// lanes and the tree of Dot:
//
//	t := x.Row(i)[j] - y[j]
//	lane[j%32] = fma32(t, t, lane[j%32])
//
// It is never negative, and +0 for equal finite rows. It overflows to +Inf where the square does,
// and is NaN if a difference is NaN. dst has x.Rows elements and overlaps neither x
// nor y; y has x.Cols.
//
// With n columns the error is at most (n/32 + 8) 2^-24 times the distance, to first
// order and without underflow.
func (s *Set) SqEuclideanRows(dst []float32, x Matrix, y []float32) {
	reduceRows(s.sqEuclideanRows, dst, x, y)
}

// L1Rows sets dst[i] to the L1 (Manhattan) distance of x.Row(i) and y, by the lanes and the
// tree of Dot, each difference rounded before it is added:
//
//	lane[j%32] += abs(x.Row(i)[j] - y[j])
//
// It is never negative, and NaN if a difference is NaN. dst has x.Rows elements and
// overlaps neither x nor y; y has x.Cols. The error bound is that of SqEuclideanRows.
func (s *Set) L1Rows(dst []float32, x Matrix, y []float32) {
	reduceRows(s.l1Rows, dst, x, y)
}

// LInfRows sets dst[i] to the L-infinity (Chebyshev) distance of x.Row(i) and y:
//
//	d := float32(0)
//	for j := range y {
//		d = max(d, abs(x.Row(i)[j] - y[j]))
//	}
//
// The order does not matter: the largest rounded difference, or NaN if one is NaN. dst
// has x.Rows elements and overlaps neither x nor y; y has x.Cols. The error is one rounding.
func (s *Set) LInfRows(dst []float32, x Matrix, y []float32) {
	reduceRows(s.lInfRows, dst, x, y)
}

func foldSqEuclidean(lane *[lanes]float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		t, l := v-y[i], &lane[i%lanes]
		*l = fma32(t, t, *l)
	}
}

func foldL1(lane *[lanes]float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		lane[i%lanes] += abs32(v - y[i])
	}
}

func foldLInf(lane *[lanes]float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		lane[i%lanes] = max(lane[i%lanes], abs32(v-y[i]))
	}
}
