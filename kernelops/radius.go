package kernelops

// RadiusCounts sets counts[i] to the number of rows of y within a squared distance of row i of x:
//
//	for j := range y.Rows {
//		if SqDists(i, j) <= sqRadius {
//			counts[i]++
//		}
//	}
//
// A NaN is not within anything.
func (s *Set) RadiusCounts(counts []int, sqRadius float32, x, y Matrix, ws *Workspace) {
	checkPair(x, y)
	if len(counts) != x.Rows {
		panic("kernelops: result has the wrong shape")
	}
	ws.yNorms = s.norms(measure{kind: sqDist}, resize(ws.yNorms, y.Rows), y, ws)
	ws.divide(x.Rows, maxWidth, func(sc *scratch, from, to int) {
		c := radius{counts: counts[from:to]}
		clear(c.counts)
		rows := x.RowRange(from, to)
		n := rows.Rows + maxWidth // as scan wants
		norms, limits := make([]float32, n), make([]float32, n)
		s.sqNorms(norms[:rows.Rows], rows, sc)
		for i := range limits {
			limits[i] = sqRadius
		}
		if s.matrix == nil || x.Cols == 0 {
			c.generic(rows, y, norms, ws.yNorms, sqRadius)
			return
		}
		if sqRadius >= 0 { // below 0 the distances are not clamped, and none is within
			s.matrix.scan(&c, rows, y, norms, ws.yNorms, limits, s.matrix.within, sc)
		}
	})
}

// radius is the state of RadiusCounts for some rows of x.
type radius struct{ counts []int }

func (c *radius) hit(i, _ int, _ float32) { c.counts[i]++ }

func (c *radius) generic(x, y Matrix, xNorms, yNorms []float32, sqRadius float32) {
	for i := range x.Rows {
		for j := range y.Rows {
			if sqDistOf(chain32(x.Row(i), y.Row(j), 0), xNorms[i], yNorms[j]) <= sqRadius {
				c.counts[i]++
			}
		}
	}
}
