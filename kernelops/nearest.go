package kernelops

import "math"

// Centers are float64 points packed for Nearest, by one set and for it.
type Centers struct {
	values []float64 // as they were given
	rows   int
	cols   int
	origin []float32 // the origin, once for every row of a block
	direct bool      // the centers are near zero, as seen from each other: rows are taken as they are

	matrix *matrixSet // nil where every distance is computed in float64
	packed panels     // the points less the origin, in float32
	norms  []float32  // their squared norms
	low    []float32  // the same less their share of the error; +Inf for the padding, which never wins
	bound  nearestBound
}

// PackCenters packs the rows of values, len(origin) numbers each. The origin changes no result of Nearest. The nearer
// it is to the points and the rows, the fewer distances are computed in float64: the mean of the rows is a good one.
func (s *Set) PackCenters(values []float64, origin []float32) *Centers {
	c := &Centers{values: values, cols: len(origin), bound: newNearestBound(len(origin))}
	if c.cols == 0 {
		panic("kernelops: centers without columns")
	}
	if c.rows = len(values) / c.cols; c.rows*c.cols != len(values) {
		panic("kernelops: not a whole number of centers")
	}
	if s.matrix == nil || c.rows == 0 {
		return c
	}
	c.direct = aroundZero(values, origin)
	if c.direct {
		origin = make([]float32, c.cols)
	}
	shifted := NewMatrix(c.rows, c.cols)
	for i, v := range values {
		shifted.Data[i] = float32(v - float64(origin[i%c.cols]))
	}
	c.norms, c.low = make([]float32, c.rows), make([]float32, c.rows+maxWidth)
	s.sqNorms(c.norms, shifted, &scratch{})
	for j := range c.low {
		c.low[j] = float32(math.Inf(1))
	}
	if !c.bound.lowNorms(c.low, c.norms) {
		return c
	}
	c.matrix = s.matrix
	c.packed.pack(c.matrix, shifted)
	c.origin = make([]float32, 0, blockRows*c.cols)
	for range blockRows {
		c.origin = append(c.origin, origin...)
	}
	return c
}

// aroundZero reports whether the origin is as near to zero as centers are to it, or nearly: the bound is then about as
// good without it, and rows need not be shifted.
func aroundZero(centers []float64, origin []float32) bool {
	far, apart := 0.0, 0.0
	for _, o := range origin {
		far += float64(float64(o) * float64(o))
	}
	for i, v := range centers {
		d := v - float64(origin[i%len(origin)])
		apart += float64(d * d)
	}
	return float64(far*float64(len(centers)/len(origin))) <= float64(4*apart)
}

// Nearest finds the center nearest to each row of x, exactly:
//
//	for i := range x.Rows {
//		index[i], sqDist[i] = -1, +Inf
//		for j := range centers {
//			if d := the value of GroupDistances for row i and center j; d < sqDist[i] {
//				index[i], sqDist[i] = j, d
//			}
//		}
//	}
//
// So ties go to the lower index. NaN and +Inf never win; finite rows and centers of moderate size have neither.
//
// The generic set is that loop. The others filter in float32, and compute in float64 the distance of every center that
// may be the nearest by the bound of the filter, or to which the bound does not apply: nearestBound proves it. c must
// come from PackCenters of the same set.
func (s *Set) Nearest(index []int32, sqDist []float64, x Matrix, c *Centers, ws *Workspace) {
	x.check()
	switch {
	case len(index) != x.Rows || len(sqDist) != x.Rows:
		panic("kernelops: result has the wrong shape")
	case x.Cols != c.cols:
		panic("kernelops: points have different dimensions")
	case c.matrix != nil && c.matrix != s.matrix:
		panic("kernelops: centers packed for another kernel set")
	}
	ws.divide(x.Rows, blockRows, func(sc *scratch, from, to int) {
		for ; from < to; from += blockRows {
			end := min(from+blockRows, to)
			s.nearestBlock(index[from:end], sqDist[from:end], x.RowRange(from, end), c, sc)
		}
	})
}

// nearestBlock is Nearest for at most blockRows rows.
func (s *Set) nearestBlock(index []int32, sqDist []float64, x Matrix, c *Centers, sc *scratch) {
	n := &sc.nearest
	switch {
	case c.rows == 1:
		clear(index)
		s.settle(index, sqDist, x, c)
		return
	case c.matrix == nil:
		for i := range x.Rows {
			n.candidates = n.candidates[:0]
			for j := range c.rows {
				n.candidates = append(n.candidates, int32(j))
			}
			index[i], sqDist[i] = s.decide(x.Row(i), c, n)
		}
		return
	}
	s.lowestTwo(index, x, c, sc)
	if c.direct {
		n.direct(s, index, sqDist, x, c, sc)
		return
	}
	certain := true
	for i, best := range n.best[:x.Rows] {
		limit := c.bound.limit(best, n.xNorms[i], c.norms, index[i])
		if float64(n.runners[i]) > limit {
			continue
		}
		sc.collectNear(c, i, limit)
		index[i], sqDist[i] = s.decide(x.Row(i), c, n)
		certain = certain && index[i] >= 0
	}
	if certain {
		s.settle(index, sqDist, x, c)
		return
	}
	for i := range index {
		if index[i] >= 0 {
			s.settle(index[i:i+1], sqDist[i:i+1], x.RowRange(i, i+1), c)
		}
	}
}

