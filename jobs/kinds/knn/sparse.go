package knn

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs/learn/inverted"
	"github.com/gram-compute/gram/jobs/learn/rows"
)

// crossing is what the search of sparse rows by columns has in memory: see doc.go, Sparse rows. One goroutine at a
// time.
type crossing struct {
	block  inverted.Block
	sums   inverted.Sums
	xSizes []float64 // of each query
	ySizes []float64 // of each row of the block
	filter filter
	spread []float32 // a query with its zeros, while it is compared; else zeros
	filled bool
	steps  []step
	near   []int32   // see candidates
	lowest []float64 // bounds of the lowest keys
}

// sparse enters the rows of base, a block of columns at a time.
func (s *searcher) sparse(ctx context.Context, base *points) error {
	c := &s.crossing
	c.filter = newFilter(base.Width)
	if len(c.xSizes) < s.queries.N {
		c.xSizes = s.sizes(nil, s.queries, 0, s.queries.N)
	}
	for from := 0; from < base.N; from += inverted.MostRows {
		to := min(base.N, from+inverted.MostRows)
		c.block.Build(&base.Rows, from, to)
		c.ySizes = s.sizes(c.ySizes, base, from, to)
		err := s.each(ctx, func(q int) error {
			defer c.clear(s.queries, q)
			if s.of == linf || s.of == minkowski {
				return s.farthest(q, base, from)
			}
			return s.shared(q, base, from)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Products of a dense kernel in the time of one entry that two sparse rows share, about.
const (
	denseDots        = 64
	denseDifferences = 16
)

// thin reports whether queries and base share so few entries that a search by columns takes less time than one of dense
// rows, by the first block. Both find the same.
func (s *searcher) thin(base *points) bool {
	c := &s.crossing
	c.block.Build(&base.Rows, 0, min(base.N, inverted.MostRows))
	shared := 0.0
	for _, j := range s.queries.Sparse.Indices {
		shared += float64(c.block.Entries(j))
	}
	speed := float64(denseDots)
	if s.of != l2 && s.of != cosine && s.of != innerProduct {
		speed = denseDifferences
	}
	return float64(shared*speed) <= float64(float64(s.queries.N)*float64(c.block.N))*float64(base.Width)
}

// sizes are what a metric bounds distances by: the norms of rows, for l2 their squares, for l1 and linf the norms of
// these, for minkowski that of linf.
func (s *searcher) sizes(dst []float64, p *points, from, to int) []float64 {
	dst = dst[:0]
	for i := from; i < to; i++ {
		indices, values := p.Sparse.Row(i)
		size := 0.0
		switch s.of {
		case l1:
			for _, v := range values {
				size += math.Abs(float64(v))
			}
		case linf, minkowski:
			for _, v := range values {
				size = max(size, math.Abs(float64(v)))
			}
		default:
			size = sparseSquare(indices, values)
			if s.of != l2 {
				size = math.Sqrt(size)
			}
		}
		dst = append(dst, size)
	}
	return dst
}

// sparseSquare is dot64 of a row with itself: a zero adds nothing to a lane.
func sparseSquare(indices []int32, values []float32) float64 {
	var lane [lanes]float64
	for e, j := range indices {
		lane[j%lanes] += float64(float64(values[e]) * float64(values[e]))
	}
	return sum(&lane)
}

// least are at and slope such that a row of the size y is passed over if what it shares with the query is below at +
// slope * y: then its key is beyond worst. NaN says nothing.
func (c *crossing) least(of metric, worst, x float64) (at, slope float64) {
	slack := c.filter.square
	switch of {
	case innerProduct:
		return -worst - float64(math.Abs(worst)*8*unit64), float64(-slack * x)
	case cosine:
		return 0, float64((1 - worst - float64(2*slack)) * x)
	case l1:
		return float64(x*(1-slack)) - float64(worst*(1+8*unit64)), 1 - slack
	}
	return float64(x*(0.5-float64(2*slack))) - float64(worst*(0.5+4*unit64)), 0.5 - float64(2*slack)
}

// shared enters the rows of the block whose sum of what they share with query q does not rule them out.
func (s *searcher) shared(q int, base *points, first int) error {
	c, x := &s.crossing, s.crossing.xSizes[q]
	indices, values := s.queries.Sparse.Row(q)
	if s.of == l1 {
		c.block.Common(&c.sums, indices, values)
	} else {
		c.block.Dots(&c.sums, indices, values, s.ops)
	}
	bound := s.candidates(q, base, first)
	for _, r := range c.near {
		worst, y := min(bound, s.found.worst(q)), c.ySizes[r]
		at, slope := c.least(s.of, worst, x)
		if c.sums[r] < at+float64(slope*y) {
			continue
		}
		j := first + int(r)
		if err := s.enter(q, c.key(s.of, s.queries, q, base, j, x, y), base, j); err != nil {
			return err
		}
	}
	return nil
}

// order64 is what orders the rows from first on where distances are equal.
func (p *points) order64(first int) []int64 {
	if p.place == nil {
		return p.ids[first:]
	}
	return p.place[first:]
}

// open is an id from which on the list of query q takes no row that shares no column with it: by cosine and
// inner_product all those have one key.
func (s *searcher) open(q int) int64 {
	switch s.of {
	case innerProduct:
		return s.found.open(q, 0)
	case cosine:
		return s.found.open(q, 1)
	}
	return math.MaxInt64
}

// open is an id from which on the list of query q takes no neighbor with a key.
func (l *lists) open(q int, key float64) int64 {
	if l.k == 0 {
		if l.of.distance(key) <= l.radius {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	row := l.rows[q]
	switch {
	case len(row) < l.k || key < row[l.k-1].key:
		return math.MaxInt64
	case key == row[l.k-1].key:
		return row[l.k-1].id
	}
	return math.MinInt64
}

// farthest is linf and minkowski. A distance is at least the largest difference in a column that both rows have, and at
// least the difference of their norms; where they share no column it is at least the larger norm, and by linf is it.
func (s *searcher) farthest(q int, base *points, first int) error {
	c, x := &s.crossing, s.crossing.xSizes[q]
	indices, values := s.queries.Sparse.Row(q)
	c.block.Farthest(&c.sums, indices, values)
	worst := s.found.worst(q)
	tied := s.found.open(q, worst)
	sums, ids := c.sums[:len(c.ySizes)], base.order64(first)
	for r, y := range c.ySizes {
		known, apart := max(sums[r], math.Abs(x-y)), inverted.Apart(sums[r])
		if apart {
			known = max(x, y)
		}
		if known > worst || known == worst && ids[r] >= tied {
			continue
		}
		if c.merge(&s.queries.Rows, q, &base.Rows, first+r); s.of == minkowski {
			known = s.power.along(c.steps)
		} else if !apart {
			known = linf.along(c.steps)
		}
		if err := s.enter(q, known, base, first+r); err != nil {
			return err
		}
		worst = s.found.worst(q)
		tied = s.found.open(q, worst)
	}
	return nil
}

// key is the key of query q and row j of the base, to the bit that of the rows with their zeros.
func (c *crossing) key(of metric, queries *points, q int, base *points, j int, x, y float64) float64 {
	switch of {
	case innerProduct:
		return 0 - c.dot(queries, q, base, j)
	case cosine:
		return 1 - cosineOf(c.dot(queries, q, base, j), x, y)
	}
	c.merge(&queries.Rows, q, &base.Rows, j)
	return of.along(c.steps)
}

// dot is dot64 of query q and row j of the base.
func (c *crossing) dot(queries *points, q int, base *points, j int) float64 {
	if !c.filled {
		c.spread = append(c.spread, make([]float32, max(0, queries.Width-len(c.spread)))...)
		indices, values := queries.Sparse.Row(q)
		for e, i := range indices {
			c.spread[i] = values[e]
		}
		c.filled = true
	}
	var lane [lanes]float64
	indices, values := base.Sparse.Row(j)
	for e, i := range indices {
		lane[i%lanes] += float64(float64(c.spread[i]) * float64(values[e]))
	}
	return sum(&lane)
}

// clear takes query q out of spread.
func (c *crossing) clear(queries *points, q int) {
	if !c.filled {
		return
	}
	indices, _ := queries.Sparse.Row(q)
	for _, i := range indices {
		c.spread[i] = 0
	}
	c.filled = false
}

// step is a column that one of two rows has, or both.
type step struct {
	lane int32
	t    float64 // x - y
}

// merge goes along the columns that query q or row j of the base has, ascending.
func (c *crossing) merge(queries *rows.Rows, q int, base *rows.Rows, j int) {
	c.steps = c.steps[:0]
	xs, x := queries.Sparse.Row(q)
	ys, y := base.Sparse.Row(j)
	for len(xs) > 0 || len(ys) > 0 {
		switch {
		case len(ys) == 0 || len(xs) > 0 && xs[0] < ys[0]:
			c.steps = append(c.steps, step{xs[0] % lanes, float64(x[0])})
			xs, x = xs[1:], x[1:]
		case len(xs) == 0 || ys[0] < xs[0]:
			c.steps = append(c.steps, step{ys[0] % lanes, 0 - float64(y[0])})
			ys, y = ys[1:], y[1:]
		default:
			c.steps = append(c.steps, step{xs[0] % lanes, float64(x[0]) - float64(y[0])})
			xs, x, ys, y = xs[1:], x[1:], ys[1:], y[1:]
		}
	}
}

// along is the key of two rows by their differences in columns that ascend; in all others both are 0.
func (m metric) along(steps []step) float64 {
	var lane [lanes]float64
	most := 0.0
	for _, s := range steps {
		switch m {
		case linf:
			most = max(most, math.Abs(s.t))
		case l1:
			lane[s.lane] += math.Abs(s.t)
		default:
			lane[s.lane] += float64(s.t * s.t)
		}
	}
	if m == linf {
		return most
	}
	return sum(&lane)
}
