package kernels

import (
	"slices"

	"github.com/gram-compute/gram/kernelops"
)

// Held is what a kernel needs of rows that a machine holds and changes one at a time, beside the rows themselves. The zero
// Held is of no rows.
type Held struct {
	centered []float32 // rows x width; nil where nothing is centered
	slack    []float64 // of each row; nil for kernels without
}

// Begin takes over all rows.
func (h *Held) Begin(f Function, ops *kernelops.Set, rows kernelops.Matrix) {
	var p Points
	p.Set(f, ops, rows)
	*h = Held{centered: p.memory, slack: p.slack}
}

// Grow makes room for a row behind all others.
func (h *Held) Grow(f Function) {
	if f.Centered() {
		h.centered = append(h.centered, make([]float32, f.width)...)
	}
	if f.Kind == kernelops.RBF {
		h.slack = append(h.slack, 0)
	}
}

// Put makes row i of p the one at a place.
func (h *Held) Put(f Function, place int, p *Points, i int) {
	if f.Centered() {
		copy(h.centered[place*f.width:(place+1)*f.width], p.centered.Row(i))
	}
	if f.Kind == kernelops.RBF {
		h.slack[place] = p.slack[i]
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
		h.slack[i], h.slack[j] = h.slack[j], h.slack[i]
	}
}

// Points returns the first of the rows as points; rows are those as they were read.
func (h *Held) Points(f Function, rows kernelops.Matrix) *Points {
	p := &Points{Rows: rows, centered: rows}
	if f.Kind != kernelops.RBF {
		return p
	}
	p.slack = h.slack[:rows.Rows]
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
	most := slices.Max(h.slack[:n])
	if bound := float64(f.gamma() * (p.slack[i] + most)); differences == nil && bound <= MaxError {
		return Roads{Bound: bound}
	}
	for place, slack := range h.slack[:n] {
		if differences != nil && differences(place) {
			r.Differences++
			continue
		}
		if bound := float64(f.gamma() * (p.slack[i] + slack)); bound <= MaxError {
			r.products(bound)
		}
	}
	return r
}
