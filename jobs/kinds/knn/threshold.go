package knn

import (
	"slices"

	"github.com/gram-compute/gram/jobs/learn/inverted"
)

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
