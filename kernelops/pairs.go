package kernelops

// pairs sets dst[i][j] to the measure of row i of x and row j of y.
func (s *Set) pairs(m measure, dst, x, y Matrix, ws *Workspace) {
	checkProduct(dst, x, y)
	if dst.empty() {
		return
	}
	if m.needsNorms() {
		ws.xNorms = s.norms(m, Resize(ws.xNorms, x.Rows), x, ws)
	}
	part := max(1, packedBytes/(4*max(1, y.Cols)*maxWidth)) * maxWidth
	for j := 0; j < y.Rows; j += part {
		end := min(j+part, y.Rows)
		s.pairsPart(m, dst.block(0, dst.Rows, j, end), x, y.RowRange(j, end), ws)
	}
}

// norms sets norms to what m wants of the rows of x.
func (s *Set) norms(m measure, norms []float32, x Matrix, ws *Workspace) []float32 {
	ws.divide(x.Rows, blockRows, func(sc *scratch, from, to int) {
		s.sqNorms(norms[from:to], x.RowRange(from, to), sc)
	})
	return norms
}

// pairsPart is pairs for as much of y as is packed at once.
func (s *Set) pairsPart(m measure, dst, x, y Matrix, ws *Workspace) {
	if m.needsNorms() {
		ws.yNorms = s.norms(m, Resize(ws.yNorms, y.Rows+maxWidth), y.RowRange(0, y.Rows), ws)
	}
	matrix := s.matrix
	if x.Cols == 0 {
		matrix = nil // nothing to pack
	}
	ws.stream = streams(dst)
	if matrix != nil {
		ws.packed.pack(matrix, y)
	}
	ws.divide(x.Rows, blockRows, func(sc *scratch, from, to int) {
		part, rows := dst.RowRange(from, to), x.RowRange(from, to)
		if matrix == nil {
			pairsGeneric(m, part, rows, y, ws.xNorms[min(from, len(ws.xNorms)):], ws.yNorms)
			return
		}
		if ws.stream {
			defer matrix.storeFence()
		}
		sc.meet(rows, &ws.packed, func(list []panel, i int, block Matrix) {
			results := part.RowRange(i, i+block.Rows)
			for p := range list {
				matrix.finishBlock(m, results, block, &list[p], from+i, ws, sc)
			}
		})
	})
}

// pairsGeneric is the loop of Dots, and the measure of each result.
func pairsGeneric(m measure, dst, x, y Matrix, xNorms, yNorms []float32) {
	dotsGeneric(dst, x, y)
	if m.kind == dotOnly {
		return
	}
	for i := range dst.Rows {
		row := dst.Row(i)
		for j, dot := range row {
			var xNorm, yNorm float32
			if m.needsNorms() {
				xNorm, yNorm = xNorms[i], yNorms[j]
			}
			row[j] = m.value(dot, xNorm, yNorm)
		}
	}
}

// streamBytes is the size from which a result is written past the caches, which would not hold it.
const streamBytes = 8 << 20

// streams reports whether dst is written past the caches: if it is large, and its rows start
// where such stores may go.
func streams(dst Matrix) bool {
	from, to := dst.span()
	return to-from >= streamBytes && from%streamAlign == 0 && 4*dst.Stride%streamAlign == 0
}

// streamAlign is the size of the largest register.
const streamAlign = 64

// finishBlock sets the columns of p in dst, whose rows are those of x and start at row i
// of the operation. Whole panels are written where they belong; the last one, and rows
// that do not fill their tiles, go through scratch memory.
func (m *matrixSet) finishBlock(f measure, dst, x Matrix, p *panel, i int, ws *Workspace, sc *scratch) {
	to := dst.Data[p.first:]
	whole := p.cols == p.width
	g := goal{stream: ws.stream && whole, stride: dst.Stride}
	if whole && !g.stream {
		g.fetch = &to[0]
	}
	if f.kind == dotOnly && whole && x.Rows%p.rows == 0 {
		g.direct = true
		p.multiply(to, dst.Stride, x, sc, g)
		return
	}
	dots := sc.block(p, x, g)
	if f.kind != dotOnly {
		out, stride := dots, p.width
		if whole {
			out, stride = to, dst.Stride
		}
		var rowNorms, colNorms *float32 = &dots[0], &dots[0] // of no meaning where there are no norms
		if f.needsNorms() {
			rowNorms, colNorms = &ws.xNorms[i], &ws.yNorms[p.first]
		}
		m.epilogues[f.kind](&out[0], stride, &dots[0], rowNorms, colNorms, x.Rows, p.width/m.lanes, f.scale, f.offset,
			f.degree, g.stream)
		if whole {
			return
		}
	}
	for r := range x.Rows {
		copy(dst.Row(r)[p.first:p.first+p.cols], dots[r*p.width:])
	}
}
