package kernelops

import "math"

// lanes is the number of partial results of a dense reduction. It is part of what the
// operations mean: see docs/numerics.md, "Dense reductions".
const lanes = 32

// rowReduction reduces every row of x with y to an element of dst. carry, if not nil, holds the
// lanes to start from and takes those at the end; then there is one row.
type rowReduction func(dst, x []float32, stride int, y []float32, carry *[lanes]float32)

// Dot returns the dot product of x and y, by 32 lanes of fused multiply-adds and a
// tree of additions:
//
//	var lane [32]float32
//	for i := range x {
//		lane[i%32] = fma32(x[i], y[i], lane[i%32])
//	}
//	for h := 16; h > 0; h /= 2 {
//		for j := range h {
//			lane[j] += lane[j+h]
//		}
//	}
//	return lane[0]
//
// With n elements the error is at most (n/32 + 6) 2^-24 times the sum of |x[i] y[i]|, to first
// order and without underflow.
func (s *Set) Dot(x, y []float32) float32 {
	if len(x) != len(y) {
		panic("kernelops: rows have different lengths")
	}
	if len(x) <= callElements {
		return s.dot(x, y)
	}
	sum := make([]float32, 1)
	reduceLong(s.dotRows, sum, x, y)
	return sum[0]
}

// DotRows sets dst[i] to s.Dot(x.Row(i), y). dst has x.Rows elements and
// overlaps neither x nor y; y has x.Cols.
func (s *Set) DotRows(dst []float32, x Matrix, y []float32) {
	reduceRows(s.dotRows, dst, x, y)
}

// reduceRows checks the arguments and cuts the work into calls.
func reduceRows(f rowReduction, dst []float32, x Matrix, y []float32) {
	x.check()
	if len(dst) != x.Rows || len(y) != x.Cols {
		panic("kernelops: rows have different lengths")
	}
	if overlap(dst, x.elements()) || overlap(dst, y) {
		panic("kernelops: result overlaps an input")
	}
	if x.Cols == 0 {
		clear(dst)
		return
	}
	if x.Cols > callElements {
		for i := range dst {
			reduceLong(f, dst[i:i+1], x.Row(i), y)
		}
		return
	}
	height := rowsPerCall(x.Cols)
	for i := 0; i < x.Rows; i += height {
		end := min(i+height, x.Rows)
		f(dst[i:end], x.RowRange(i, end).Data, x.Stride, y, nil)
	}
}

// reduceLong reduces one row that is longer than a call may be, and sets dst[0].
func reduceLong(f rowReduction, dst, x, y []float32) {
	carry := new([lanes]float32)
	for i := 0; i < len(x); i += callElements {
		end := min(i+callElements, len(x))
		f(dst, x[i:end], end-i, y[i:end], carry)
	}
}

// reduceGeneric returns the reduction whose elements fold takes into the lanes and whose
// lanes are joined in pairs.
func reduceGeneric(fold func(lane *[lanes]float32, x, y []float32), join func(a, b float32) float32) rowReduction {
	return func(dst, x []float32, stride int, y []float32, carry *[lanes]float32) {
		for i := range dst {
			var lane [lanes]float32
			if carry != nil {
				lane = *carry
			}
			fold(&lane, x[i*stride:][:len(y)], y)
			if carry != nil {
				*carry = lane
			}
			dst[i] = tree(&lane, join)
		}
	}
}

// tree joins the lanes in halves until one is left.
func tree(lane *[lanes]float32, join func(a, b float32) float32) float32 {
	for h := lanes / 2; h > 0; h /= 2 {
		for j := range h {
			lane[j] = join(lane[j], lane[j+h])
		}
	}
	return lane[0]
}

func add32(a, b float32) float32 { return a + b }

// max32 is the built-in function: NaN if an argument is.
func max32(a, b float32) float32 { return max(a, b) }

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

func dotGeneric(x, y []float32) float32 {
	var lane [lanes]float32
	foldDot(&lane, x, y)
	return tree(&lane, add32)
}

func foldDot(lane *[lanes]float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		l := &lane[i%lanes]
		*l = fma32(v, y[i], *l)
	}
}
