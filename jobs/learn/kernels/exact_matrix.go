package kernels

import "github.com/gram-compute/gram/kernelops"

// ExactMatrix evaluates a kernel in float64, of many rows and many others, with proved errors: of rbf from products of
// centered rows where their proved error is within maxProductError, else from differences as Exact has them. A value
// depends on its two rows and the Function alone. One goroutine.
type ExactMatrix struct {
	Function
	Ops   *kernelops.Set
	space kernelops.ProductSpace
	rows  ExactRows
	wide  []float64
	zeros []float32
}

// ExactPoints are rows as an ExactMatrix takes them. They keep memory between calls of Set.
type ExactPoints struct {
	rows    kernelops.Matrix
	squares []float64 // of rbf: |x|^2 of each row less the origin
	own     []float64
}

// Rows are the rows as they were read.
func (p *ExactPoints) Rows() kernelops.Matrix { return p.rows }

// Squares are those of Set; nil of other kernels than rbf.
func (p *ExactPoints) Squares() []float64 { return p.squares }

// Squares returns the squared norms of rows less the origin, in to: linear in the values. Other kernels than rbf have
// none.
func (e *ExactMatrix) Squares(to []float64, rows kernelops.Matrix) []float64 {
	if e.Kind != kernelops.RBF {
		return nil
	}
	to = kernelops.Resize(to, rows.Rows)
	origin := e.origin
	if origin == nil {
		e.zeros = kernelops.Resize(e.zeros, rows.Cols)
		origin = e.zeros
	}
	for i := range to {
		to[i] = squareOfDifference(rows.Row(i), origin)
	}
	return to
}

// Set makes the points of rows, which they share. squares are those of Squares; of nil they are computed.
func (e *ExactMatrix) Set(p *ExactPoints, rows kernelops.Matrix, squares []float64) {
	if p.rows, p.squares = rows, squares; squares == nil {
		p.squares = e.Squares(p.own, rows)
		p.own = p.squares
	}
}

// Values sets dst[i*n+j], of n rows of y, to the kernel of row i of x and row j of y.
func (e *ExactMatrix) Values(dst []float64, x, y *ExactPoints) {
	e.Ops.Mixed.Products(dst, x.rows, y.rows, e.origin, &e.space)
	if e.Kind != kernelops.RBF {
		k := Exact{e.Kernel}
		for i, product := range dst {
			dst[i] = k.of(product)
		}
		return
	}
	n, far := y.rows.Rows, 0.0
	for _, s := range y.squares {
		far = max(far, s)
	}
	gamma := float64(e.Scale)
	for i, own := range x.squares {
		row := dst[i*n : (i+1)*n]
		if !e.near(own, far) {
			e.differences(row, x, i, y)
		} else {
			for j, product := range row {
				row[j] = -float64(gamma * max(0, (own+y.squares[j])-float64(2*product)))
			}
		}
	}
	e.Ops.Mixed.Exps(dst)
}

// differences sets the exponents of a row some of whose products may be too far off.
func (e *ExactMatrix) differences(row []float64, x *ExactPoints, i int, y *ExactPoints) {
	own, gamma := x.squares[i], float64(e.Scale)
	e.wide = kernelops.Resize(e.wide, len(row))
	e.rows.Ops = e.Ops
	e.rows.squares(e.wide, x.rows.Row(i), y.rows)
	for j, product := range row {
		square := e.wide[j]
		if e.near(own, y.squares[j]) {
			square = max(0, (own+y.squares[j])-float64(2*product))
		}
		row[j] = -float64(gamma * square)
	}
}

// maxProductError is the most that gamma |x-y|^2 may be off in an ExactMatrix where it comes from products.
const maxProductError = 0x1p-34

// near reports whether gamma |x-y|^2 may come from products of rows of these squared norms.
func (e *ExactMatrix) near(x, y float64) bool { return e.productError(x, y) <= maxProductError }

// productError bounds the error of gamma |x-y|^2 by products, of rows of these Squares.
//
// With u = 2^-53 and g the gamma(n) of the n roundings of a sum (Higham, section 3.1), a product is off by g |x| |y|,
// at most g (|x|^2 + |y|^2)/2, and both norms together by g (|x|^2 + |y|^2). The rounding of x less the origin, by up
// to u |x|, moves |x-y|^2 by 2u (|x| + |y|)^2 <= 4u (|x|^2 + |y|^2). What follows rounds three times: the sum of the
// norms, the difference, at most 2 (|x|^2 + |y|^2), and the product with gamma: by u, 2u and 2u of |x|^2 + |y|^2.
func (e *ExactMatrix) productError(x, y float64) float64 {
	g := float64(float64(e.width+4) * unit64)
	g /= 1 - g
	return float64(float64(roomy*float64(e.Scale))*float64((float64(2*g)+10*unit64)*(x+y))) + least
}

// Error bounds how far a value may lie from the kernel in exact arithmetic, of rows whose norms, as they were read, and
// whose Squares are at most these; +Inf beyond float64.
func (e *ExactMatrix) Error(normX, normY, squareX, squareY float64) float64 {
	k := Exact{e.Kernel}
	if e.Kind != kernelops.RBF {
		return k.errorOf(float64(e.width), normX, normY)
	}
	// |exp(-t-d) - exp(-t)| <= exp(|d|) - 1
	off := min(maxProductError, e.productError(squareX, squareY))
	return k.Error(e.width, normX, normY) + float64(1.01*off)
}
