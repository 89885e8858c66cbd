package sums

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/kernelops"
)

// Adder adds up the rows of a leaf by class, or by cluster, without rounding. One goroutine.
type Adder struct {
	classes, width int
	ops            *kernelops.Set
	sums, weight   *Exact
	squares        *Exact  // nil unless wanted
	counts         []int64 // rows of weight 1

	// Dense rows of weight 1 are added in parts first, see kernelops.Set.SumParts.
	rows        int       // in the parts
	least       []float32 // of the magnitudes above 0 of a tile
	low, high   []float32
	limit       []float64 // of each column: values below it fit its parts
	top, topSq  []float64
	parts, sqps []float64
	smallest    []float32 // of the magnitudes above 0 of all dense rows
	minus       []float32 // of Move
}

// NewAdder returns an adder of rows of that width.
func NewAdder(classes, width int, ops *kernelops.Set) *Adder {
	return &Adder{classes: classes, width: width, ops: ops, sums: NewExact(classes * width),
		weight: NewExact(classes), counts: make([]int64, classes)}
}

// NewMomentAdder returns an adder of rows and of their squares.
func NewMomentAdder(classes, width int, ops *kernelops.Set) *Adder {
	a := NewAdder(classes, width, ops)
	a.squares = NewExact(classes * width)
	return a
}

// Dense adds each row of x to its class. If weights is nil, each row weighs 1. All values are finite. The time is
// linear in the values.
func (a *Adder) Dense(x kernelops.Matrix, class []int32, weights []float32) {
	if weights != nil {
		for i, y := range class {
			a.weighted(int(y), x.Row(i), nil, weights[i])
		}
		return
	}
	for _, y := range class {
		a.counts[y]++
	}
	if x.Rows == 0 || a.width == 0 {
		return
	}
	a.begin()
	for from := 0; from < x.Rows; {
		to := min(x.Rows, from+kernelops.PartRows-a.rows)
		a.tile(x.RowRange(from, to), class[from:to])
		from = to
		if a.rows == kernelops.PartRows {
			a.flush()
		}
	}
}

// Move takes rows that Dense added out of the sums of one class each and adds them to those of another. x, weights and
// the classes they were in are what Dense was given, but for the order; others are an error of the caller that gives
// wrong sums. Not for the squares of moments.
func (a *Adder) Move(x kernelops.Matrix, from, to []int32, weights []float32) {
	if weights != nil || !a.fits() {
		a.Less(x, from, weights)
		a.Dense(x, to, weights)
		return
	}
	for i, y := range from {
		a.counts[y]--
		a.counts[to[i]]++
	}
	a.minus = kernelops.Resize(a.minus, x.Rows*x.Cols)
	minus := kernelops.Matrix{Data: a.minus, Rows: x.Rows, Cols: x.Cols, Stride: x.Cols}
	clear(minus.Data)
	for i := range x.Rows {
		a.ops.Axpy(minus.Row(i), x.Row(i), -1)
	}
	a.seen(minus, from)
	a.seen(x, to)
}

// fits reports whether the parts take all values of the dense rows so far without rounding.
func (a *Adder) fits() bool {
	for j, v := range a.smallest {
		if float64(v) < a.tiny(j) {
			return false
		}
	}
	return a.squares == nil && a.smallest != nil
}

// seen adds rows whose values are no larger and no smaller than those of rows before.
func (a *Adder) seen(x kernelops.Matrix, class []int32) {
	for from := 0; from < x.Rows; {
		to := min(x.Rows, from+kernelops.PartRows-a.rows)
		a.ops.SumParts(a.parts, a.top, x.RowRange(from, to), class[from:to])
		a.rows += to - from
		from = to
		if a.rows == kernelops.PartRows {
			a.flush()
		}
	}
}

