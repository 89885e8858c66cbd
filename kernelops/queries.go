package kernelops

import "math"

// queries is the state of Search for some rows of x.
type queries struct {
	x, y   Matrix
	list   []query
	filter filter
	norms  []float32 // of the rows of x
	yNorms []float32
	limits []float32 // the largest lower bound that is still of interest, a query each
	scorer scorer
	first  int    // what the first row of y is in that of the queries, which look at all
	left   []bool // of products: queries that 8 bits are of no use to
}

// newQueries is a search for the rows of x. most is the largest distance of interest, nil where all are.
func newQueries(s *Set, k int, x, y Matrix, most []float64) *queries {
	q := &queries{x: x, y: y, filter: newFilter(x.Cols), list: make([]query, x.Rows)}
	q.scorer.each = s.sqDistEach
	for i := range q.list {
		limit := math.Inf(1)
		if most != nil {
			limit = most[i]
		}
		q.list[i] = newQuery(k, x.Row(i), y, limit)
		q.list[i].scorer = &q.scorer
	}
	return q
}

func (q *queries) generic() {
	for i := range q.list {
		for j := range q.y.Rows {
			q.list[i].score(sqDist64(q.x.Row(i), q.y.Row(j)), j)
		}
	}
}

// together scans the rows of y against all queries at once.
func (q *queries) together(s *Set, b *Base, sc *scratch) {
	q.yNorms = b.norms
	q.scanned(s, b.low, sc)
	for i := range q.list {
		q.list[i].finish()
	}
}

// scanned is together for the norms of y less their share of the error.
func (q *queries) scanned(s *Set, yLow []float32, sc *scratch) {
	n := q.x.Rows + maxWidth
	q.norms, q.limits = make([]float32, n), make([]float32, n)
	s.sqNorms(q.norms[:q.x.Rows], q.x, sc)
	low := q.filter.lowNorms(make([]float32, n), q.norms)
	for i := range q.limits {
		q.limits[i] = float32(math.Inf(1))
		if i < len(q.list) {
			q.limits[i] = roundUp32(q.list[i].limit)
		}
	}
	s.matrix.scan(q, low, yLow, sc)
}

// hit takes what a scan finds: row i of x, row j of y, and their dot product.
func (q *queries) hit(i, j int, dot float32) {
	low, high := q.filter.bounds(dot, q.norms[i], q.yNorms[j])
	q.list[i].consider(q.first+j, low, high)
	q.limits[i] = roundUp32(q.list[i].limit)
}

// blockQuery is the number of distances from one query computed in one go.
const blockQuery = 256

// each scans the rows of y once for each query.
func (q *queries) each(s *Set, sc *scratch) {
	for i := range q.list {
		q.direct(s, i, sc)
		q.list[i].finish()
	}
}

// direct scans the rows of y for one query.
func (q *queries) direct(s *Set, i int, sc *scratch) {
	sc.dots = Resize(sc.dots, blockQuery)
	l := &q.list[i]
	limit := q.filter.directLimit(l.limit)
	for first := 0; first < q.y.Rows; first += blockQuery {
		rows := q.y.RowRange(first, min(first+blockQuery, q.y.Rows))
		dists := sc.dots[:rows.Rows]
		s.SqEuclideanRows(dists, rows, l.x)
		for j, d := range dists {
			if float64(d) > limit && d <= math.MaxFloat32 {
				continue
			}
			low, high := q.filter.directBounds(d)
			l.consider(q.first+first+j, low, high)
			limit = q.filter.directLimit(l.limit)
		}
	}
}

// query is the search for one row of x.
type query struct {
	x        []float32
	y        Matrix
	best     nearest     // scored in float64
	upper    nearest     // the k smallest upper bounds of what was considered
	pending  []contender // considered, not yet scored
	scorer   *scorer     // nil: one at a time
	products *productKey // nil: sqDist64
	most     float64     // the largest distance of interest
	limit    float64     // an upper bound of the k-th smallest distance of interest
	whole    bool        // bytes give the distances themselves, which are whole numbers

	found func(row int, dist float64) bool // takes all rows up to the limit; nil in a search for the nearest
}

// newQuery is a search for x, for rows that are at most that far away.
func newQuery(k int, x []float32, y Matrix, most float64) query {
	return query{x: x, y: y, best: nearest{k: k}, upper: nearest{k: k}, most: most, limit: most}
}

// contender is a row of y and a lower bound of its distance.
type contender struct {
	row int
	low float64
}

// score takes the distance of a row.
func (q *query) score(dist float64, row int) {
	if q.found != nil {
		q.within(dist, row)
		return
	}
	q.best.offer(dist, row)
	q.limit = min(q.limit, q.best.worst())
}

// consider takes a row between the bounds, or drops it if k others are certainly nearer.
func (q *query) consider(row int, low, high float64) {
	if low > q.limit {
		return
	}
	q.pending = append(q.pending, contender{row, low})
	if q.found != nil {
		if len(q.pending) >= pendingWithin {
			q.finish()
		}
		return
	}
	if high < q.limit { // else it cannot lower the limit, now or later
		q.upper.offer(high, row)
		q.limit = min(q.limit, q.upper.worst())
	}
	if most := 2*q.best.k + 64; len(q.pending) >= most {
		q.drop()
		if len(q.pending) > most/2 {
			q.finish()
		}
	}
}

// drop forgets the contenders that the limit, lower by now, excludes.
func (q *query) drop() {
	kept, limit := q.pending[:0], q.limit
	for _, c := range q.pending {
		if !(c.low > limit) {
			kept = append(kept, c)
		}
	}
	q.pending = kept
}

// exact is the distance of a row in float64.
func (q *query) exact(row int) float64 {
	if q.products != nil {
		return q.products.of(q.x, q.y.Row(row), row)
	}
	return sqDist64(q.x, q.y.Row(row))
}

// finish scores all contenders that are left.
func (q *query) finish() {
	if q.scorer != nil && q.scorer.each != nil && len(q.x) > 0 {
		q.scorer.finish(q)
	}
	for _, c := range q.pending {
		if !(c.low > q.limit) {
			q.score(q.exact(c.row), c.row)
		}
	}
	q.pending = q.pending[:0]
}

// scorer computes the distances of sqDist64 to several rows at once.
type scorer struct {
	each  func(dst *float64, rows **float32, x *float32, dim int) // nil where there is no code for it
	at    [scoredRows]*float32
	dists [scoredRows]float64
	rows  [scoredRows]int
}

// scoredRows is how many rows each takes.
const scoredRows = 4

// finish is that of a query.
func (s *scorer) finish(q *query) {
	n := 0
	for i, c := range q.pending {
		if !(c.low > q.limit) {
			s.at[n], s.rows[n] = &q.y.Data[c.row*q.y.Stride], c.row
			n++
		}
		if last := i == len(q.pending)-1; n == scoredRows || last && n > 0 {
			for j := n; j < scoredRows; j++ {
				s.at[j] = s.at[0]
			}
			s.each(&s.dists[0], &s.at[0], &q.x[0], len(q.x))
			for j, row := range s.rows[:n] {
				q.score(s.dists[j], row)
			}
			n = 0
		}
	}
	q.pending = q.pending[:0]
}
