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
}

func newQueries(k int, x, y Matrix) *queries {
	q := &queries{x: x, y: y, filter: newFilter(x.Cols), list: make([]query, x.Rows)}
	for i := range q.list {
		q.list[i] = query{x: x.Row(i), y: y, best: nearest{k: k}, upper: nearest{k: k}}
	}
	return q
}

func (q *queries) generic() {
	for i := range q.list {
		for j := range q.y.Rows {
			q.list[i].best.offer(sqDist64(q.x.Row(i), q.y.Row(j)), j)
		}
	}
}

// together scans the rows of y against all queries at once.
func (q *queries) together(s *Set, ws *Workspace, sc *scratch) {
	n := q.x.Rows + maxWidth
	q.yNorms = ws.yNorms
	q.norms, q.limits = make([]float32, n), make([]float32, n)
	s.sqNorms(q.norms[:q.x.Rows], q.x, sc)
	low := q.filter.lowNorms(make([]float32, n), q.norms)
	for i := range q.limits {
		q.limits[i] = float32(math.Inf(1))
	}
	s.matrix.scan(q, low, ws.lowNorms, sc)
	for i := range q.list {
		q.list[i].finish()
	}
}

// hit takes what a scan finds: row i of x, row j of y, and their dot product.
func (q *queries) hit(i, j int, dot float32) {
	low, high := q.filter.bounds(dot, q.norms[i], q.yNorms[j])
	q.list[i].consider(j, low, high)
	q.limits[i] = roundUp32(q.list[i].limit())
}

// blockQuery is the number of distances from one query computed in one go.
const blockQuery = 256

// each scans the rows of y once for each query.
func (q *queries) each(s *Set, sc *scratch) {
	sc.dots = Resize(sc.dots, blockQuery)
	for i := range q.list {
		l := &q.list[i]
		limit := math.Inf(1)
		for first := 0; first < q.y.Rows; first += blockQuery {
			rows := q.y.RowRange(first, min(first+blockQuery, q.y.Rows))
			dists := sc.dots[:rows.Rows]
			s.SqEuclideanRows(dists, rows, l.x)
			for j, d := range dists {
				if float64(d) > limit && d <= math.MaxFloat32 {
					continue
				}
				low, high := q.filter.directBounds(d)
				l.consider(first+j, low, high)
				limit = q.filter.directLimit(l.limit())
			}
		}
		l.finish()
	}
}

// query is the search for one row of x.
type query struct {
	x       []float32
	y       Matrix
	best    nearest     // scored in float64
	upper   nearest     // the k smallest upper bounds of what was considered
	pending []contender // considered, not yet scored
}

// contender is a row of y and a lower bound of its distance.
type contender struct {
	row int
	low float64
}

// limit is an upper bound of the k-th smallest distance.
func (q *query) limit() float64 { return min(q.upper.worst(), q.best.worst()) }

// consider takes a row between the bounds, or drops it if k others are certainly nearer.
func (q *query) consider(row int, low, high float64) {
	if low > q.limit() {
		return
	}
	q.pending = append(q.pending, contender{row, low})
	q.upper.offer(high, row)
	if most := 2*q.best.k + 64; len(q.pending) >= most {
		q.drop()
		if len(q.pending) > most/2 {
			q.finish()
		}
	}
}

// drop forgets the contenders that the limit, lower by now, excludes.
func (q *query) drop() {
	kept, limit := q.pending[:0], q.limit()
	for _, c := range q.pending {
		if !(c.low > limit) {
			kept = append(kept, c)
		}
	}
	q.pending = kept
}

// finish scores all contenders that are left.
func (q *query) finish() {
	for _, c := range q.pending {
		if !(c.low > q.limit()) {
			q.best.offer(sqDist64(q.x, q.y.Row(c.row)), c.row)
		}
	}
	q.pending = q.pending[:0]
}
