package kernelops

import (
	"math"
	"math/bits"
)

// searchLanes is the number of partial sums of a float64 distance: part of what it means.
const searchLanes = 8

// sqDist64 returns the squared distance of x and y in float64, by 8 lanes and a tree:
//
//	for i := range x {
//		t := float64(x[i]) - float64(y[i])
//		lane[i%8] += float64(t * t)
//	}
//	for h := 4; h > 0; h /= 2 {
//		for j := range h {
//			lane[j] += lane[j+h]
//		}
//	}
func sqDist64(x, y []float32) float64 {
	var lane [searchLanes]float64
	y = y[:len(x)]
	i := 0
	for ; i+searchLanes <= len(x); i += searchLanes {
		a, b := (*[searchLanes]float32)(x[i:]), (*[searchLanes]float32)(y[i:])
		for j := range lane {
			t := float64(a[j]) - float64(b[j])
			lane[j] += float64(t * t)
		}
	}
	for j := range x[i:] {
		t := float64(x[i+j]) - float64(y[i+j])
		lane[j] += float64(t * t)
	}
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}

// Search finds the k rows of y nearest to each row of x, exactly:
//
//	ids[i*k:][:k], dists[i*k:][:k] = the first k of the pairs (j, d), d = sqDist64(x.Row(i), y.Row(j)) < +Inf,
//		in the order of (d, j)
//
// where sqDist64 is the float64 sum by 8 lanes that docs/numerics.md defines. Where there are
// fewer, id -1 and distance +Inf fill up. NaN and +Inf are never among them.
//
// The generic set is that loop. The others filter first and keep every row whose distance could be among the first k by
// the error bound of the filter, or is not finite there; what is kept is scored in float64. Many queries at a time are
// compared by products of 8 bits where the CPU has an instruction for them and a sample says that they tell rows apart,
// else by products in float32; few are a scan at the speed of memory. All give the same answer. The bound of float32 is
// relative to the norms, so data far from the origin are answered as exactly but less quickly. Who searches the same
// rows again and again has them packed once, in a Base.
func (s *Set) Search(ids []int, dists []float64, k int, x, y Matrix, ws *Workspace) {
	checkTop(ids, len(dists), k, x, y)
	ws.base.PackFor(s, y, x, nil, x.Rows, ws)
	ws.base.Search(ids, dists, k, x, nil, ws)
	ws.base.set, ws.base.rows = nil, Matrix{} // not ours to keep
}

// checkTop panics unless the results have room for k of every row of x.
func checkTop(ids []int, dists, k int, x, y Matrix) {
	checkPair(x, y)
	if k < 1 || len(ids) != x.Rows*k || dists != x.Rows*k {
		panic("kernelops: result has the wrong shape")
	}
}

// fewQueries are searched one at a time.
const fewQueries = 2

// store writes the list up to the largest distance of interest, filled up to the length of ids.
func (n *nearest) store(ids []int, dists []float64, most float64) {
	for j := range ids {
		ids[j], dists[j] = -1, math.Inf(1)
		if j < len(n.rows) && n.dists[j] <= most {
			ids[j], dists[j] = n.rows[j], n.dists[j]
		}
	}
}

// scan streams the rows of y past the packed rows of x, and reports the pairs whose distance, from the norms given, is
// not beyond the limit of the query. What hit does to limits holds from the next block on. The norms of x have maxWidth
// elements more than x has rows.
func (m *matrixSet) scan(q *queries, xNorms, yNorms []float32, sc *scratch) {
	sc.packed.pack(m, q.x)
	sc.hits = Resize(sc.hits, blockRows)
	sc.meet(q.y, &sc.packed, func(part []panel, first int, rows Matrix) {
		for p := range part {
			l := &part[p]
			dots := sc.block(l, rows, goal{})
			m.notBeyond(&sc.hits[0], &dots[0], &yNorms[first], &xNorms[l.first], &q.limits[l.first], rows.Rows,
				l.width/m.lanes)
			l.report(q, sc.hits[:rows.Rows], dots, first)
		}
	})
}

// report calls q.hit for the bits of found, a word for each row of y from first on.
func (p *panel) report(q *queries, found []uint64, dots []float32, first int) {
	valid := p.valid()
	for r, word := range found {
		for word &= valid; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			q.hit(p.first+i, first+r, dots[r*p.width+i])
		}
	}
}
