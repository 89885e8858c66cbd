package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// parzen evaluates log densities of classes. One goroutine.
type parzen struct {
	*densityModel
	ops       *kernelops.Set
	ws        kernelops.Workspace
	logWeight []float64 // of each row; nil where every row weighs 1
	norms     []float64 // |x_i|^2 of each row
	constant  []float64 // see constants
	spread    []float32 // of a tile
	single    []float32 // of a row
	distances []float32 // of a tile of queries from a class
	terms     []float64
	wide      []int // queries
	gaps      *gaps // nil where no number may be missing
	expanded  expansion
}

func newParzen(m *densityModel, ops *kernelops.Set) *parzen {
	p := &parzen{densityModel: m, ops: ops, constant: m.constants(), norms: make([]float64, m.base.N),
		expanded: expansion{ops: ops}}
	if m.base.weights != nil {
		p.logWeight = make([]float64, len(m.base.weights))
		for i, w := range m.base.weights {
			p.logWeight[i] = fmath.Log(float64(w))
		}
	}
	for i := range p.norms {
		_, values := m.base.Row(i)
		p.norms[i] = norm(values)
	}
	if m.space.Omits() {
		p.gaps = newGaps(m)
	}
	return p
}

// constants are of each class: log p(y) - log W_y - d log h_y - d/2 log(2 pi).
func (m *densityModel) constants() []float64 {
	constant, d := m.LogPrior(m.space.Labels, m.weights), float64(m.space.Width)
	for y, h := range m.bandwidth {
		constant[y] -= fmath.Log(m.weights[y]) + float64(d*fmath.Log(h)) + float64(float64(d/2)*fmath.Log(2*math.Pi))
	}
	return constant
}

func norm(values []float32) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(float64(v) * float64(v))
	}
	return sum
}

// joint sets dst[i*classes+y] to log p(x_i, y) of each row of x: O(x.Rows * rows * width).
func (p *parzen) joint(ctx context.Context, dst []float64, x kernelops.Matrix) error {
	for y := range p.weights {
		if all, err := p.jointPresent(ctx, dst, x, y); all || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		n := p.first[y+1] - p.first[y]
		p.distances = kernelops.Resize(p.distances, x.Rows*n)
		d := kernelops.Matrix{Data: p.distances, Rows: x.Rows, Cols: n, Stride: n}
		if err := p.measure(ctx, d, x, p.first[y]); err != nil {
			return err
		}
		err := p.sums(ctx, x, d, y, func(i int, greatest, sum float64) {
			dst[i*len(p.weights)+y] = p.constant[y] + (greatest + fmath.Log(sum))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measure sets d to the float32 distances of the rows of x from those of the base from first on.
func (p *parzen) measure(ctx context.Context, d, x kernelops.Matrix, first int) error {
	for from, y := range p.base.Tiles(first, first+d.Cols, rows.BaseRows, &p.spread) {
		if err := ctx.Err(); err != nil {
			return err
		}
		tile := kernelops.Matrix{Data: d.Data[from-first:], Rows: d.Rows, Cols: y.Rows, Stride: d.Stride}
		p.ops.SqDists(tile, x, y, &p.ws)
	}
	return nil
}
