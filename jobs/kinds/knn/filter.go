package knn

import "math"

// unit is the largest relative error of a rounding to float32, unit64 of one to float64.
const (
	unit   = 0x1p-24
	unit64 = 0x1p-53
)

// filter bounds the float64 key of two rows from what a float32 kernel says of them.
//
// Dot products (kernelops.Set.Dots). A chain of n fused steps errs by at most g = n u/(1 - n u)
// times the sum of |x[i] y[i]| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 3.1), which is at most |x| |y|, plus n 2^-150 for underflow. What is done in float64, the
// key itself included, errs by less than (n + 64) units of float64 of the same, and 8 times that is
// added.
//
// Differences (L1Rows, LInfRows). All terms are positive, so the error is relative: the difference, n/32
// + 1 steps of a lane, 5 of the tree; a subtraction does not underflow.
type filter struct {
	dot      float64 // relative to |x| |y|
	absolute float64
	square   float64 // relative to |x|^2 + |y|^2, of the float64 steps of l2
	direct   float64 // relative to the distance
}

func newFilter(width int) filter {
	n := float64(width)
	small := float64(8 * (n + 64) * unit64)
	return filter{dot: growth(n) + small, absolute: float64((n + 8) * 0x1p-149), square: small,
		direct: growth(math.Floor(n/32)+12) + small}
}

// growth is n u/(1 - n u), or no bound at all where that is not small.
func growth(n float64) float64 {
	if n*unit > 0.1 {
		return inf
	}
	return n * unit / (1 - float64(n*unit))
}

// need is the least true dot product with which a row of norm y can have a key up to worst
// for a query of norm x.
func (f filter) need(of metric, worst, x, y float64) float64 {
	switch of {
	case innerProduct:
		return -worst - float64(math.Abs(worst)*8*unit64)
	case cosine:
		// the key of a zero row is 1, whatever the product
		if x == 0 || y == 0 {
			return -inf
		}
		return float64(float64(1-worst) * float64(x*y))
	}
	squares := float64(x*x) + float64(y*y)
	return float64((squares-worst)/2) - float64(f.square*squares)
}

// out reports that a row whose product with a query is about c cannot reach need. An
// overflow, an infinity or a NaN, says nothing and is never out.
func (f filter) out(c float32, need, x, y float64) bool {
	return c >= -math.MaxFloat32 && float64(c)+float64(f.dot*float64(x*y))+f.absolute < need
}

// beyond reports that a row whose distance is about d is farther than worst.
func (f filter) beyond(d float32, worst float64) bool {
	return d <= math.MaxFloat32 && float64(float64(d)*(1-f.direct)) > worst
}
