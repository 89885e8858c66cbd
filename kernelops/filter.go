package kernelops

import "math"

// unit is the largest relative error of a float32 rounding, tiny that of a subnormal one.
const (
	unit = 0x1p-24
	tiny = 0x1p-150
)

// filter bounds what a distance in float32 says about the distance of sqDist64.
//
// Fast distances. Let g = d*unit/(1 - d*unit). A chain of d fused steps errs by at most g times
// the sum of the magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
// section 3.1), plus d*tiny. So each norm errs by g times itself, and twice the dot product by
// 2g sum |x y| <= g (|x|^2 + |y|^2): together 2g/(1-g) times the computed norms. The sum
// of the norms and the difference round once each, below 6 units of them. The 8 lanes of
// float64 err by less than a unit: they are in the 4 units more.
//
// Direct distances, 32 lanes of (x-y)^2. All terms are positive, so the error is relative: the
// difference (twice), d/32 + 1 steps of a lane, 5 of the tree, and 4 more for float64.
type filter struct {
	relative float64 // of the sum of the norms
	scan     float64 // the same, with the roundings of a scan in float32
	direct   float64 // of the distance itself
	absolute float64 // underflow
}

// maxNorm is the largest squared norm for which nothing in a fast distance overflows.
const maxNorm = 0x1p124

func newFilter(dim int) filter {
	d := float64(dim)
	f := filter{absolute: float64(16 * (d + 8) * tiny)}
	g := d * unit / (1 - float64(d*unit))
	f.relative = 2*g/(1-g) + 4*unit
	if d*unit > 0.1 {
		f.relative = math.Inf(1) // no bound: everything is kept
	}
	f.scan = f.relative + 6*unit
	n := math.Floor(d/32) + 12
	h := n * unit / (1 - float64(n*unit))
	f.direct = h / (1 - h)
	if n*unit > 0.1 {
		f.direct = math.Inf(1)
	}
	return f
}

// lowNorms sets low to the norms less their share of the error of a scan. A norm that may
// overflow in a distance becomes NaN, which passes every test.
func (f filter) lowNorms(low, norms []float32) []float32 {
	for i, n := range norms {
		low[i] = float32(math.NaN())
		if n <= maxNorm && f.scan < 1 {
			low[i] = roundDown32(float64(n) - float64(f.scan*float64(n)) - f.absolute)
		}
	}
	return low
}

// bounds returns between what the distance of sqDist64 lies, from the dot product and the norms.
func (f filter) bounds(dot, xNorm, yNorm float32) (low, high float64) {
	sum := float64(xNorm) + float64(yNorm)
	if !(xNorm <= maxNorm && yNorm <= maxNorm && f.relative < 1) {
		return math.Inf(-1), math.Inf(1)
	}
	about, slack := sum-float64(2*float64(dot)), float64(f.relative*sum)+f.absolute
	return about - slack, about + slack
}

// directBounds is bounds for a direct distance.
func (f filter) directBounds(d float32) (low, high float64) {
	if !(d <= math.MaxFloat32 && f.direct < 1) {
		return math.Inf(-1), math.Inf(1)
	}
	slack := float64(f.direct*float64(d)) + f.absolute
	return float64(d) - slack, float64(d) + slack
}

// directLimit returns a direct distance above which the lower bound is above limit.
func (f filter) directLimit(limit float64) float64 {
	if f.direct >= 1 {
		return math.Inf(1)
	}
	return float64((limit + float64(2*f.absolute)) / (1 - f.direct) * (1 + 0x1p-40))
}

// roundUp32 returns the smallest float32 that is not below x, and roundDown32 the largest not above.
func roundUp32(x float64) float32 {
	y := float32(x)
	if float64(y) < x {
		return math.Nextafter32(y, float32(math.Inf(1)))
	}
	return y
}

func roundDown32(x float64) float32 { return -roundUp32(-x) }
