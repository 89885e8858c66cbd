package kernelops

// KernelSums adds kernel values up by the group of the row of y, in float64 and in the order
// of the rows of y, without writing the matrix:
//
//	for j, g := range groups {
//		for i := range x.Rows {
//			sums[i*n+int(g)] += float64(KernelMatrix(i, j))
//		}
//	}
//
// n, the number of groups, is the largest that len(sums) = n*x.Rows allows; each g is from 0 to n-1.
func (s *Set) KernelSums(sums []float64, k Kernel, x, y Matrix, groups []int32, ws *Workspace) {
	m := k.measure()
	checkPair(x, y)
	if x.Rows == 0 || y.Rows == 0 {
		return
	}
	n := len(sums) / x.Rows
	if len(groups) != y.Rows || n*x.Rows != len(sums) {
		panic("kernelops: result has the wrong shape")
	}
	for _, g := range groups {
		if g < 0 || int(g) >= n {
			panic("kernelops: no such group")
		}
	}
	if m.needsNorms() {
		ws.xNorms = s.norms(m, Resize(ws.xNorms, x.Rows+maxWidth), x, ws)
		ws.yNorms = s.norms(m, Resize(ws.yNorms, y.Rows), y, ws)
	}
	ws.divide(x.Rows, maxWidth, func(sc *scratch, from, to int) {
		t := kernelSums{measure: m, sums: sums[from*n : to*n], groups: groups, n: n, yNorms: ws.yNorms}
		if m.needsNorms() {
			t.xNorms = ws.xNorms[from:]
		}
		rows := x.RowRange(from, to)
		if s.matrix == nil || x.Cols == 0 {
			t.generic(rows, y)
			return
		}
		sc.packed.pack(s.matrix, rows)
		for p := range sc.packed.list {
			t.panel(s, &sc.packed.list[p], y, sc)
		}
	})
}

// kernelSums is the state of KernelSums for some rows of x.
type kernelSums struct {
	measure
	sums           []float64
	groups         []int32
	n              int
	xNorms, yNorms []float32
}

// panel takes all rows of y against the columns of p, whose sums lie side by side meanwhile.
func (t *kernelSums) panel(s *Set, p *panel, y Matrix, sc *scratch) {
	sc.sums = Resize(sc.sums, t.n*p.width)
	clear(sc.sums)
	for c := range p.cols {
		for g := range t.n {
			sc.sums[g*p.width+c] = t.sums[(p.first+c)*t.n+g]
		}
	}
	sc.eachBlock(y, func(first int, rows Matrix) {
		dots := sc.block(p, rows, goal{})
		if t.kind != dotOnly {
			rowNorms, colNorms := &dots[0], &dots[0] // of no meaning where there are no norms
			if t.needsNorms() {
				rowNorms, colNorms = &t.yNorms[first], &t.xNorms[p.first]
			}
			s.matrix.epilogues[t.kind](&dots[0], p.width, &dots[0], rowNorms, colNorms, rows.Rows,
				p.width/s.matrix.lanes, t.scale, t.offset, t.degree, false)
		}
		values := Matrix{Data: dots, Rows: rows.Rows, Cols: p.width, Stride: p.width}
		s.AccumulateRows(sc.sums, values, t.groups[first:first+rows.Rows])
	})
	for c := range p.cols {
		for g := range t.n {
			t.sums[(p.first+c)*t.n+g] = sc.sums[g*p.width+c]
		}
	}
}

func (t *kernelSums) generic(x, y Matrix) {
	for j, g := range t.groups {
		for i := range x.Rows {
			var xNorm, yNorm float32
			if t.needsNorms() {
				xNorm, yNorm = t.xNorms[i], t.yNorms[j]
			}
			t.sums[i*t.n+int(g)] += float64(t.value(chain32(x.Row(i), y.Row(j), 0), xNorm, yNorm))
		}
	}
}
