package kernelops

// KernelTiles computes the kernel matrix of x and y in square tiles and hands each to visit when
// it is finished, so that the matrix need not fit in memory: tiles from left to right, then
// down, with the row and column of their first element. A tile has size rows and columns, fewer
// at the right and lower edge; it holds the bits of KernelMatrix and is overwritten after visit
// returns. The first error of visit ends it and is returned.
func (s *Set) KernelTiles(k Kernel, x, y Matrix, size int, ws *Workspace, visit func(i, j int, tile Matrix) error) error {
	checkPair(x, y)
	return s.tiles(k.measure(), x, y, size, ws, false, visit)
}

// KernelTilesSymmetric is KernelTiles of x and x without the tiles below the diagonal, which
// are the transposes of those above.
func (s *Set) KernelTilesSymmetric(k Kernel, x Matrix, size int, ws *Workspace, visit func(i, j int, tile Matrix) error) error {
	x.check()
	return s.tiles(k.measure(), x, x, size, ws, true, visit)
}

func (s *Set) tiles(m measure, x, y Matrix, size int, ws *Workspace, upper bool, visit func(i, j int, tile Matrix) error) error {
	if size < 1 {
		panic("kernelops: impossible matrix shape")
	}
	for i := 0; i < x.Rows; i += size {
		rows := x.RowRange(i, min(i+size, x.Rows))
		first := 0
		if upper {
			first = i
		}
		for j := first; j < y.Rows; j += size {
			cols := y.RowRange(j, min(j+size, y.Rows))
			ws.tile = resize(ws.tile, rows.Rows*cols.Rows)
			tile := Matrix{Data: ws.tile, Rows: rows.Rows, Cols: cols.Rows, Stride: cols.Rows}
			s.pairs(m, tile, rows, cols, ws)
			if err := visit(i, j, tile); err != nil {
				return err
			}
		}
	}
	return nil
}

// mirrorSize is the size of the tiles of a symmetric matrix: of those on the diagonal half the
// work is for nothing.
const mirrorSize = 512

// KernelMatrixSymmetric sets dst to the kernel matrix of x and x. It computes half of it and mirrors the
// rest: the bits are those of KernelMatrix, because neither a product nor a sum minds
// the order of two operands.
func (s *Set) KernelMatrixSymmetric(dst Matrix, k Kernel, x Matrix, ws *Workspace) {
	checkProduct(dst, x, x)
	m := k.measure()
	for i := 0; i < x.Rows; i += mirrorSize {
		end := min(i+mirrorSize, x.Rows)
		s.pairs(m, dst.block(i, end, i, x.Rows), x.RowRange(i, end), x.RowRange(i, x.Rows), ws)
		if end < x.Rows {
			from, to := dst.block(i, end, end, x.Rows), dst.block(end, x.Rows, i, end)
			ws.divide(to.Rows, blockRows, func(_ *scratch, first, last int) {
				s.transpose(to.RowRange(first, last), from.block(0, from.Rows, first, last))
			})
		}
	}
}

// transpose sets dst[i][j] to src[j][i], 8 by 8 at a time where that goes.
func (s *Set) transpose(dst, src Matrix) {
	rows, cols := 0, 0
	if s.matrix != nil {
		rows, cols = dst.Rows&^(interleaved-1), dst.Cols&^(interleaved-1)
	}
	if rows > 0 {
		for j := 0; j < cols; j += interleaved {
			s.matrix.interleave8(&dst.Data[j], dst.Stride, &src.Data[j*src.Stride], src.Stride, rows)
		}
	}
	for i := range dst.Rows {
		from := cols
		if i >= rows {
			from = 0
		}
		for j := from; j < dst.Cols; j++ {
			dst.Data[i*dst.Stride+j] = src.Data[j*src.Stride+i]
		}
	}
}
