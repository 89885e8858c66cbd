package knn

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/inverted"
)

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
	if of == innerProduct {
		return -worst - float64(math.Abs(worst)*8*unit64)
	}
	// the key of a zero row is 1, whatever the product
	if x == 0 || y == 0 {
		return -inf
	}
	return float64(float64(1-worst) * float64(x*y))
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

// candidates gathers the rows of the block whose sums do not rule them out of the list of query q, and returns a key
// beyond which none can enter it. The sums bound keys from both sides, so a row is left out where enough others are
// proved to have lower keys, before any is computed.
func (s *searcher) candidates(q int, base *points, first int) (bound float64) {
	c, x, open, need := &s.crossing, s.crossing.xSizes[q], s.open(q), s.found.k
	if s.own {
		need++ // the query's own record takes no place
	}
	c.near, c.lowest, bound = c.near[:0], c.lowest[:0], s.found.worst(q)
	if s.found.k > 0 {
		for _, n := range s.found.rows[q] {
			c.lowest = append(c.lowest, n.key)
		}
	}
	at, slope := c.least(s.of, bound, x)
	sums, ids := c.sums[:len(c.ySizes)], base.order64(first)
	for r, y := range c.ySizes {
		sum := sums[r]
		if sum < at+float64(slope*y) || inverted.Apart(sum) && ids[r] >= open {
			continue
		}
		c.near = append(c.near, int32(r))
		if s.found.k > 0 && c.lower(c.most(s.of, sum, x, y), need) {
			bound = min(bound, c.lowest[need-1])
			at, slope = c.least(s.of, bound, x)
		}
	}
	return bound
}

// lower takes in a bound of a key, and reports whether it changed the last of as many as are needed.
func (c *crossing) lower(key float64, need int) bool {
	switch n := len(c.lowest); {
	case key != key: // sizes of 0, or an overflow
		return false
	case n == need && !(key < c.lowest[n-1]):
		return false
	case n == need:
		c.lowest = c.lowest[:n-1]
	}
	place, _ := slices.BinarySearch(c.lowest, key)
	c.lowest = slices.Insert(c.lowest, place, key)
	return len(c.lowest) == need
}

// most is at least the key of a query and a row of some sizes that share a sum; +Inf and NaN say nothing. It is the
// other end of what least says.
func (c *crossing) most(of metric, sum, x, y float64) float64 {
	slack := float64(4 * c.filter.square)
	switch of {
	case innerProduct:
		return float64(slack*float64(x*y)) - sum
	case cosine:
		return 1 + slack - sum/float64(x*y)
	case l1:
		return float64((float64((x+y)*(1+slack)) - sum) * (1 + 16*unit64))
	}
	return float64((float64((x+y)*(1+slack)) - float64(2*sum)) * (1 + 16*unit64))
}
