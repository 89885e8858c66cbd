package kernelops

import "math"

// nearestBound bounds what a score in float32 says about the distance that Nearest decides by.
//
// Let o be the origin, x the row and c a center, both less o, exactly; x' and c' as they are rounded to float32, and X
// and C the lengths of x' and c'. d is the dimension, g = d*unit/(1 - d*unit). The score is
//
//	s = fma32(-2, dot(x', c'), low),  low about n = dot(c', c'),
//
// and the distance, less |x|^2, which is the same for all centers, is t = |c|^2 - 2 x.c. They differ by
//
//	dot(x', c'), twice   2g sum |x'c'| <= g X^2 + g C^2     (a chain of d fused steps: Higham, section 3.1)
//	n                    g C^2                              (the same)
//	the last step        unit |s| <= unit (X^2 + 2 C^2)
//	low                  2 unit C^2                         (rounded down)
//	x', c'               2 unit X^2 + 4 unit C^2            (below)
//	the distance         unit X^2 + unit C^2                (its float64: (d/4 + 8) 2^-53 of at most 2 (X^2 + C^2))
//
// together at most (g + 4 unit) X^2 + (2g + 10 unit) C^2. For the roundings of the operands, e = x' - x and f = c' - c:
// |c'|^2 - 2 x'.c' - t = 2 c'.f - |f|^2 - 2 x'.f - 2 e.c' + 2 e.f. A difference of two float32 does not underflow, so
// |e| <= unit X and |f| <= unit C, both to first order; and 4 X C <= 2 X^2 + 2 C^2. What is left out, terms of second
// order, the second rounding of c' in float64, and products of an underflow of c' with X or C, is far below 2 unit more
// of each. Norms are computed: X^2 <= nx/(1 - g). So with
//
//	relative = 2 (g + 6 unit)/(1 - g)
//
// score and t differ by at most relative (n + nx/2) + absolute, absolute for what underflows.
type nearestBound struct {
	relative, absolute float64
}

func newNearestBound(dim int) nearestBound {
	d := float64(dim)
	g := d * unit / (1 - float64(d*unit))
	b := nearestBound{relative: 2 * (g + 6*unit) / (1 - g), absolute: float64(16 * (d + 8) * tiny)}
	if d*unit > 0.1 {
		b.relative = math.Inf(1) // no bound
	}
	return b
}

// lowNorms sets low to the norms less what their scores may be too high by, but for the part of the row; false where
// there is no bound for one of them: nothing may overflow in a score.
func (b nearestBound) lowNorms(low, norms []float32) bool {
	for j, n := range norms {
		if !(n <= maxNorm && b.relative < 1) {
			return false
		}
		low[j] = roundDown32(float64(n) - float64(b.relative*float64(n)) - b.absolute)
	}
	return true
}

// limit returns the score up to which a center may be as near to a row as the center of the least score, number at:
// twice the parts of that center, since they were taken off its score, and of the row. +Inf where there is no bound.
func (b nearestBound) limit(least, xNorm float32, norms []float32, at int32) float64 {
	if !(xNorm <= maxNorm) {
		return math.Inf(1)
	}
	return float64(least) + float64(b.relative*(float64(2*float64(norms[at]))+float64(xNorm))) + float64(2*b.absolute)
}
