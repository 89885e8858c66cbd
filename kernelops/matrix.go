package kernelops

import "unsafe"

// Matrix is a view of float32 rows: element (i, j) is Data[i*Stride+j]. A set of points
// is a Matrix with a point a row. The zero Matrix has no elements.
type Matrix struct {
	Data               []float32
	Rows, Cols, Stride int
}

// NewMatrix returns a matrix of zeros, its rows side by side in memory.
func NewMatrix(rows, cols int) Matrix {
	return Matrix{Data: make([]float32, rows*cols), Rows: rows, Cols: cols, Stride: cols}
}

// Row returns row i, without the elements between it and the next row.
func (m Matrix) Row(i int) []float32 {
	if m.Cols == 0 {
		return nil
	}
	at := i * m.Stride
	return m.Data[at : at+m.Cols : at+m.Cols]
}

// RowRange returns a view of the rows from up to, not including, to.
func (m Matrix) RowRange(from, to int) Matrix {
	if from == to || m.Cols == 0 {
		return Matrix{Rows: to - from, Cols: m.Cols, Stride: m.Stride}
	}
	return Matrix{Data: m.Data[from*m.Stride : (to-1)*m.Stride+m.Cols], Rows: to - from, Cols: m.Cols, Stride: m.Stride}
}

// block returns a view of the rows from i0 to i1 and columns from j0 to j1, neither range empty.
func (m Matrix) block(i0, i1, j0, j1 int) Matrix {
	rows := m.RowRange(i0, i1)
	return Matrix{Data: rows.Data[j0 : len(rows.Data)-m.Cols+j1], Rows: i1 - i0, Cols: j1 - j0, Stride: m.Stride}
}

// empty reports whether m has no elements.
func (m Matrix) empty() bool { return m.Rows == 0 || m.Cols == 0 }

// check panics unless the shape of m is possible and its data are there.
func (m Matrix) check() {
	switch {
	case m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols:
		panic("kernelops: impossible matrix shape")
	case m.empty():
	case len(m.Data) < m.Cols || m.Rows-1 > (len(m.Data)-m.Cols)/m.Stride:
		panic("kernelops: matrix data are short")
	}
}

// checkPair panics unless x and y are matrices of points of one dimension.
func checkPair(x, y Matrix) {
	x.check()
	y.check()
	if x.Cols != y.Cols {
		panic("kernelops: points have different dimensions")
	}
}

// checkProduct panics unless dst can take a value for every row of x and row of y. dst may
// share memory with neither, from its first element to its last.
func checkProduct(dst, x, y Matrix) {
	checkPair(x, y)
	dst.check()
	if dst.Rows != x.Rows || dst.Cols != y.Rows {
		panic("kernelops: result has the wrong shape")
	}
	if dst.overlaps(x) || dst.overlaps(y) {
		panic("kernelops: result overlaps an input")
	}
}

func (m Matrix) overlaps(n Matrix) bool {
	if m.empty() || n.empty() {
		return false
	}
	from, to := m.span()
	nFrom, nTo := n.span()
	return from < nTo && nFrom < to
}

// span returns the addresses of the first element and behind the last.
func (m Matrix) span() (from, to uintptr) {
	from = uintptr(unsafe.Pointer(unsafe.SliceData(m.Data)))
	return from, from + 4*uintptr((m.Rows-1)*m.Stride+m.Cols)
}
