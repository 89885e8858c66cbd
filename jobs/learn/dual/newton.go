package dual

import "math"

// Near returns the best coefficient of a record that is short of its target by short, while it is held near a center:
// the one within its bounds that maximizes
//
//	alpha short - epsilon |alpha| - q alpha^2/2 - pull (alpha - center)^2 / (2 cost)
//
// with that maximum as value, and bend, the derivative of alpha by short: 0 at a bound and where a tube holds alpha at
// 0. The cost is above 0, and so is pull, unless the loss curves its dual (q above 0). (The proximal point method on
// the dual: Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
// programming", Mathematics of Operations Research 1, 1976.)
func (l Loss) Near(center, short, cost, pull float64) (alpha, value, bend float64) {
	if l.Form == Logistic {
		return nearLogistic(short, cost)
	}
	held, q := pull/cost, l.curvature(cost)
	slope := float64(held*center) + short // at 0
	if l.Epsilon > 0 {
		slope = math.Copysign(max(0, math.Abs(slope)-l.Epsilon), slope)
	}
	alpha, bend = slope/(held+q), 1/(held+q)
	if alpha <= l.lower(cost) || alpha >= l.Upper(cost) || (l.Epsilon > 0 && slope == 0) {
		bend = 0
	}
	alpha = l.within(alpha, cost)
	off := alpha - center
	value = float64(alpha*short) - float64(l.Epsilon*math.Abs(alpha)) -
		float64(float64(float64(q*alpha)*alpha)/2) - float64(float64(held*off)*off)/2
	return alpha, value, bend
}

// Square symmetric matrices are stored by the rows of their lower triangle.

// TriangleLen is the length of a matrix of n rows.
func TriangleLen(n int) int { return n * (n + 1) / 2 }

// AddOuter adds bend x x^T to a matrix, where x is all the numbers of a row.
func AddOuter(triangle, x []float64, bend float64) {
	at := 0
	for i, v := range x {
		row := triangle[at : at+i+1]
		if b := float64(bend * v); b != 0 {
			for j := range row {
				row[j] += float64(b * x[j])
			}
		}
		at += i + 1
	}
}

// Newton returns the step of Newton's method for the Hessian I + triangle. It solves (I + triangle) step = -gradient by
// Cholesky's factorization, which overwrites triangle. A pivot that rounding made less than 1, or less than 2^-46 of
// the diagonal value, is replaced by the larger of the two. O(n^3). (A semismooth Newton method: Qi and Sun, "A
// nonsmooth version of Newton's method", Mathematical Programming 58, 1993.)
func Newton(triangle, gradient []float64) (step []float64) {
	n := len(gradient)
	rows := make([][]float64, n)
	for i, at := 0, 0; i < n; i++ {
		rows[i] = triangle[at : at+i+1]
		rows[i][i]++
		at += i + 1
	}
	step = make([]float64, n)
	for i, row := range rows {
		for j := range i {
			row[j] = (row[j] - dot(row[:j], rows[j])) / rows[j][j]
		}
		row[i] = math.Sqrt(max(1, float64(0x1p-46*row[i]), row[i]-dot(row[:i], row)))
		step[i] = (-gradient[i] - dot(row[:i], step)) / row[i]
	}
	for i := n - 1; i >= 0; i-- {
		step[i] /= rows[i][i]
		for j := range i {
			step[j] -= float64(rows[i][j] * step[i])
		}
	}
	return step
}

// dot returns the product of x with the first len(x) numbers of y.
func dot(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(v * y[j])
	}
	return sum
}
