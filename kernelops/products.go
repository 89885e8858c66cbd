package kernelops

import (
	"math"

	"github.com/gram-compute/gram/kernelops/fmath"
)

// ProductSpace is memory that Products keeps between calls. The zero ProductSpace is ready; one goroutine.
type ProductSpace struct{ x, y, tile []float64 }

// productTile is a tile of products: dst[i*columns+j] = math.FMA(x[k*rows+i], y[k*columns+j], dst[i*columns+j]).
type productTile struct {
	rows, columns int
	add           func(dst, x, y []float64, dim int)
}

// productSteps bounds the columns of one call of an implementation, see callElements.
const productSteps = 2048

// Products sets dst[i*y.Rows+j] to the product in float64 of row i of x and row j of y, both less an origin; nil is 0:
//
//	c := 0.0
//	for k := range x.Cols {
//		c = math.FMA(float64(x.Row(i)[k])-float64(origin[k]), float64(y.Row(j)[k])-float64(origin[k]), c)
//	}
//
// With n columns the error is at most n 2^-53 times the sum of the magnitudes of the terms, to first order.
func (m *Mixed) Products(dst []float64, x, y Matrix, origin []float32, space *ProductSpace) {
	x.check()
	y.check()
	if x.Cols != y.Cols || len(dst) != x.Rows*y.Rows || origin != nil && len(origin) != x.Cols {
		panic("kernelops: rows have different lengths")
	}
	clear(dst)
	t := &m.products
	tile := Resize(space.tile, t.rows*t.columns)
	space.tile = tile
	for k := 0; k < x.Cols; k += productSteps {
		dim := min(productSteps, x.Cols-k)
		tiles := (x.Rows + t.rows - 1) / t.rows
		space.x, space.y = Resize(space.x, tiles*t.rows*dim), Resize(space.y, t.columns*dim)
		for i := range tiles {
			packWide(space.x[i*t.rows*dim:(i+1)*t.rows*dim], t.rows, x.RowRange(i*t.rows, x.Rows), origin, k)
		}
		for j := 0; j < y.Rows; j += t.columns {
			packWide(space.y, t.columns, y.RowRange(j, y.Rows), origin, k)
			columns := min(t.columns, y.Rows-j)
			for i := 0; i < x.Rows; i += t.rows {
				rows := min(t.rows, x.Rows-i)
				for r := range rows {
					copy(tile[r*t.columns:], dst[(i+r)*y.Rows+j:][:columns])
				}
				t.add(tile, space.x[i*dim:], space.y, dim)
				for r := range rows {
					copy(dst[(i+r)*y.Rows+j:][:columns], tile[r*t.columns:])
				}
			}
		}
	}
}

// packWide packs the first rows of a matrix, from a column on, as float64: all rows of a column beside each other. Rows
// that the matrix has not are 0.
func packWide(to []float64, rows int, x Matrix, origin []float32, column int) {
	dim := len(to) / rows
	for r := range rows {
		at := r
		switch {
		case r >= x.Rows:
			for range dim {
				to[at] = 0
				at += rows
			}
		case origin == nil:
			for _, v := range x.Row(r)[column : column+dim] {
				to[at] = float64(v)
				at += rows
			}
		default:
			o := origin[column : column+dim]
			for k, v := range x.Row(r)[column : column+dim] {
				to[at] = float64(v) - float64(o[k])
				at += rows
			}
		}
	}
}

// expMost is the largest magnitude of an argument that the vector code takes.
const expMost = 700

// Exps sets each element to its exponential:
//
//	for i, v := range x {
//		x[i] = fmath.Exp(v)
//	}
func (m *Mixed) Exps(x []float64) {
	for len(x) > 0 {
		part := x[:min(len(x), expBlock)]
		x = x[len(part):]
		near := true
		for _, v := range part {
			near = near && v >= -expMost && v <= expMost
		}
		done := 0
		if near && m.exps != nil {
			done = m.exps(part)
		}
		for i, v := range part[done:] {
			part[done+i] = fmath.Exp(v)
		}
	}
}

// expBlock is how many exponentials are looked at together.
const expBlock = 256

func productGeneric() productTile {
	return productTile{rows: 2, columns: 2, add: func(dst, x, y []float64, dim int) {
		a, b, c, d := dst[0], dst[1], dst[2], dst[3]
		for k := range dim {
			u, v := x[2*k], x[2*k+1]
			p, q := y[2*k], y[2*k+1]
			a = math.FMA(u, p, a)
			b = math.FMA(u, q, b)
			c = math.FMA(v, p, c)
			d = math.FMA(v, q, d)
		}
		dst[0], dst[1], dst[2], dst[3] = a, b, c, d
	}}
}
