package kernelops

import (
	"math"
	"math/bits"
)

// nearest is a list of at most k rows, ordered by (distance, row).
type nearest struct {
	k     int
	rows  []int
	dists []float64
}

// offer puts the row into the list if it belongs there. NaN and +Inf never do.
func (n *nearest) offer(dist float64, row int) {
	if !(dist < math.Inf(1)) || len(n.rows) == n.k && !n.before(dist, row, n.k-1) {
		return
	}
	if len(n.rows) < n.k {
		n.rows, n.dists = append(n.rows, 0), append(n.dists, 0)
	}
	i := len(n.rows) - 1
	for ; i > 0 && n.before(dist, row, i-1); i-- {
		n.rows[i], n.dists[i] = n.rows[i-1], n.dists[i-1]
	}
	n.rows[i], n.dists[i] = row, dist
}

// before reports whether (dist, row) comes before entry i.
func (n *nearest) before(dist float64, row, i int) bool {
	return dist < n.dists[i] || dist == n.dists[i] && row < n.rows[i]
}

// worst is the distance of entry k, +Inf while there are fewer.
func (n *nearest) worst() float64 {
	if len(n.rows) < n.k {
		return math.Inf(1)
	}
	return n.dists[n.k-1]
}

// checkTop panics unless the results have room for k of every row of x.
func checkTop(ids []int, dists, k int, x, y Matrix) {
	checkPair(x, y)
	if k < 1 || len(ids) != x.Rows*k || dists != x.Rows*k {
		panic("kernelops: result has the wrong shape")
	}
}

// TopK finds the k rows of y that are nearest to each row of x by the float32 distance of
// SqDists, without writing the matrix of distances:
//
//	ids[i*k:][:k], dists[i*k:][:k] = the first k of the pairs (j, d), d = SqDists(i, j) < +Inf,
//		in the order of (d, j)
//
// Where there are fewer, id -1 and distance +Inf fill up. NaN and +Inf are never among them. The
// distances have the errors of SqDists; Search has none.
func (s *Set) TopK(ids []int, dists []float32, k int, x, y Matrix, ws *Workspace) {
	checkTop(ids, len(dists), k, x, y)
	ws.yNorms = s.norms(measure{kind: sqDist}, resize(ws.yNorms, y.Rows), y, ws)
	ws.divide(x.Rows, maxWidth, func(sc *scratch, from, to int) {
		rows := x.RowRange(from, to)
		n := rows.Rows + maxWidth // as scan wants
		t := topK{
			k: k, base: ws.yNorms, lists: make([]nearest, rows.Rows),
			limits: make([]float32, n), norms: make([]float32, n),
		}
		for i := range t.lists {
			t.lists[i].k, t.limits[i] = k, math.MaxFloat32
		}
		s.sqNorms(t.norms[:rows.Rows], rows, sc)
		if s.matrix == nil || x.Cols == 0 {
			t.generic(rows, y, ws.yNorms)
		} else {
			s.matrix.scan(&t, rows, y, t.norms, ws.yNorms, t.limits, s.matrix.within, sc)
		}
		for i, list := range t.lists {
			for j := range k {
				ids[(from+i)*k+j], dists[(from+i)*k+j] = -1, float32(math.Inf(1))
				if j < len(list.rows) {
					ids[(from+i)*k+j], dists[(from+i)*k+j] = list.rows[j], float32(list.dists[j])
				}
			}
		}
	})
}

// topK is the state of TopK for some rows of x.
type topK struct {
	k      int
	lists  []nearest
	norms  []float32
	limits []float32 // the largest distance that still enters the list
	base   []float32 // norms of the rows of y
}

func (t *topK) generic(x, y Matrix, yNorms []float32) {
	for i := range t.lists {
		for j := range y.Rows {
			t.lists[i].offer(float64(sqDistOf(chain32(x.Row(i), y.Row(j), 0), t.norms[i], yNorms[j])), j)
		}
	}
}

func (t *topK) hit(i, j int, dot float32) {
	t.lists[i].offer(float64(sqDistOf(dot, t.norms[i], t.base[j])), j)
	if len(t.lists[i].rows) == t.k {
		// A tie does not enter: the rows of y come in order.
		t.limits[i] = math.Nextafter32(float32(t.lists[i].worst()), float32(math.Inf(-1)))
	}
}

// hits takes what a scan finds: row i of x, row j of y, and their dot product.
type hits interface {
	hit(i, j int, dot float32)
}

// scan streams the rows of y past the packed rows of x, and reports the pairs whose distance, from
// the norms given, passes the test against the limit of i. What hit does to limits holds from
// the next block on. The arrays for x have maxWidth elements more than x rows.
func (m *matrixSet) scan(h hits, x, y Matrix, xNorms, yNorms, limits []float32, test limitTest, sc *scratch) {
	sc.packed.pack(m, x)
	sc.hits = resize(sc.hits, blockRows)
	sc.meet(y, &sc.packed, func(part []panel, first int, rows Matrix) {
		for p := range part {
			l := &part[p]
			dots := sc.block(l, rows, goal{})
			test(&sc.hits[0], &dots[0], &yNorms[first], &xNorms[l.first], &limits[l.first], rows.Rows, l.width/m.lanes)
			l.report(h, sc.hits[:rows.Rows], dots, first)
		}
	})
}

// report calls h for the bits of found, a word for each row of y from first on.
func (p *panel) report(h hits, found []uint64, dots []float32, first int) {
	valid := p.valid()
	for r, word := range found {
		for word &= valid; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			h.hit(p.first+i, first+r, dots[r*p.width+i])
		}
	}
}
