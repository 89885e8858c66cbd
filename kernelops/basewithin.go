package kernelops

import "math"

// PackWithin is PackFor for SearchWithin: most are the distances for x.
func (b *Base) PackWithin(s *Set, y, x Matrix, most []float64, queries int, ws *Workspace) {
	b.pack(s, y, byteTrial{x: x, most: most, within: true, queries: queries}, byteKind{}, ws)
}

// SearchWithin finds all rows of the base that are at most as far from row i of x as most[i], exactly:
//
//	for i := range x.Rows {
//		for j := range y.Rows {
//			if d := sqDist64(x.Row(i), y.Row(j)); d < +Inf && d <= most[i] { found(i, j, d) }
//		}
//	}
//
// in any order. Where found returns false, it is not called for row i any more. The sets with a filter compute those
// distances alone that may be within most[i], as Search does. It uses one goroutine.
func (b *Base) SearchWithin(x Matrix, most []float64, found func(i, row int, dist float64) bool, ws *Workspace) {
	checkPair(x, b.rows)
	switch {
	case len(most) != x.Rows:
		panic("kernelops: limits have the wrong length")
	case b.bytes.products:
		panic("kernelops: the base is packed for products")
	}
	b.searchWithin(x, most, found, b.packed, ws)
}

// searchWithin is SearchWithin, by bytes or not.
func (b *Base) searchWithin(x Matrix, most []float64, found func(i, row int, dist float64) bool, bytes bool,
	ws *Workspace) {
	if x.Rows == 0 || b.rows.Rows == 0 {
		return
	}
	if !bytes {
		b.measure(x, ws)
	}
	ws.divide(1, 1, func(sc *scratch, _, _ int) {
		q := newQueries(b.set, 0, x, b.rows, most)
		for i := range q.list {
			q.list[i].found = func(row int, dist float64) bool { return found(i, row, dist) }
		}
		q.run(b.set, b, bytes, sc)
	})
}

// pendingWithin is how many rows a query within a distance scores at a time.
const pendingWithin = 64

// within takes the distance of a row, of a search that lists all rows within one.
func (q *query) within(dist float64, row int) {
	if !(dist <= q.limit && dist < math.Inf(1)) {
		return
	}
	if !q.found(row, dist) {
		q.limit = -math.MaxFloat64
	}
}
