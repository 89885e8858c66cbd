package kernelops

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