// direct is the end of nearestBlock for rows as they are: their norms follow from the distances to the centers
// found, which most rows need anyway.
func (n *nearestScratch) direct(s *Set, index []int32, sqDist []float64, x Matrix, c *Centers, sc *scratch) {
	for i, j := range index {
		if j < 0 { // no score is a number
			index[i], n.best[i] = 0, float32(math.Inf(1))
		}
	}
	s.GroupDistances(sqDist, x, c.values, index)
	for i, best := range n.best[:x.Rows] {
		limit := math.Inf(1)
		if d := sqDist[i]; d < math.Inf(1) {
			// |x| <= |x - c| + |c|, each a little more than it was computed as
			length := float64((math.Sqrt(d) + math.Sqrt(float64(c.norms[index[i]]))) * (1 + 0x1p-3))
			limit = c.bound.limit(best, float32(float64(length*length)), c.norms, index[i])
		}
		if float64(n.runners[i]) > limit {
			continue
		}
		sc.collectNear(c, i, limit)
		index[i], sqDist[i] = s.decide(x.Row(i), c, n)
	}
}

// settle sets sqDist to the distances of the rows to their centers; without a distance below +Inf there is no center.
func (s *Set) settle(index []int32, sqDist []float64, x Matrix, c *Centers) {
	s.GroupDistances(sqDist, x, c.values, index)
	for i, d := range sqDist {
		if !(d < math.Inf(1)) {
			index[i], sqDist[i] = -1, math.Inf(1)
		}
	}
}

// nearestScratch is the memory of nearestBlock.
type nearestScratch struct {
	shifted         []float32
	xNorms, seconds []float32
	best, runners   []float32
	index           []int32 // of Within
	candidates      []int32
	dists           []float64
}

// lowestTwo sets index and n.best to the least lower bound of each row, n.runners to the second, and sc.scores,
// n.seconds and sc.columns to those of each lane.
func (s *Set) lowestTwo(index []int32, x Matrix, c *Centers, sc *scratch) {
	n, m := &sc.nearest, c.matrix
	n.xNorms, n.best, n.runners = Resize(n.xNorms, blockRows), Resize(n.best, blockRows), Resize(n.runners, blockRows)
	sc.scores, sc.columns, n.seconds = Resize(sc.scores, blockRows*m.lanes), Resize(sc.columns, blockRows*m.lanes),
		Resize(n.seconds, blockRows*m.lanes)
	shifted := x
	if !c.direct {
		shifted = n.shift(s, x, c, sc)
	}
	if shifted.Rows < blockRows {
		sc.fillTail(shifted)
	}
	for p := range c.packed.list {
		l := &c.packed.list[p]
		dots := sc.block(l, shifted, goal{})
		m.lowestTwo(&sc.scores[0], &n.seconds[0], &sc.columns[0], &dots[0], &c.low[l.first], x.Rows, l.width/m.lanes,
			l.first)
	}
	m.ofLanes(&n.best[0], &index[0], &sc.scores[0], &sc.columns[0], x.Rows)
	m.runnersUp(&n.runners[0], &sc.scores[0], &n.seconds[0], x.Rows)
}

// shift returns the rows less the origin, rounded once, and sets n.xNorms to their norms.
func (n *nearestScratch) shift(s *Set, x Matrix, c *Centers, sc *scratch) Matrix {
	n.shifted = Resize(n.shifted, blockRows*c.cols)
	shifted := Matrix{Data: n.shifted[:x.Rows*c.cols], Rows: x.Rows, Cols: c.cols, Stride: c.cols}
	for i := range x.Rows {
		copy(shifted.Row(i), x.Row(i))
	}
	s.Axpy(shifted.Data, c.origin[:len(shifted.Data)], -1)
	s.sqNorms(n.xNorms[:x.Rows], shifted, sc)
	return shifted
}

// collectNear lists the centers whose lower bound for row i may be up to limit. Of a lane only the least and the second
// are known, so a second up to limit stands for all others of its lane.
func (sc *scratch) collectNear(c *Centers, i int, limit float64) {
	n, lanes := &sc.nearest, c.matrix.lanes
	n.candidates = n.candidates[:0]
	for lane := range lanes {
		switch at := i*lanes + lane; {
		case !(float64(n.seconds[at]) > limit):
			for j := lane; j < c.rows; j += lanes {
				n.candidates = append(n.candidates, int32(j))
			}
		case float64(sc.scores[at]) <= limit:
			n.candidates = append(n.candidates, sc.columns[at])
		}
	}
}

// decide returns the candidate nearest to the row in float64, and its distance; -1 and +Inf where there is none.
func (s *Set) decide(row []float32, c *Centers, n *nearestScratch) (int32, float64) {
	n.dists = Resize(n.dists, len(n.candidates))
	s.distancesTo(n.dists, row, c, n.candidates)
	at, least := int32(-1), math.Inf(1)
	for i, d := range n.dists {
		if j := n.candidates[i]; d < least || d == least && at > j {
			at, least = j, d
		}
	}
	return at, least
}

// distancesTo is GroupDistances of one row that stands for as many rows as there are candidates.
func (s *Set) distancesTo(dst []float64, row []float32, c *Centers, candidates []int32) {
	if c.cols > callElements {
		groupDistancesGeneric(dst, c.cols, row, 0, c.values, candidates) // a row alone is longer than a call may be
		return
	}
	for height := rowsPerCall(c.cols); len(dst) > 0; {
		n := min(height, len(dst))
		s.groupDistances(dst[:n], c.cols, row, 0, c.values, candidates[:n])
		dst, candidates = dst[n:], candidates[n:]
	}
}
