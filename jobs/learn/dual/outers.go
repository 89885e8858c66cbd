package dual

import "github.com/gram-compute/gram/kernelops"

// Outers adds up bend x x^T over rows, some rows at a time, with the same bits as AddOuter, which adds one.
type Outers struct {
	n, most     int
	triangle    []float64
	rows, bends []float64 // rows not yet added, [most x n], and their bends
	parts       []float64 // bend times x of each such row, at one column
}

// outersRows is how many rows are added at once, fewer if n is small: with up to a hundred columns they stay in the
// first-level cache, and a large triangle is read from memory once for all of them.
const outersRows = 32

// NewOuters is the sum over no rows, of n columns with that of the bias. Its rows take no more memory than its
// triangle.
func NewOuters(n int) *Outers {
	most := min(outersRows, (n+1)/2)
	return &Outers{n: n, most: most, triangle: make([]float64, TriangleLen(n)), rows: make([]float64, 0, most*n),
		bends: make([]float64, 0, most), parts: make([]float64, most)}
}

// Add adds one row, all of whose numbers are finite.
func (o *Outers) Add(x Row, bend float64) {
	at := len(o.rows)
	o.rows = o.rows[:at+o.n]
	spread := x.Spread(o.rows[at:])
	if x.Index != nil && 8*len(x.Index) < o.n { // AddOuter skips the zeros of a sparse row, which is faster
		o.rows = o.rows[:at]
		o.flush(x.ops())
		AddOuter(o.triangle, spread, bend)
		return
	}
	if o.bends = append(o.bends, bend); len(o.bends) == o.most {
		o.flush(x.ops())
	}
}

// flush adds the rows that wait. It also adds the products with 0 that AddOuter leaves out. That changes no sum: sums
// begin at +0, so none is -0.
func (o *Outers) flush(ops *kernelops.Set) {
	parts := o.parts[:len(o.bends)]
	for i, at := 0, 0; i < o.n && len(parts) > 0; i++ {
		for r, bend := range o.bends {
			parts[r] = float64(bend * o.rows[r*o.n+i])
		}
		ops.Mixed.AddScaledRows(o.triangle[at:at+i+1], o.rows, o.n, parts)
		at += i + 1
	}
	o.rows, o.bends = o.rows[:0], o.bends[:0]
}

// Triangle returns the sum over all rows.
func (o *Outers) Triangle(ops *kernelops.Set) []float64 {
	o.flush(ops)
	return o.triangle
}

// Len is the length of the triangle.
func (o *Outers) Len() int { return len(o.triangle) }
