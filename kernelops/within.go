package kernelops

import (
	"math"
	"slices"
)

// Within lists centers for each row of a matrix. The zero Within is ready; Find reuses its memory.
type Within struct {
	Start  []int     // the centers of row i are those from Start[i] up to, not including, Start[i+1]
	Index  []int32   // ascending for each row
	SqDist []float64 // of each center listed
}

// Row returns the centers of row i and their squared distances.
func (w *Within) Row(i int) ([]int32, []float64) {
	from, to := w.Start[i], w.Start[i+1]
	return w.Index[from:to], w.SqDist[from:to]
}

// Find lists the centers of each row of x that are nearest, or whose squared distance is greater by at most
// gap, which is not negative:
//
//	for i := range x.Rows {
//		least := the least distance that Nearest compares for row i
//		for j := range centers {
//			if d := the value of GroupDistances for row i and center j; d < +Inf && d <= least + gap {
//				append j and d to the list of row i
//			}
//		}
//	}
//
// The list of a row without a finite distance is empty. The sets with a filter compute those distances alone that the
// bound of Nearest, and the gap, do not rule out. It uses one goroutine. c must come from PackCenters of the same set.
func (w *Within) Find(s *Set, x Matrix, c *Centers, gap float64, ws *Workspace) {
	x.check()
	switch {
	case x.Cols != c.cols:
		panic("kernelops: points have different dimensions")
	case c.matrix != nil && c.matrix != s.matrix:
		panic("kernelops: centers packed for another kernel set")
	case !(gap >= 0):
		panic("kernelops: a gap below 0")
	}
	w.Start, w.Index, w.SqDist = append(w.Start[:0], 0), w.Index[:0], w.SqDist[:0]
	ws.divide(1, 1, func(sc *scratch, _, _ int) {
		for from := 0; from < x.Rows; from += blockRows {
			w.block(s, x.RowRange(from, min(from+blockRows, x.Rows)), c, gap, sc)
		}
	})
}

// block is Find for at most blockRows rows.
func (w *Within) block(s *Set, x Matrix, c *Centers, gap float64, sc *scratch) {
	n, filter := &sc.nearest, c.matrix != nil && c.rows > 1
	if filter {
		n.index = Resize(n.index, blockRows)
		s.lowestTwo(n.index[:x.Rows], x, c, sc)
		if c.direct {
			s.sqNorms(n.xNorms[:x.Rows], x, sc)
		}
	}
	for i := range x.Rows {
		if filter {
			// The scores of centers within the gap are up to the gap above the limit of the nearest. What the sum of
			// least and gap is rounded by is far below the share of float32 in the bound.
			limit := c.bound.limit(n.best[i], n.xNorms[i], c.norms, n.index[i]) + float64(gap*(1+0x1p-40))
			if float64(n.runners[i]) > limit {
				n.candidates = append(n.candidates[:0], n.index[i])
			} else {
				sc.collectNear(c, i, limit)
				slices.Sort(n.candidates)
			}
		} else {
			n.candidates = n.candidates[:0]
			for j := range c.rows {
				n.candidates = append(n.candidates, int32(j))
			}
		}
		n.dists = Resize(n.dists, len(n.candidates))
		s.distancesTo(n.dists, x.Row(i), c, n.candidates)
		least := math.Inf(1)
		for _, d := range n.dists {
			if d < least {
				least = d
			}
		}
		for at, d := range n.dists {
			if d < math.Inf(1) && d <= least+gap {
				w.Index, w.SqDist = append(w.Index, n.candidates[at]), append(w.SqDist, d)
			}
		}
		w.Start = append(w.Start, len(w.Index))
	}
}
