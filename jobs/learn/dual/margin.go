package dual

import "math"

// Extent is what bounds the margin of a list of records: the least y <w, x>, and the lengths |x| of the shortest and of
// the longest row. The extent of no records is NoExtent.
type Extent struct{ Least, Shortest, Longest float64 }

// NoExtent is the extent of no records.
func NoExtent() Extent { return Extent{Least: math.Inf(1), Shortest: math.Inf(1)} }

// Join returns the extent of both lists of records.
func (e Extent) Join(f Extent) Extent {
	return Extent{min(e.Least, f.Least), min(e.Shortest, f.Shortest), max(e.Longest, f.Longest)}
}

// extend adds one record, whose row has that length. The zero value of a Standing has no records yet.
func (s *Standing) extend(margin, length float64) {
	one := Extent{margin, length, length}
	if s.Records == 0 {
		s.Extent = one
	} else {
		s.Extent = s.Join(one)
	}
}

// Margin bounds the largest margin of all machines: the greatest, over w with |w| <= 1, of the least y <w, x>. It is
// above 0 if and only if some machine separates the classes. It equals the length of the shortest weighted mean of the
// rows y x (the dual of the hard-margin problem: Bennett and Bredensteiner, "Duality and geometry in SVM
// classifiers", ICML 2000), so
//
//   - any w shows that it is at least the least y <w, x> / |w|;
//   - any coefficients alpha >= 0 show that it is at most |W(alpha)| / sum of alpha.
//
// Both bounds include their rounding. A Hi of 0 is an exact proof that no machine separates.
type Margin struct{ Lo, Hi float64 }

// Unbounded is a margin about which nothing is known.
func Unbounded() Margin { return Margin{0, math.MaxFloat64} }

// Squares near 0 underflow: a w whose computed square is below leastSquare gives no bound, and a computed length is
// less than the true one by at most lostLength, in up to 2^32 columns.
const (
	leastSquare = 0x1p-900
	lostLength  = 0x1p-500
)

// down and up make room for the rounding of a few operations.
const (
	down = 1 - 0x1p-50
	up   = 1 + 0x1p-50
)

// Bounds returns the bounds on the largest margin that weights w and coefficients alpha >= 0 give. all has all records
// at w and alpha; of differs from W(alpha) by at most drift.
func Bounds(w, of []float64, all Standing, drift float64) Margin {
	m := Unbounded()
	if all.Records == 0 || all.Least > math.MaxFloat64 {
		return m
	}
	if size := longest(w); size > math.Sqrt(leastSquare) {
		off := float64(float64(gamma(all.Terms+4)*size) * all.Longest)
		// A margin is computed as 1 - short.
		off += float64(float64(unit*(2+float64(4*math.Abs(all.Least)))) * slack)
		if lo := float64((all.Least - float64(off*slack) - tiny) / size * down); lo > 0 {
			m.Lo = lo
		}
	}
	m.Hi = min(m.Hi, float64(all.Shortest*(1+gamma(all.Terms+8)))+lostLength)
	total := all.Linear - float64(float64((gamma(all.Records+8)+2*unit)*all.Size)*slack)
	if hi := float64((longest(of) + drift) / total * up); total > 0 && hi < m.Hi {
		m.Hi = hi
	}
	return m
}

// longest bounds |w| by its computed length, tighter than norm.
func longest(w []float64) float64 {
	return float64(math.Sqrt(SquareOf(w))*(1+gamma(int64(len(w))+4))) + lostLength
}

// Join returns the intersection of two intervals for one margin.
func (m Margin) Join(n Margin) Margin { return Margin{max(m.Lo, n.Lo), min(m.Hi, n.Hi)} }

// Separates reports whether it is proved that a machine separates the classes.
func (m Margin) Separates() bool { return m.Lo > 0 }

// Valid reports whether the bounds can be those of a margin.
func (m Margin) Valid() bool { return m.Lo >= 0 && m.Lo <= m.Hi && m.Hi <= math.MaxFloat64 }

// HasMargin reports whether coefficients of the loss are at least 0 and large margins cost nothing, so that a machine
// trained with it bounds the largest margin.
func (l Loss) HasMargin() bool { return l.Form == Hinge || l.Form == SquaredHinge }
