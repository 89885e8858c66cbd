package kernelops

import (
	"math"

	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Projection is a Gaussian random matrix of any number of rows and a fixed number of columns, which
// is never stored: each element is a function of the seed, the purpose and its place. Projecting
// rows by it keeps the distance between any two of n rows to a factor of 1 ± eps with high probability
// if there are some 8 ln(n)/eps^2 columns (Johnson and Lindenstrauss; Dasgupta and Gupta, "An
// elementary proof of a theorem of Johnson and Lindenstrauss", Random Structures and
// Algorithms 22(1), 2003, theorem 2.1). It is safe for concurrent use.
type Projection struct {
	key   philox.Key
	cols  int
	scale float64 // 1/sqrt(cols)
}

// NewProjection returns the projection to cols dimensions for a seed and a purpose.
func NewProjection(seed uint64, purpose string, cols int) Projection {
	if cols <= 0 {
		panic("kernelops: a projection needs columns")
	}
	return Projection{philox.New(seed, purpose), cols, float64(1 / math.Sqrt(float64(cols)))}
}

// Cols returns the number of dimensions that rows are projected to.
func (p Projection) Cols() int { return p.cols }

// Row sets dst to the first len(dst) elements of row i of the matrix: independent normal numbers of mean 0 and
// variance 1/Cols, by the method of Box and Muller ("A note on the generation of random normal
// deviates", Annals of Mathematical Statistics 29(2), 1958):
//
//	for j := range dst {
//		a, b := key.Block(i, j/2)
//		u, v := float64(a>>11+1)*0x1p-53, float64(b>>11)*0x1p-53 // in (0, 1] and [0, 1)
//		sin, cos := fmath.Sincospi(2*v)
//		r := scale * sqrt(-2*fmath.Log(u))
//		dst[j] = float32(r*cos), or r*sin for odd j
//	}
//
// each operation rounded in float64. It takes some 45 ns per element.
func (p Projection) Row(dst []float32, i int) {
	if i < 0 || len(dst) > p.cols {
		panic("kernelops: no such element of the projection")
	}
	for j := 0; j < len(dst); j += 2 {
		a, b := p.key.Block(uint64(i), uint64(j/2))
		u, v := float64(float64(a>>11+1)*0x1p-53), float64(float64(b>>11)*0x1p-53)
		sin, cos := fmath.Sincospi(float64(2 * v))
		r := float64(p.scale * math.Sqrt(float64(-2*fmath.Log(u))))
		dst[j] = float32(r * cos)
		if j+1 < len(dst) {
			dst[j+1] = float32(r * sin)
		}
	}
}

// projectionBlock is the number of elements of the matrix that Project makes at a time: they
// fit the first-level cache beside the rows that they meet.
const projectionBlock = 1 << 13

// Project multiplies the rows of x by the matrix: dst.Row(i)[j] is the chain
//
//	c := float32(0)
//	for k, v := range x.Row(i) {
//		c = fma32(v, r[first+k][j], c) // r[k] as Row makes it
//	}
//
// x holds the columns from first of rows that may be wider. With first > 0 the chain starts
// from what dst holds, so that wide rows can be projected a slice of columns after the other, in order,
// to the same bits. So does any cut of the rows.
//
// dst has x.Rows rows and p.Cols() columns, and does not overlap x. The matrix is made anew by each
// call, a block at a time, which costs as much as the product with a thousand rows or so:
// give it many.
func (s *Set) Project(p Projection, dst, x Matrix, first int) {
	x.check()
	dst.check()
	if first < 0 {
		panic("kernelops: no such element of the projection")
	}
	if dst.Rows != x.Rows || dst.Cols != p.cols {
		panic("kernelops: result has the wrong shape")
	}
	if dst.overlaps(x) {
		panic("kernelops: result overlaps an input")
	}
	if first == 0 {
		for i := range dst.Rows {
			clear(dst.Row(i))
		}
	}
	if x.empty() {
		return
	}
	height := min(max(projectionBlock/p.cols, 1), x.Cols)
	block := NewMatrix(height, p.cols)
	for k := 0; k < x.Cols; k += height {
		end := min(k+height, x.Cols)
		rows := block.RowRange(0, end-k)
		for i := range rows.Rows {
			p.Row(rows.Row(i), first+k+i)
		}
		for i := range x.Rows {
			s.AxpyRows(dst.Row(i), rows, x.Row(i)[k:end])
		}
	}
}