// Less takes rows out of the sums again that Dense added, with the same classes and weights, and leaves no trace: sums
// are exact. Not for the squares of moments.
func (a *Adder) Less(x kernelops.Matrix, class []int32, weights []float32) {
	if weights != nil {
		for i, y := range class {
			a.weighted(int(y), x.Row(i), nil, -weights[i])
		}
		return
	}
	minus := kernelops.NewMatrix(x.Rows, x.Cols)
	for i, y := range class {
		a.counts[y] -= 2 // Dense counts one
		for j, v := range x.Row(i) {
			minus.Data[i*x.Cols+j] = -v
		}
	}
	a.Dense(minus, class, nil)
}

// Sparse is Dense for sparse rows; the time is linear in their entries.
func (a *Adder) Sparse(x dataset.Sparse, class []int32, weights []float32) {
	for i, y := range class {
		indices, values := x.Row(i)
		if weights != nil {
			a.weighted(int(y), values, indices, weights[i])
			continue
		}
		a.begin()
		a.counts[y]++
		a.sparse(int(y)*a.width, indices, values)
		if a.rows++; a.rows == kernelops.PartRows {
			a.flush()
		}
	}
}

// sparse adds a row of weight 1 to the parts of the class that begins at a cell, as SumParts and SquareParts do.
func (a *Adder) sparse(at int, indices []int32, values []float32) {
	n := a.sums.Len()
	first, second := a.parts[:n], a.parts[n:][:n]
	for e, j := range indices {
		v, cell := float64(values[e]), at+int(j)
		switch magnitude := math.Abs(v); {
		case v == 0:
			continue
		case magnitude >= a.limit[j]:
			a.fitColumn(int(j), magnitude)
		case magnitude < a.tiny(int(j)):
			a.one(cell, v)
			continue
		}
		part := (v + a.top[j]) - a.top[j]
		first[cell] += part
		second[cell] += v - part
		if a.squares != nil {
			a.sparseSquare(cell, float64(v*v), a.topSq[j])
		}
	}
}

func (a *Adder) sparseSquare(cell int, rest, unit float64) {
	n := a.squares.Len()
	part := (rest + unit) - unit
	a.sqps[cell] += part
	rest, unit = rest-part, float64(unit*partStep)
	part = (rest + unit) - unit
	a.sqps[n+cell] += part
	a.sqps[2*n+cell] += rest - part
}

// weighted adds one row, whose columns are indices, or all if that is nil.
func (a *Adder) weighted(class int, values []float32, indices []int32, weight float32) {
	a.weight.Add(class, float64(weight))
	at, w := class*a.width, float64(weight)
	for j, value := range values {
		cell, v := at+j, float64(value)
		if indices != nil {
			cell = at + int(indices[j])
		}
		a.sums.Add(cell, float64(w*v)) // of 24 bits each
		if a.squares != nil {
			a.squares.AddWeighted(cell, weight, float64(v*v))
		}
	}
}

// begin makes the parts. The limit of every column is 0 until fitColumn.
func (a *Adder) begin() {
	if a.parts != nil {
		return
	}
	a.low = slices.Repeat([]float32{float32(math.Inf(1))}, a.width)
	a.high = slices.Repeat([]float32{float32(math.Inf(-1))}, a.width)
	a.least, a.smallest = make([]float32, a.width), slices.Repeat([]float32{math.MaxFloat32}, a.width)
	a.limit, a.top = make([]float64, a.width), make([]float64, a.width)
	a.parts = make([]float64, 2*a.classes*a.width)
	if a.squares != nil {
		a.topSq, a.sqps = make([]float64, a.width), make([]float64, 3*a.classes*a.width)
	}
}

// tile adds rows to the parts, at most as many as there is room for.
func (a *Adder) tile(x kernelops.Matrix, class []int32) {
	if tiny := a.fit(x); tiny {
		x = a.withoutTiny(x, class)
	}
	a.ops.SumParts(a.parts, a.top, x, class)
	if a.squares != nil {
		a.ops.SquareParts(a.sqps, a.topSq, x, class)
	}
	a.rows += x.Rows
}

// slack is by how many powers of two a column's parts have room for larger values than the first ones, so that few
// tiles move them.
const slack = 2

