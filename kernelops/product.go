package kernelops

const (
	// blockRows is the number of rows taken against a panel in one call: a multiple of the
	// rows of every kernel, few enough that the block of results stays in the first cache
	// level.
	blockRows = 96
	// tailRows is the largest number of rows that a kernel's tiles can leave over.
	tailRows = 11
	// stepDim is the most of the dimension taken in one call, so that a panel stays in the
	// second cache level and the call below 0.1 ms.
	stepDim = 1024
	// packedBytes bounds the operand that pairs packs at once.
	packedBytes = 16 << 20
	// partBytes is as much of a packed operand as stays in the second cache level beside a block of
	// rows, and stripBytes as much of the rows as stays in the third.
	partBytes  = 640 << 10
	stripBytes = 4 << 20
)

// fillTail sets sc.tail to the last tailRows rows of x, or those there are behind left-over
// ones, and as many zeros: its tiles of n <= tailRows real rows start at row tailRows-n.
func (sc *scratch) fillTail(x Matrix) {
	sc.tail = Resize(sc.tail, 2*tailRows*x.Cols)
	n := min(tailRows, x.Rows)
	for i := range n {
		copy(sc.tail[(tailRows-n+i)*x.Cols:], x.Row(x.Rows-n+i))
	}
	clear(sc.tail[tailRows*x.Cols:])
}

// multiply sets dst[i*stride+j] to the dot product of row i of x, of at most blockRows, and
// column j of p, whose dimension is not 0. Rows up to the next multiple of the kernel's are
// overwritten. sc.tail must be filled from x. goal says where the caller wants the results.
func (p *panel) multiply(dst []float32, stride int, x Matrix, sc *scratch, goal goal) {
	tiles, rest := x.Rows/p.rows, x.Rows%p.rows
	for k := 0; k < x.Cols; k += stepDim {
		dim := min(stepDim, x.Cols-k)
		stream := goal.stream && goal.direct && dim == x.Cols
		if tiles > 0 {
			next, step := sc.ahead.take(tiles*(dim/2), &x.Data[k])
			p.panelKernel.multiply(&dst[0], stride, &x.Data[k], x.Stride, &p.data[k*p.width], dim, tiles, k > 0,
				goal.fetch, goal.stride, stream, next, step)
		}
		if rest > 0 {
			from := (tailRows-rest)*x.Cols + k
			p.panelKernel.multiply(&dst[tiles*p.rows*stride], stride, &sc.tail[from], x.Cols, &p.data[k*p.width], dim,
				1, k > 0, nil, 0, false, &sc.tail[from], 0)
		}
	}
}

// goal is where the results of a block go.
type goal struct {
	fetch  *float32 // to be fetched into the caches before it is written, or nil
	stride int
	direct bool // dst is the goal
	stream bool // past the caches
}

// block computes the dot products of x and p in scratch memory, without gaps between rows.
func (sc *scratch) block(p *panel, x Matrix, goal goal) []float32 {
	sc.dots = Resize(sc.dots, (blockRows+tailRows)*maxWidth)
	p.multiply(sc.dots, p.width, x, sc, goal)
	return sc.dots
}

// maxWidth is the width of the widest panel.
const maxWidth = 48

// eachBlock calls visit on rows [i, i+rows) of x for rows <= blockRows, in order, with sc.tail filled.
func (sc *scratch) eachBlock(x Matrix, visit func(i int, rows Matrix)) {
	for i := 0; i < x.Rows; i += blockRows {
		rows := x.RowRange(i, min(i+blockRows, x.Rows))
		if rows.Rows < blockRows {
			sc.fillTail(rows)
		}
		visit(i, rows)
	}
}

// meet calls visit on every block of x, as eachBlock does, with every part of the panels of p. A part meets a
// strip of the rows before the next part does, so that each is read from a cache; it meets the
// blocks in order.
func (sc *scratch) meet(x Matrix, p *panels, visit func(part []panel, i int, rows Matrix)) {
	if len(p.list) == 0 {
		return
	}
	strip := max(1, stripBytes/(4*x.Cols*blockRows)) * blockRows
	part := max(1, partBytes/(4*x.Cols*p.list[0].width))
	for first := 0; first < x.Rows; first += strip {
		rows := x.RowRange(first, min(first+strip, x.Rows))
		for at := 0; at < len(p.list); at += part {
			list := p.list[at:min(at+part, len(p.list))]
			sc.eachBlock(rows, func(i int, block Matrix) {
				sc.ahead.after(rows, i)
				visit(list, first+i, block)
			})
		}
	}
	sc.ahead.left = nil
}

// Dots sets dst[i][j] to the dot product of row i of x and row j of y:
//
//	for i := range x.Rows {
//		for j := range y.Rows {
//			c := float32(0)
//			for k := range x.Cols {
//				c = fma32(x.Row(i)[k], y.Row(j)[k], c)
//			}
//			dst.Row(i)[j] = c
//		}
//	}
//
// O(x.Rows * y.Rows * x.Cols). dst overlaps neither x nor y. What is not finite follows IEEE 754;
// payloads of NaN are not promised.
func (s *Set) Dots(dst, x, y Matrix, ws *Workspace) { s.pairs(measure{}, dst, x, y, ws) }

// SqDists sets dst[i][j] to the squared Euclidean distance of row i of x and row j of y:
//
//	dst.Row(i)[j] = max(0, fma32(-2, dot(i, j), nx[i]+ny[j]))
//
// with dot as in Dots and the squared norms nx[i] = dot(x.Row(i), x.Row(i)), ny likewise. A NaN
// stays NaN. The distance of a finite row to itself is 0; otherwise the error is
// about x.Cols * 2^-23 * (nx+ny), whatever the distance: center the data, or use Search.
func (s *Set) SqDists(dst, x, y Matrix, ws *Workspace) {
	s.pairs(measure{kind: sqDist}, dst, x, y, ws)
}

// KernelMatrix sets dst[i][j] to the kernel of row i of x and row j of y, where dot is
// that of Dots and d that of SqDists:
//
//	Linear:     dot
//	Polynomial: t := fma32(k.Scale, dot, k.Offset); p := t; for range k.Degree-1 { p = float32(p*t) }
//	RBF:        exp32(float32(-k.Scale*d)), within 1 ulp
//	Sigmoid:    tanh32(fma32(k.Scale, dot, k.Offset)), within 3 ulp
//
// It panics unless k.Validate() returns nil.
func (s *Set) KernelMatrix(dst Matrix, k Kernel, x, y Matrix, ws *Workspace) {
	s.pairs(k.measure(), dst, x, y, ws)
}
