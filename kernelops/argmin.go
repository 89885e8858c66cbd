package kernelops

import "math"

// Centroids are points packed for ArgMin, by one set and for it.
type Centroids struct {
	points Matrix
	norms  []float32 // squared; +Inf for the padding, which never wins
	packed panels
	matrix *matrixSet
}

// PackCentroids copies and packs the rows of y.
func (s *Set) PackCentroids(y Matrix) *Centroids {
	y.check()
	c := &Centroids{points: NewMatrix(y.Rows, y.Cols), norms: make([]float32, y.Rows+maxWidth), matrix: s.matrix}
	for i := range y.Rows {
		copy(c.points.Row(i), y.Row(i))
	}
	s.sqNorms(c.norms[:y.Rows], c.points, &scratch{})
	for i := y.Rows; i < len(c.norms); i++ {
		c.norms[i] = float32(math.Inf(1))
	}
	if y.empty() {
		c.matrix = nil
	}
	if c.matrix != nil {
		c.packed.pack(c.matrix, c.points)
	}
	return c
}

// ArgMin finds the centroid nearest to each row of x by the score |c|^2 - 2 x.c, which
// is the squared distance without |x|^2:
//
//	index[i], score[i] = -1, +Inf
//	for j := range centroids {
//		if s := fma32(-2, dot(i, j), norm[j]); s < score[i] {
//			index[i], score[i] = j, s
//		}
//	}
//	score[i] += 0 // a zero is +0
//
// with dot as in Dots and norm[j] the dot product of centroid j with itself. So ties go to the lower
// index, and neither a NaN nor +Inf ever wins. The n x k matrix is not written. c must come
// from PackCentroids of the same set.
func (s *Set) ArgMin(index []int32, score []float32, x Matrix, c *Centroids, ws *Workspace) {
	s.checkArgMin(index, score, x, c)
	ws.divide(x.Rows, blockRows, func(sc *scratch, from, to int) {
		c.eachBlock(index[from:to], score[from:to], x.RowRange(from, to), sc, func(int, int) {})
	})
}

func (s *Set) checkArgMin(index []int32, score []float32, x Matrix, c *Centroids) {
	checkPair(x, c.points)
	if len(index) != x.Rows || len(score) != x.Rows {
		panic("kernelops: result has the wrong shape")
	}
	if c.matrix != s.matrix && !c.points.empty() {
		panic("kernelops: centroids packed for another kernel set")
	}
}

// eachBlock sets index and score of the rows of x, a block at a time, and calls then on the rows
// [from, to) of each.
func (c *Centroids) eachBlock(index []int32, score []float32, x Matrix, sc *scratch, then func(from, to int)) {
	for from := 0; from < x.Rows; from += blockRows {
		to := min(from+blockRows, x.Rows)
		rows := x.RowRange(from, to)
		if c.matrix == nil {
			argMinGeneric(index[from:to], score[from:to], rows, c, sc)
		} else {
			sc.ahead.after(x, from)
			if rows.Rows < blockRows {
				sc.fillTail(rows)
			}
			c.argMinBlock(index[from:], score[from:], rows, sc)
		}
		then(from, to)
	}
	sc.ahead.left = nil
}

// argMinBlock sets index and score of the rows of x, at most blockRows.
func (c *Centroids) argMinBlock(index []int32, score []float32, x Matrix, sc *scratch) {
	m := c.matrix
	sc.scores = resize(sc.scores, blockRows*m.lanes)
	sc.columns = resize(sc.columns, blockRows*m.lanes)
	for p := range c.packed.list {
		l := &c.packed.list[p]
		dots := sc.block(l, x, goal{})
		m.lowest(&sc.scores[0], &sc.columns[0], &dots[0], &c.norms[l.first], x.Rows, l.width/m.lanes, l.first)
	}
	m.ofLanes(&score[0], &index[0], &sc.scores[0], &sc.columns[0], x.Rows)
}

func argMinGeneric(index []int32, score []float32, x Matrix, c *Centroids, sc *scratch) {
	k := c.points.Rows
	sc.dots = resize(sc.dots, 2*k)
	for first := 0; first < x.Rows; first += 2 {
		rows := x.RowRange(first, min(first+2, x.Rows))
		dots := Matrix{Data: sc.dots, Rows: rows.Rows, Cols: k, Stride: k}
		dotsGeneric(dots, rows, c.points)
		for r := range rows.Rows {
			best, at := float32(math.Inf(1)), int32(-1)
			for j, dot := range dots.Row(r) {
				if s := fma32(-2, dot, c.norms[j]); s < best {
					best, at = s, int32(j)
				}
			}
			index[first+r], score[first+r] = at, best+0
		}
	}
}
