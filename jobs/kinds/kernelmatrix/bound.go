package kernelmatrix

import (
	"math"

	"github.com/gram-compute/gram/kernelops"
)

// bound bounds how far an element of the matrix may lie from the kernel of the same two
// float32 rows in exact arithmetic, given their squared norms. With u = 2^-24 and n columns a
// chain of n fused multiply-adds errs by g = n u / (1 - n u) times the sum of its magnitudes
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 3.1), which is at most |x| |y|;
// tanh does not widen an error. For rbf see kernels.Function.ValueError.
func bound(k kernelops.Kernel, xx, yy float64, width int) float64 {
	const u = 0x1p-24
	n := float64(width)
	nu := float64(n * u)
	g := nu / (1 - nu)
	tiny := float64((n + 8) * 0x1p-145) // underflow
	most := float64(math.Sqrt(xx) * math.Sqrt(yy))
	dot := float64(g*most) + tiny
	scale, offset := math.Abs(float64(k.Scale)), math.Abs(float64(k.Offset))
	affine := float64(scale*most) + offset                                          // bounds |t|
	moved := float64(scale*dot) + float64(u*(affine+float64(scale*dot))) + 0x1p-149 // bounds the error of t
	switch k.Kind {
	case kernelops.Polynomial:
		return powerBound(affine, moved, k.Degree)
	case kernelops.Sigmoid:
		return min(2, moved) + 6*u
	}
	return dot
}

// powerBound bounds the error of t^degree by repeated products, |t| at most t and in error by e: each
// product rounds once, and what is smaller grows by less.
func powerBound(t, e float64, degree int) float64 {
	const u = 0x1p-24
	low, high, lost := t, t+e, 0.0
	for range degree - 1 {
		low = float64(low * t)
		high = float64(high * float64((t+e)*(1+u)))
		lost = float64(lost*max(1, t+e)) + 0x1p-149
	}
	if high > math.MaxFloat64 {
		return math.MaxFloat64
	}
	// The last term covers the float64 rounding of this sum.
	return min(high-low+lost+float64(high*float64(degree)*0x1p-50), math.MaxFloat64)
}
