package smo

import (
	"math"

	"github.com/gram-compute/gram/jobs/learn/dual"
)

// Nearest is what bounds the margin of a classifier from below: how far the f of the records of +1 reach down, and
// those of -1 up, each with its error. The zero value is of no use; NewNearest has no records.
type Nearest struct{ Above, Below float64 }

// NewNearest is that of no records.
func NewNearest() Nearest { return Nearest{math.Inf(1), math.Inf(-1)} }

// Add adds a record. The order of records does not count.
func (n *Nearest) Add(r Record) {
	off := float64((r.Error + float64(2*unit*(math.Abs(r.Value)+r.Error))) * slack) // the sum is rounded, too
	if r.Y > 0 {
		n.Above = min(n.Above, r.Value-off-tiny)
	} else {
		n.Below = max(n.Below, r.Value+off+tiny)
	}
}

// Merge adds the records of another.
func (n *Nearest) Merge(o Nearest) { n.Above, n.Below = min(n.Above, o.Above), max(n.Below, o.Below) }

// lostLength is more than a length loses to underflow; a bound below leastBound proves nothing.
const (
	lostLength = 0x1p-400
	leastBound = 0x1p-300
)

// Bounds returns the bounds on the largest margin of all machines of a free bias: the greatest, over b and w with
// |w| <= 1, of the least y_i (<w, phi(x_i)> + b). The standing has the sums over the coefficients, at any bias.
//
// Let w = sum of a_i y_i phi(x_i), and f_i = <w, phi(x_i)>.
//
//   - From below: at b = -(A + B)/2, with A the least f_i of +1 and B the greatest of -1, each y_i (f_i + b) is at
//     least (A - B)/2. So the largest margin is at least (A - B)/(2 |w|), the most that any bias gives w.
//   - From above: for coefficients a' >= 0 of equal sums S of both classes, and all (v, b) with |v| <= 1, the least
//     y_i (<v, phi(x_i)> + b) is at most its mean by a', (<v, w(a')> + b y'a')/(2 S) = <v, w(a')>/(2 S), as y'a' = 0,
//     and so at most |w(a')|/(2 S). Here w(a')/S is the difference of a point in the convex hull of each class, so the
//     largest margin is half the distance of both hulls, or 0 where they meet (Bennett and Bredensteiner, "Duality and
//     geometry in SVM classifiers", ICML 2000; Keerthi and others, "A fast iterative nearest point algorithm for
//     support vector machine classifier design", IEEE Transactions on Neural Networks 11, 2000).
//
// The stored a have y'a = e, not 0. Those of the larger class are scaled down to the sum of the other (see the
// package), so that 2 S = sum of a - |e|, and |w(a')| <= |w| + |e| kappa. All errors count: those of f, of the sums,
// and of the bounds themselves. So the bounds are a theorem for each positive semidefinite kernel, and none for others.
func Bounds(s Standing, n Nearest) dual.Margin {
	m := dual.Unbounded()
	e := s.errors()
	square := max(0, s.Quadratic) + float64(slack*(e[roundedQuadratic]+e[offQuadratic]+tiny))
	length := float64(math.Sqrt(square)*(1+8*unit)) + lostLength
	if lo := float64((n.Above - n.Below) / 2 / length * (1 - 8*unit)); lo > leastBound && lo <= math.MaxFloat64 {
		m.Lo = lo
	}
	off := float64(slack * (math.Abs(s.Balance) + e[roundedSize]))
	sum := float64((s.Size - off) * (1 - 4*unit))
	length += float64(slack * float64(off*math.Sqrt(s.Diagonal)))
	if hi := float64(length / sum * (1 + 8*unit)); sum > 0 && hi < m.Hi {
		m.Hi = hi
	}
	return m
}
