package kernelops

// matrixSet is a set's assembly for matrix-shaped operations. Their left operand stays as
// it is, row-major; the right one is packed into panels of columns side by side.
type matrixSet struct {
	lanes       int           // float32 per register
	panels      []panelKernel // by width, widest first; each width a multiple of lanes
	interleave8 func(dst *float32, dstStride int, x *float32, xStride, dim int)
	sqNorms8    func(dst, x *float32, xStride, dim, tiles int)
	epilogues   [sigmoid + 1]epilogue
	ofLanes     func(score *float32, column *int32, scores *float32, columns *int32, rows int)
	lowestTwo   func(scores, seconds *float32, columns *int32, dots, colNorms *float32, rows, vectors, first int)
	runnersUp   func(runners, scores, seconds *float32, rows int)
	notBeyond   func(hits *uint64, dots, rowNorms, colNorms, limits *float32, rows, vectors int)
	storeFence  func()
}

type epilogue func(dst *float32, dstStride int, dots, rowNorms, colNorms *float32, rows, vectors int, scale,
	offset float32, degree int, stream bool)

// panelKernel multiplies tiles of rows by a panel of width columns.
type panelKernel struct {
	rows, width int
	leastDim    int // below which another kernel is faster
	multiply    func(dst *float32, dstStride int, x *float32, xStride int, y *float32, dim, tiles int, more bool,
		soon *float32, soonStride int, stream bool, next *float32, nextStep int)
}

// interleaved is the number of rows that interleave8 and sqNorms8 take at a time.
const interleaved = 8

// panel is columns first to first+cols of the packed operand. Element k of
// column j is data[k*width+j-first]; the columns behind the last one are zeros.
type panel struct {
	*panelKernel
	first, cols int
	data        []float32
}

// valid has a bit for each column that is not padding; width is at most 64.
func (p *panel) valid() uint64 { return 1<<p.cols - 1 }

// panels is a packed operand.
type panels struct {
	list []panel
	data []float32
	dim  int
	cols int // padding included
}

// pack takes the rows of y as columns.
func (p *panels) pack(m *matrixSet, y Matrix) {
	p.dim, p.cols, p.list = y.Cols, 0, p.list[:0]
	for first := 0; first < y.Rows; {
		k := m.kernelFor(y.Rows-first, y.Cols)
		cols := min(k.width, y.Rows-first)
		p.list = append(p.list, panel{panelKernel: k, first: first, cols: cols})
		first += cols
		p.cols += k.width
	}
	p.data = Resize(p.data, p.cols*p.dim)
	left := p.data
	for i := range p.list {
		l := &p.list[i]
		l.data, left = left[:l.width*p.dim], left[l.width*p.dim:]
		m.packPanel(l, y.RowRange(l.first, l.first+l.cols))
	}
}

// kernelFor returns the widest kernel for the dimension, or the narrowest that takes all of n columns.
func (m *matrixSet) kernelFor(n, dim int) *panelKernel {
	var best *panelKernel
	for i := range m.panels {
		if k := &m.panels[i]; dim >= k.leastDim && (best == nil || k.width >= n) {
			best = k
		}
	}
	return best
}

// packPanel turns the rows of y into the columns of p.
func (m *matrixSet) packPanel(p *panel, y Matrix) {
	dim, width := y.Cols, p.width
	whole := dim &^ (interleaved - 1)
	j := 0
	if whole > 0 {
		for ; j+interleaved <= y.Rows; j += interleaved {
			m.interleave8(&p.data[j], width, &y.Data[j*y.Stride], y.Stride, whole)
			for c := j; c < j+interleaved; c++ {
				packColumn(p, c, y.Row(c), whole)
			}
		}
	}
	for ; j < y.Rows; j++ {
		packColumn(p, j, y.Row(j), 0)
	}
	for ; j < width; j++ {
		for k := range dim {
			p.data[k*width+j] = 0
		}
	}
}

// packColumn packs the elements of row from k on as column j.
func packColumn(p *panel, j int, row []float32, k int) {
	for ; k < len(row); k++ {
		p.data[k*p.width+j] = row[k]
	}
}

// sqNorms sets norms[i] to the squared norm of row i, one chain each.
func (s *Set) sqNorms(norms []float32, x Matrix, sc *scratch) {
	if s.matrix == nil || x.empty() {
		sqNormsGeneric(norms, x)
		return
	}
	rows := x.Rows &^ (interleaved - 1)
	for i := 0; i < rows; i += blockRows {
		tiles := (min(i+blockRows, rows) - i) / interleaved
		s.matrix.sqNorms8(&norms[i], &x.Data[i*x.Stride], x.Stride, x.Cols, tiles)
	}
	if rest := x.Rows - rows; rest > 0 {
		var padded [interleaved]float32
		sc.fillTail(x.RowRange(rows, x.Rows))
		s.matrix.sqNorms8(&padded[0], &sc.tail[(tailRows-rest)*x.Cols], x.Cols, x.Cols, 1)
		copy(norms[rows:], padded[:rest])
	}
}
