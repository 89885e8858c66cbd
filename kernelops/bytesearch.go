package kernelops

import "math"

// throughBytes scans the rows of the base as 8 bits. Queries that these leave too many rows of go on in float32.
func (q *queries) throughBytes(s *Set, b *byteBase, sc *scratch) {
	n, tile := s.bytes.queries, s.bytes.tile
	if q.x.Rows <= fewQueries {
		n, tile = 1, s.bytes.one
	}
	q.rest(s, sc.bytes.take(s.bytes, n, q.x, b), 0, sc)
	for i := range q.list {
		q.list[i].whole = b.exact && sc.bytes.known[i].exact
	}
	grace := 4*q.list[0].best.k + byteWidth + min(byteGrace, b.rows/byteShare*2)
	interest := func(i int) float64 { return q.list[i].interest() }
	sc.bytes.relimit(interest) // what is known before
	panels := panelCount(b.rows)
	part := max(1, bytePart/(b.groups*byteGroup*byteWidth))
	for p := 0; p < panels; {
		end := min(panels, p+max(1, min(part, p))) // so that limits are close to the last ones early on
		sc.bytes.scan(tile, p, end, q.near)
		switch {
		case q.list[0].found != nil:
			q.scorePending(1)
		case end >= part: // before, most of what is scored is not among the nearest
			q.scorePending(scoredRows)
		}
		most := end*byteWidth/byteShare + grace
		q.rest(s, sc.bytes.drop(most, func(i int) bool { return q.list[i].cheap() }), end*byteWidth, sc)
		sc.bytes.relimit(interest)
		p = end
	}
	q.scorePending(1)
}

// scorePending scores what is pending of the queries that have that much of it.
func (q *queries) scorePending(least int) {
	for i := range q.list {
		if l := &q.list[i]; len(l.pending) >= least {
			l.finish()
		}
	}
}

const (
	// byteShare: where bytes leave more than one row in that number, float32 is faster.
	byteShare = 32
	// byteGrace is how many rows beyond that may be left, at most, while limits are not yet close to the last ones:
	// nothing but ties takes some hundreds to find k of the nearest.
	byteGrace = 1024
)

// near takes what a scan of bytes finds.
func (q *queries) near(i, row int, low, high float64) float64 {
	l := &q.list[i]
	if l.whole {
		l.score(low, row)
	} else {
		l.consider(row, low, high)
	}
	return l.interest()
}

// cheap reports whether float32 is not faster whatever bytes leave: all of it is listed, and nothing is scored.
func (q *query) cheap() bool { return q.whole && q.found != nil }

// interest is the largest distance of interest. Of exact rows, whose distances are whole numbers and which come in
// order, one as far as the k-th is not.
func (q *query) interest() float64 {
	if q.whole && q.limit < q.most {
		return q.limit - 1
	}
	return q.limit
}

// rest scans the rows of y from one on in float32, for some queries.
func (q *queries) rest(s *Set, some []int, from int, sc *scratch) {
	if q.left != nil {
		for _, i := range some {
			q.left[i] = true
		}
		return
	}
	if len(some) == 0 || from >= q.y.Rows {
		return
	}
	rest := queries{y: q.y.RowRange(from, q.y.Rows), x: NewMatrix(len(some), q.x.Cols), filter: q.filter, first: from}
	for n, i := range some {
		copy(rest.x.Row(n), q.x.Row(i))
		rest.list = append(rest.list, q.list[i])
	}
	if len(some) <= fewQueries {
		rest.each(s, sc)
	} else {
		rest.yNorms = make([]float32, rest.y.Rows)
		s.sqNorms(rest.yNorms, rest.y, sc)
		rest.scanned(s, rest.filter.lowNorms(make([]float32, rest.y.Rows), rest.yNorms), sc)
	}
	for n, i := range some {
		rest.list[n].finish()
		q.list[i] = rest.list[n]
	}
}

// drop takes the queries with more hits than most out of the scan, without those that stay.
func (q *byteQueries) drop(most int, stays func(i int) bool) (dropped []int) {
	for place, i := range q.order {
		if q.found[place] > most && !stays(i) {
			dropped = append(dropped, i)
			q.limits[place], q.starts[place] = -math.MaxFloat32, noHits
			q.out[place], q.found[place] = true, 0
			q.live[place/q.n]--
		}
	}
	return dropped
}
