package kernelops

// Assign is the step of k-means on the rows of x: ArgMin, and AccumulateRows of what it found,
// reading x from memory once:
//
//	s.ArgMin(index, score, x, c, ws)
//	for i, g := range index {
//		if g >= 0 {
//			s.AccumulateRows(sums, x.RowRange(i, i+1), index[i:i+1])
//		}
//	}
//
// A row without a nearest centroid is added to no sum. sums has x.Cols elements for every
// centroid. A sum has one order, so it runs on one goroutine whatever ws.Threads: callers
// divide the rows, give each goroutine sums and a Workspace, and join the sums in an order of theirs.
func (s *Set) Assign(sums []float64, index []int32, score []float32, x Matrix, c *Centroids, ws *Workspace) {
	s.checkArgMin(index, score, x, c)
	if len(sums) != c.points.Rows*x.Cols {
		panic("kernelops: not one sum for every column of every centroid")
	}
	sc := ws.first()
	c.eachBlock(index, score, x, sc, func(from, to int) {
		s.accumulateAssigned(sums, x.RowRange(from, to), index[from:to], &sc.ahead)
	})
}

// accumulateAssigned adds the rows of a block, at most blockRows, to the sums of their groups, but
// for those in group -1.
func (s *Set) accumulateAssigned(sums []float64, x Matrix, groups []int32, ahead *readAhead) {
	if sortsGroups(len(sums), x.Cols) {
		s.accumulateSorted(sums, x, groups, ahead)
		return
	}
	for from := 0; from < len(groups); from++ {
		to := from
		for to < len(groups) && groups[to] >= 0 {
			to++
		}
		s.AccumulateRows(sums, x.RowRange(from, to), groups[from:to])
		from = to
	}
}

// Where it pays to sort the rows of a block by group: the sums do not stay in the first cache level, and
// a group has several rows in a block.
const (
	maxGroups    = blockRows / 4
	maxNearSums  = 32 << 10 / 8
	maxGroupCols = 4096 // the longest call takes a tenth of a millisecond
)

// sortsGroups reports whether to sort by group for so many sums of cols columns.
func sortsGroups(sums, cols int) bool {
	return sums > maxNearSums && cols <= maxGroupCols && sums <= maxGroups*cols
}

// accumulateSorted is accumulateAssigned group by group. Every sum takes its rows in their order.
func (s *Set) accumulateSorted(sums []float64, x Matrix, groups []int32, ahead *readAhead) {
	var ends [maxGroups + 1]int // ends[g+1] is where group g ends, from -1 on
	for _, g := range groups {
		ends[g+1]++
	}
	for g := range maxGroups {
		ends[g+1] += ends[g]
	}
	var order [blockRows]int32
	from := ends
	for i := len(groups) - 1; i >= 0; i-- {
		g := groups[i] + 1
		from[g]--
		order[from[g]] = int32(i)
	}
	for g := range len(sums) / x.Cols {
		if rows := order[from[g+1]:ends[g+1]]; len(rows) > 0 {
			next, step := ahead.take(len(rows)*(x.Cols/(4*lineFloats)), &x.Data[0])
			s.accumulateGroup(sums[g*x.Cols:][:x.Cols], x.Data, x.Stride, rows, next, step)
		}
	}
}

func accumulateGroupGeneric(sum []float64, x []float32, stride int, rows []int32, _ *float32, _ int) {
	for _, i := range rows {
		for j, v := range x[int(i)*stride:][:len(sum)] {
			sum[j] += float64(v)
		}
	}
}
