// Package rows keeps the rows of records, in memory and in models.
package rows

import (
	"iter"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// Form says how rows are kept.
type Form int

// The forms.
const (
	Dense  Form = iota
	Sparse      // compressed: what is not 0
	Bits        // of features that are 0 or 1
	Texts
)

// Rows are rows in the order of their records.
type Rows struct {
	Form   Form
	N      int
	Width  int            // of each; 0 of texts
	Dense  []float32      // [N, Width]
	Sparse dataset.Sparse // of N rows
	Bits   []uint64       // [N, Words]: feature j is bit j mod 64 of word j/64
	Words  int
	Texts  [][]rune
	Gaps   bool // dense rows have NaN where a number is missing
}

// New returns no rows yet.
func New(form Form, width int) Rows {
	r := Rows{Form: form, Width: width}
	switch form {
	case Sparse:
		r.Sparse = dataset.Sparse{Width: width, Indptr: []int{0}, Indices: []int32{}}
	case Bits:
		r.Words = (width + 63) / 64
	}
	return r
}

// FormOf is the form of the vectors of a space.
func FormOf(space *features.Space) Form {
	if space.Sparse {
		return Sparse
	}
	return Dense
}

// Of are the rows of v, dense or sparse, in the memory of v.
func Of(v features.Vectors) Rows {
	if v.Sparse.Width > 0 {
		return Rows{Form: Sparse, N: v.Rows, Width: v.Sparse.Width, Sparse: v.Sparse}
	}
	return Rows{N: v.Rows, Width: v.Dense.Cols, Dense: v.Dense.Data}
}

// Add appends the rows of v from up to, not including, to.
func (r *Rows) Add(v features.Vectors, from, to int) {
	r.N += to - from
	if r.Form == Sparse {
		for i := from; i < to; i++ {
			r.addSparse(v.Sparse.Row(i))
		}
		return
	}
	begin := len(r.Dense)
	r.Dense = append(r.Dense, v.Dense.Data[from*r.Width:to*r.Width]...)
	if r.Gaps {
		oneGap(r.Dense[begin:])
	}
}

func (r *Rows) addSparse(indices []int32, values []float32) {
	r.Sparse.Indices, r.Sparse.Values = append(r.Sparse.Indices, indices...), append(r.Sparse.Values, values...)
	r.Sparse.Indptr = append(r.Sparse.Indptr, len(r.Sparse.Values))
}

// Append puts the rows of o, which are of the same form, below those of r. No rows are of any form.
func (r *Rows) Append(o *Rows) {
	if o.N == 0 {
		return
	}
	if r.N == 0 {
		*r = New(o.Form, o.Width)
		r.Words, r.Gaps = o.Words, o.Gaps
	}
	r.N += o.N
	r.Dense = append(r.Dense, o.Dense...)
	r.Bits = append(r.Bits, o.Bits...)
	r.Texts = append(r.Texts, o.Texts...)
	if r.Form != Sparse {
		return
	}
	shift := len(r.Sparse.Values)
	r.Sparse.Indices = append(r.Sparse.Indices, o.Sparse.Indices...)
	r.Sparse.Values = append(r.Sparse.Values, o.Sparse.Values...)
	for _, end := range o.Sparse.Indptr[1:] {
		r.Sparse.Indptr = append(r.Sparse.Indptr, shift+end)
	}
}

// Pick copies some of the rows in the given order. Texts are not copied, but shared.
func (r *Rows) Pick(order []int) Rows {
	p := New(r.Form, r.Width)
	p.N, p.Gaps = len(order), r.Gaps
	switch r.Form {
	case Dense:
		p.Dense = pick(r.Dense, r.Width, order)
		return p
	case Bits:
		p.Bits, p.Words = pick(r.Bits, r.Words, order), r.Words
		return p
	case Texts:
		p.Texts = pick(r.Texts, 1, order)
		return p
	}
	values := 0
	for _, i := range order {
		values += r.Sparse.Indptr[i+1] - r.Sparse.Indptr[i]
	}
	p.Sparse.Indptr = make([]int, 1, p.N+1)
	p.Sparse.Indices, p.Sparse.Values = make([]int32, 0, values), make([]float32, 0, values)
	for _, i := range order {
		p.addSparse(r.Sparse.Row(i))
	}
	return p
}

// pick copies some rows of a table.
func pick[T any](table []T, width int, order []int) []T {
	some := make([]T, 0, len(order)*width)
	for _, i := range order {
		some = append(some, table[i*width:(i+1)*width]...)
	}
	return some
}

// Reset drops the rows and keeps their memory.
func (r *Rows) Reset() {
	r.N, r.Dense, r.Bits, r.Texts = 0, r.Dense[:0], r.Bits[:0], r.Texts[:0]
	if r.Form == Sparse {
		s := &r.Sparse
		s.Indptr, s.Indices, s.Values = s.Indptr[:1], s.Indices[:0], s.Values[:0]
	}
}

// Reserve takes the memory for n more dense rows at once: growing to it would leave as much behind.
func (r *Rows) Reserve(n int) {
	switch {
	case r.Form != Dense || n > math.MaxInt/max(1, r.Width):
	case r.Dense == nil:
		r.Dense = make([]float32, 0, n*r.Width) // which Grow would write to, and so have resident
	default:
		r.Dense = slices.Grow(r.Dense, n*r.Width)
	}
}

// Row is what is kept of a row, dense or sparse, with the columns of its values if it is sparse.
func (r *Rows) Row(i int) (indices []int32, values []float32) {
	if r.Form == Sparse {
		return r.Sparse.Row(i)
	}
	return nil, r.Dense[i*r.Width : (i+1)*r.Width]
}

// Bytes is about how much memory the rows take.
func (r *Rows) Bytes() int64 {
	n := 4*len(r.Dense) + 8*len(r.Sparse.Values) + 8*len(r.Bits)
	for _, t := range r.Texts {
		n += 4 * (len(t) + 8)
	}
	return int64(n)
}

// Tile returns the rows from up to, not including, to as a matrix. Sparse ones are filled up with their zeros in the
// memory of buf, where they stay until the next call with it.
func (r *Rows) Tile(from, to int, buf *[]float32) kernelops.Matrix {
	m := kernelops.Matrix{Rows: to - from, Cols: r.Width, Stride: r.Width}
	if r.Form != Sparse {
		m.Data = r.Dense[from*r.Width : to*r.Width]
		return m
	}
	*buf = kernelops.Resize(*buf, m.Rows*m.Cols)
	m.Data = *buf
	clear(m.Data)
	for i := range m.Rows {
		row := m.Row(i)
		indices, values := r.Sparse.Row(from + i)
		for e, j := range indices {
			row[j] = values[e]
		}
	}
	return m
}

// Tiles goes through the rows from up to, not including, to in tiles of at most most: the first row of each, and the
// tile, as Tile says.
func (r *Rows) Tiles(from, to, most int, buf *[]float32) iter.Seq2[int, kernelops.Matrix] {
	return r.tiles(from, to, r.tileRows(most), 0, buf)
}

// LongTiles is Tiles where the last tile may be an eighth longer, rather than leave a short one after it.
func (r *Rows) LongTiles(from, to, most int, buf *[]float32) iter.Seq2[int, kernelops.Matrix] {
	step := r.tileRows(most)
	return r.tiles(from, to, step, step/8, buf)
}

func (r *Rows) tileRows(most int) int { return max(1, min(most, TileFloats/max(1, r.Width))) }

// tiles are of step rows; the last has as many or fewer, or up to spare more.
func (r *Rows) tiles(from, to, step, spare int, buf *[]float32) iter.Seq2[int, kernelops.Matrix] {
	return func(yield func(int, kernelops.Matrix) bool) {
		for from < to {
			end := from + step
			if end+spare >= to {
				end = to
			}
			if !yield(from, r.Tile(from, end, buf)) {
				return
			}
			from = end
		}
	}
}

// Rows of a tile of queries and of a tile of the base that they are compared with, at most; and values of either.
const (
	QueryRows  = 256
	BaseRows   = 4096
	TileFloats = 4 << 20
)

// SquaredDistance is |x-y|^2 in float64, by 4 lanes: lane i adds the columns j with j mod 4 = i, ascending; then
// (0 + 1) + (2 + 3).
func SquaredDistance[T float32 | float64](x []float32, y []T) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	j := 0
	for ; j+4 <= len(x); j += 4 {
		d0, d1 := float64(x[j])-float64(y[j]), float64(x[j+1])-float64(y[j+1])
		d2, d3 := float64(x[j+2])-float64(y[j+2]), float64(x[j+3])-float64(y[j+3])
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
	}
	for ; j < len(x); j++ {
		d := float64(x[j]) - float64(y[j])
		switch j % 4 {
		case 0:
			s0 += float64(d * d)
		case 1:
			s1 += float64(d * d)
		default:
			s2 += float64(d * d)
		}
	}
	return (s0 + s1) + (s2 + s3)
}
