package kernels

import "github.com/gram-compute/gram/kernelops"

// Points are rows as a kernel takes them: beside the rows as they were read, for rbf the centered ones and what is
// proved of each. They keep memory between calls of Set.
type Points struct {
	Rows     kernelops.Matrix // as they were read
	centered kernelops.Matrix // Rows themselves where nothing is centered
	shares   []share          // of each row; nil for other kernels
	memory   []float32
}

// Set makes the points of rows, which they share: linear in the values.
func (p *Points) Set(f Function, ops *kernelops.Set, rows kernelops.Matrix) {
	p.Rows, p.centered, p.shares = rows, rows, p.shares[:0]
	if f.Kind != kernelops.RBF {
		return
	}
	if f.Centered() {
		p.center(f, ops)
	}
	for i := range rows.Rows {
		p.shares = append(p.shares, f.rowShare(ops, p.centered.Row(i)))
	}
}

// center fills centered: each value is x less the origin, rounded once.
func (p *Points) center(f Function, ops *kernelops.Set) {
	n, width := p.Rows.Rows, p.Rows.Cols
	p.memory = kernelops.Resize(p.memory, n*width)
	p.centered = kernelops.Matrix{Data: p.memory, Rows: n, Cols: width, Stride: width}
	for i := range n {
		row := p.centered.Row(i)
		copy(row, p.Rows.Row(i))
		ops.Axpy(row, f.origin, -1)
	}
}

func (f Function) rowShare(ops *kernelops.Set, row []float32) share {
	n := len(row)
	if f.sparse {
		n = 0
		for _, v := range row {
			if v != 0 {
				n++
			}
		}
	}
	return f.shareOf(ops.Dot(row, row), n)
}

// Range returns the points from up to, not including, to. It shares their memory.
func (p *Points) Range(from, to int) *Points {
	some := &Points{Rows: p.Rows.RowRange(from, to), centered: p.centered.RowRange(from, to)}
	if len(p.shares) > 0 {
		some.shares = p.shares[from:to]
	}
	return some
}

// most are the largest shares of a row.
func (p *Points) most() (m share) {
	for _, v := range p.shares {
		m = m.max(v)
	}
	return m
}

// twoMost are the sums of the two largest shares.
func (p *Points) twoMost() share {
	var first, second share
	for _, v := range p.shares {
		second = second.max(share{min(first.proved, v.proved), min(first.typical, v.typical)})
		first = first.max(v)
	}
	return first.plus(second)
}

// Held is what a kernel needs of rows that a machine holds and changes one at a time, beside the rows themselves.
// The zero Held is of no rows.
type Held struct {
	centered []float32 // rows x width; nil where nothing is centered
	shares   []share   // of each row; nil for other kernels
}

// Begin takes over all rows.
func (h *Held) Begin(f Function, ops *kernelops.Set, rows kernelops.Matrix) {
	var p Points
	p.Set(f, ops, rows)
	*h = Held{centered: p.memory, shares: p.shares}
}

// Grow makes room for a row behind all others.
func (h *Held) Grow(f Function) {
	if f.Centered() {
		h.centered = append(h.centered, make([]float32, f.width)...)
	}
	if f.Kind == kernelops.RBF {
		h.shares = append(h.shares, share{})
	}
}

// Put makes row i of p the one at a place.
func (h *Held) Put(f Function, place int, p *Points, i int) {
	if f.Centered() {
		copy(h.centered[place*f.width:(place+1)*f.width], p.centered.Row(i))
	}
	if f.Kind == kernelops.RBF {
		h.shares[place] = p.shares[i]
	}
}

// Swap exchanges two rows.
func (h *Held) Swap(f Function, i, j int) {
	if f.Centered() {
		for k := range f.width {
			a, b := &h.centered[i*f.width+k], &h.centered[j*f.width+k]
			*a, *b = *b, *a
		}
	}
	if f.Kind == kernelops.RBF {
		h.shares[i], h.shares[j] = h.shares[j], h.shares[i]
	}
}

// Points returns the first of the rows as points; rows are those as they were read.
func (h *Held) Points(f Function, rows kernelops.Matrix) *Points {
	p := &Points{Rows: rows, centered: rows}
	if f.Kind != kernelops.RBF {
		return p
	}
	p.shares = h.shares[:rows.Rows]
	if f.Centered() {
		p.centered.Data = h.centered[:rows.Rows*f.width]
	}
	return p
}

// Roads says how the values of row i of p with the first n rows held were found; differences tells those that
// were taken from differences, nil for none.
func (h *Held) Roads(f Function, p *Points, i, n int, differences func(place int) bool) (r Roads) {
	if f.Kind != kernelops.RBF || n == 0 {
		return r
	}
	for place, held := range h.shares[:n] {
		if differences != nil && differences(place) {
			r.Differences++
			continue
		}
		if bound := f.error(p.shares[i].plus(held)); bound <= MaxError {
			r.products(bound)
		}
	}
	return r
}
