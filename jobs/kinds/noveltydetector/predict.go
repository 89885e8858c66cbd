package noveltydetector

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// predictor is a model with the memory for distances; one goroutine at a time.
type predictor struct {
	*model
	ops       *kernelops.Set
	reader    *features.Reader
	ws        kernelops.Workspace
	dense     []float32        // of a chunk
	spread    []float32        // of a tile
	kept      []kernelops.Base // of each tile of the base
	ids       []int
	dists     []float64
	nearest   [][]float64 // of each record of a chunk, ascending
	logWeight []float64   // of each row; nil where each weighs 1
	constant  float64     // -log W - d log h - d/2 log(2 pi)
	terms     []float64   // of each record of a chunk and row: their logarithms
	outcomes  []jobs.Outcome
}

// NewPredictor loads a model. A prediction takes time linear in training records times width.
func NewPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	return newPredictor(a, ops)
}

func newPredictor(a jobs.Arrays, ops *kernelops.Set) (*predictor, error) {
	m, err := jobs.Load[model](a)
	if err != nil {
		return nil, err
	}
	p := &predictor{model: m, ops: ops, reader: m.space.NewReader()}
	if m.detector == byDensity {
		d := float64(m.space.Width)
		p.constant = -fmath.Log(m.base.total()) - float64(d*fmath.Log(m.bandwidth)) -
			float64(float64(d/2)*fmath.Log(2*math.Pi))
		for _, w := range m.base.weights {
			p.logWeight = append(p.logWeight, fmath.Log(float64(w)))
		}
	}
	return p, nil
}

// Answers are inlier or outlier, where there is a threshold, with the distance from the k-th neighbor or the logarithm
// of the density.
func (p *predictor) Answers() jobs.Answers {
	value := "distance"
	if p.detector == byDensity {
		value = "log_density"
	}
	if p.threshold == nil {
		return jobs.Answers{Value: value, Clusters: true}
	}
	return evaluation.DetectorAnswers(value)
}

// Novelty is the distance, or less the logarithm of the density.
func (p *predictor) Novelty(o jobs.Outcome) float64 {
	if p.detector == byDensity {
		return -o.Value
	}
	return o.Value
}

// Predict tells the novelty of each record.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	most, visit := rows.QueryRows, p.neighbors
	if p.detector == byDensity {
		most, visit = max(1, min(rows.QueryRows, rows.TileFloats/max(1, p.base.N))), p.densities
	}
	err = rows.Chunks(ctx, v, min(most, max(1, rows.TileFloats/max(1, p.space.Width))), &p.dense,
		func(c rows.Chunk) error { return visit(ctx, c.X) })
	return p.outcomes, err
}

// answer adds an outcome of a value.
func (p *predictor) answer(value float64) {
	o := jobs.Outcome{Value: value}
	if p.threshold != nil {
		if o.Label = evaluation.Inlier; p.Novelty(o) > p.threshold[0] {
			o.Label = evaluation.Outlier
		}
	}
	p.outcomes = append(p.outcomes, o)
}

// neighbors measures how far the k-th neighbor of each row is.
func (p *predictor) neighbors(ctx context.Context, x kernelops.Matrix) error {
	p.nearest = slices.Grow(p.nearest[:0], x.Rows)[:x.Rows]
	for i := range p.nearest {
		p.nearest[i] = p.nearest[i][:0]
	}
	tile := 0
	for _, y := range p.base.Tiles(0, p.base.N, 1<<16, &p.spread) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if tile == len(p.kept) {
			p.kept = append(p.kept, kernelops.Base{})
		}
		base := &p.kept[tile]
		base.Keep(p.ops, y, x, &p.ws)
		tile++
		k := min(p.k, y.Rows)
		p.ids, p.dists = kernelops.Resize(p.ids, k*x.Rows), kernelops.Resize(p.dists, k*x.Rows)
		base.Search(p.ids, p.dists, k, x, nil, &p.ws)
		for i := range x.Rows {
			list := append(p.nearest[i], p.dists[i*k:(i+1)*k]...)
			slices.Sort(list) // total order: equal distances are equal numbers
			p.nearest[i] = list[:min(p.k, len(list))]
		}
	}
	for _, list := range p.nearest {
		p.answer(math.Sqrt(list[p.k-1]))
	}
	return nil
}

// densities measures the logarithm of the density at each row.
func (p *predictor) densities(ctx context.Context, x kernelops.Matrix) error {
	n := p.base.N
	p.terms = kernelops.Resize(p.terms, x.Rows*n)
	scale := 1 / float64(2*float64(p.bandwidth*p.bandwidth))
	for from, y := range p.base.Tiles(0, n, rows.BaseRows, &p.spread) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range x.Rows {
			for j := range y.Rows {
				t := -float64(scale * rows.SquaredDistance(x.Row(i), y.Row(j)))
				if p.logWeight != nil {
					t += p.logWeight[from+j]
				}
				p.terms[i*n+from+j] = t
			}
		}
	}
	for i := range x.Rows {
		p.answer(p.constant + fmath.LogSumExp(p.terms[i*n:(i+1)*n]))
	}
	return nil
}