// fit moves the parts of columns in which x has larger values than before. It reports whether x has values
// other than 0 that are too small for the parts of their column.
func (a *Adder) fit(x kernelops.Matrix) (tiny bool) {
	for j := range a.least {
		a.least[j] = math.MaxFloat32
	}
	a.ops.ColumnRanges(a.low, a.high, a.least, x)
	for j, limit := range a.limit {
		if largest := max(-float64(a.low[j]), float64(a.high[j])); largest >= limit && largest > 0 {
			a.fitColumn(j, largest)
		}
		tiny = tiny || float64(a.least[j]) < a.tiny(j)
		a.smallest[j] = min(a.smallest[j], a.least[j])
	}
	return tiny
}

// tiny returns the least magnitude above 0 that the parts of column j take without rounding: see
// kernelops.Set.SumParts.
func (a *Adder) tiny(j int) float64 {
	if a.squares != nil {
		return float64(a.limit[j] * 0x1p-33)
	}
	return float64(a.limit[j] * 0x1p-52)
}

// withoutTiny adds the values that are too small for parts, and returns the others.
func (a *Adder) withoutTiny(x kernelops.Matrix, class []int32) kernelops.Matrix {
	rest := kernelops.NewMatrix(x.Rows, x.Cols)
	for i, y := range class {
		row := rest.Row(i)
		copy(row, x.Row(i))
		for j, value := range row {
			if v := float64(value); v != 0 && math.Abs(v) < a.tiny(j) {
				a.one(int(y)*a.width+j, v)
				row[j] = 0
			}
		}
	}
	return rest
}

// one adds a value of weight 1.
func (a *Adder) one(cell int, v float64) {
	a.sums.Add(cell, v)
	if a.squares != nil {
		a.squares.Add(cell, float64(v*v))
	}
}

// fitColumn moves the parts of a column into the sums, and makes parts for values as large as that.
func (a *Adder) fitColumn(j int, largest float64) {
	for cell := j; cell < a.sums.Len(); cell += a.width {
		moveCell(a.sums, a.parts, cell)
		if a.squares != nil {
			moveCell(a.squares, a.sqps, cell)
		}
	}
	exponent := exponentAbove(largest) + slack
	a.limit[j], a.top[j] = math.Float64frombits(uint64(exponent+1023)<<52), kernelops.PartTop(exponent)
	if a.squares != nil {
		a.topSq[j] = kernelops.PartTop(2 * exponent)
	}
}

// flush moves the parts into the sums.
func (a *Adder) flush() {
	if a.rows == 0 {
		return
	}
	a.rows = 0
	move(a.sums, a.parts)
	if a.squares != nil {
		move(a.squares, a.sqps)
	}
}

func move(to *Exact, parts []float64) {
	for part := range slices.Chunk(parts, to.Len()) {
		for i, v := range part {
			if v != 0 {
				to.Add(i, v)
			}
		}
	}
	clear(parts)
}

// moveCell moves the parts of one sum.
func moveCell(to *Exact, parts []float64, cell int) {
	for i := cell; i < len(parts); i += to.Len() {
		to.Add(cell, parts[i])
		parts[i] = 0
	}
}

// end flushes and counts, before the sums are read.
func (a *Adder) end() {
	a.flush()
	for y, n := range a.counts {
		a.weight.Add(y, float64(n))
	}
	clear(a.counts)
}

// Rows returns the sums of all rows so far.
func (a *Adder) Rows() *Rows {
	a.end()
	return &Rows{Width: a.width, Sums: a.sums, Weight: a.weight}
}

// Moments returns the sums of all rows so far and of their squares.
func (a *Adder) Moments() *Moments {
	return &Moments{*a.Rows(), a.squares}
}

// Range returns the least and the greatest value of each column of dense rows of weight 1: nil before the first row,
// infinities if all rows were sparse.
func (a *Adder) Range() (low, high []float32) { return a.low, a.high }
