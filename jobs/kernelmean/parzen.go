package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// leastTerm is the logarithm of the least term that counts, relative to the greatest of its class: below it
// a term is less than the last bit of the sum.
const leastTerm = -37

// parzen evaluates log densities of classes. One goroutine.
type parzen struct {
	*densityModel
	ops       *kernelops.Set
	ws        kernelops.Workspace
	all       features.Vectors // the base
	logWeight []float64        // of each row; nil where every row weighs 1
	norms     []float64        // |x_i|^2 of each row
	constant  []float64        // see constants
	spread    kernels.Rows     // of a tile
	single    kernels.Rows     // of a row
	distances []float32        // of a tile of queries from a class
	terms     []float64
}

func newParzen(m *densityModel, ops *kernelops.Set) *parzen {
	p := &parzen{densityModel: m, ops: ops, constant: m.constants()}
	p.over(m.base)
	return p
}

// over makes rows, class after class, those that are evaluated from now on.
func (p *parzen) over(b *base) {
	p.base, p.first, p.all, p.norms, p.logWeight = b, b.bounds(len(p.weights)), b.vectors(), make([]float64, b.rows()), nil
	if b.weights != nil {
		p.logWeight = make([]float64, len(b.weights))
		for i, w := range b.weights {
			p.logWeight[i] = fmath.Log(float64(w))
		}
	}
	for i := range p.norms {
		_, values := b.values(i)
		p.norms[i] = norm(values)
	}
}

// constants are of each class: log p(y) - log W_y - d log h_y - d/2 log(2 pi).
func (m *densityModel) constants() []float64 {
	constant, d := m.logPrior(), float64(m.space.Width)
	for y, h := range m.bandwidth {
		constant[y] -= fmath.Log(m.weights[y]) + float64(d*fmath.Log(h)) + float64(float64(d/2)*fmath.Log(2*math.Pi))
	}
	return constant
}

// logPrior is log p(y) of each class.
func (m *densityModel) logPrior() []float64 {
	prior, total := make([]float64, len(m.weights)), 0.0
	for _, w := range m.weights {
		total += w
	}
	for y, w := range m.weights {
		if m.prior == priorUniform {
			prior[y] = -fmath.Log(float64(len(prior)))
		} else {
			prior[y] = fmath.Log(w) - fmath.Log(total)
		}
	}
	return prior
}

// values are the stored values of a row, with their columns where it is sparse.
func (b *base) values(row int) ([]int32, []float32) {
	if b.isSparse() {
		return b.sparse.Row(row)
	}
	return nil, b.dense[row*b.width : (row+1)*b.width]
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
		first, rows := p.first[y], p.first[y+1]-p.first[y]
		if need := x.Rows * rows; cap(p.distances) < need {
			p.distances = make([]float32, need)
		}
		d := kernelops.Matrix{Data: p.distances[:x.Rows*rows], Rows: x.Rows, Cols: rows, Stride: rows}
		if err := p.measure(ctx, d, x, first); err != nil {
			return err
		}
		for i := range x.Rows {
			greatest, sum := p.sum(x.Row(i), d.Row(i), first, p.bandwidth[y])
			dst[i*len(p.weights)+y] = p.constant[y] + (greatest + fmath.Log(sum))
		}
	}
	return nil
}

// measure sets d to the float32 distances of the rows of x from those of the base from first on.
func (p *parzen) measure(ctx context.Context, d, x kernelops.Matrix, first int) error {
	step := tileRows(p.space.Width, baseRows)
	for from := 0; from < d.Cols; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(d.Cols, from+step)
		tile := kernelops.Matrix{Data: d.Data[from:], Rows: d.Rows, Cols: end - from, Stride: d.Stride}
		p.ops.SqDists(tile, x, p.spread.Of(p.all, first+from, first+end), &p.ws)
	}
	return nil
}

// sum is the sum over the rows of a class, from first on, of w_i exp(-|x - x_i|^2 / (2 h^2)), relative to its
// greatest term, and the logarithm of that. Terms below e^-37 times the greatest are left out. approximate are the
// float32 distances: they only spare the float64 distance of rows whose term is surely left out.
func (p *parzen) sum(x, approximate []float32, first int, h float64) (greatest, sum float64) {
	scale := 1 / float64(2*float64(h*h))
	xNorm, low := norm(x), math.Inf(-1)
	for j, q := range approximate {
		low = max(low, p.term(first+j, scale, float64(q)+p.slack(q, xNorm, first+j)))
	}
	p.terms, greatest = p.terms[:0], math.Inf(-1)
	for j, q := range approximate {
		if p.term(first+j, scale, float64(q)-p.slack(q, xNorm, first+j)) < low+leastTerm-1 {
			continue
		}
		e := p.term(first+j, scale, squaredDistance(x, p.single.Of(p.all, first+j, first+j+1).Row(0)))
		p.terms = append(p.terms, e)
		greatest = max(greatest, e)
	}
	for _, e := range p.terms {
		if e-greatest >= leastTerm {
			sum += fmath.Exp(e - greatest)
		}
	}
	return greatest, sum
}

// term is log w_i - d/(2h^2).
func (p *parzen) term(row int, scale, squared float64) float64 {
	e := -float64(scale * max(0, squared))
	if p.logWeight != nil {
		e += p.logWeight[row]
	}
	return e
}

// slack bounds by how much the float32 distance q from a row may err: twice the bound of docs/numerics.md, for
// sums of up to 2^20 terms; without a bound it is infinite.
func (p *parzen) slack(q float32, xNorm float64, row int) float64 {
	norms := xNorm + p.norms[row]
	if q-q != 0 || norms > 1e37 || p.space.Width > 1<<20 {
		return math.Inf(1)
	}
	return float64(float64(float64(p.space.Width+8)*0x1p-22)*norms) + 1e-30
}

// squaredDistance is |x-y|^2 by 4 lanes of float64: lane j takes the columns i with i mod 4 = j.
func squaredDistance(x, y []float32) float64 {
	var lane [4]float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a, b := float64(x[i])-float64(y[i]), float64(x[i+1])-float64(y[i+1])
		c, d := float64(x[i+2])-float64(y[i+2]), float64(x[i+3])-float64(y[i+3])
		lane[0] += float64(a * a)
		lane[1] += float64(b * b)
		lane[2] += float64(c * c)
		lane[3] += float64(d * d)
	}
	for j := i; j < len(x); j++ {
		d := float64(x[j]) - float64(y[j])
		lane[j-i] += float64(d * d)
	}
	return (lane[0] + lane[1]) + (lane[2] + lane[3])
}
