package kernels

import (
	"slices"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/kernelops"
)

// Points are rows as a kernel takes them: beside the rows as they were read, for rbf the centered ones and what is proved
// of each. They keep memory between calls of Set.
type Points struct {
	Rows     kernelops.Matrix // as they were read
	centered kernelops.Matrix // Rows themselves where nothing is centered
	slack    []float64        // of each row, see slackOf; nil for other kernels
	memory   []float32
}

// Set makes the points of rows, which they share: linear in the values.
func (p *Points) Set(f Function, ops *kernelops.Set, rows kernelops.Matrix) {
	p.Rows, p.centered, p.slack = rows, rows, p.slack[:0]
	if f.Kind != kernelops.RBF {
		return
	}
	if f.Centered() {
		p.center(f, ops)
	}
	for i := range rows.Rows {
		p.slack = append(p.slack, f.rowSlack(ops, p.centered.Row(i)))
	}
	if seeded.Is(seeded.NoCentering) {
		p.centered = rows // with the bound of centered rows
	}
}

// center fills centered: each value is x less the origin, rounded once.
func (p *Points) center(f Function, ops *kernelops.Set) {
	n, width := p.Rows.Rows, p.Rows.Cols
	if cap(p.memory) < n*width {
		p.memory = make([]float32, n*width)
	}
	p.centered = kernelops.Matrix{Data: p.memory[:n*width], Rows: n, Cols: width, Stride: width}
	for i := range n {
		row := p.centered.Row(i)
		copy(row, p.Rows.Row(i))
		ops.Axpy(row, f.origin, -1)
	}
}

func (f Function) rowSlack(ops *kernelops.Set, row []float32) float64 {
	n := len(row)
	if f.sparse {
		n = 0
		for _, v := range row {
			if v != 0 {
				n++
			}
		}
	}
	return f.slackOf(ops.Dot(row, row), n)
}

// Range returns the points from up to, not including, to. It shares their memory.
func (p *Points) Range(from, to int) *Points {
	some := &Points{Rows: p.Rows.RowRange(from, to), centered: p.centered.RowRange(from, to)}
	if len(p.slack) > 0 {
		some.slack = p.slack[from:to]
	}
	return some
}

// most is the largest share of a row.
func (p *Points) most() float64 {
	if len(p.slack) == 0 {
		return 0
	}
	return slices.Max(p.slack)
}

// twoMost is the sum of the two largest shares.
func (p *Points) twoMost() float64 {
	first, second := 0.0, 0.0
	for _, v := range p.slack {
		switch {
		case v > first:
			first, second = v, first
		case v > second:
			second = v
		}
	}
	return first + second
}
