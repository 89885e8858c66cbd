package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/rows"
	"github.com/gram-compute/gram/kernelops"
)

// meanPredictor decides by the closest mean; one goroutine at a time.
type meanPredictor struct {
	*meanModel
	sum      summer
	reader   *features.Reader
	tile     []float32
	labels   []string
	outcomes []jobs.Outcome
}

// NewMeanPredictor loads a model of KernelNearestMean. One that does not hold its base is a
// *protocol.Fault of CodeSpecInvalid. One prediction takes a kernel value for each record of the base.
func NewMeanPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readMeanModel(a)
	if err != nil {
		return nil, err
	}
	if err := m.needBase(); err != nil {
		return nil, err
	}
	return &meanPredictor{meanModel: m, sum: newSummer(ops, m.kernel, len(m.weights)),
		reader: m.space.NewReader(), labels: m.space.Labels.List()}, nil
}

// Answers are a label and the distance to its mean in feature space; the scores are the distances to all.
func (p *meanPredictor) Answers() jobs.Answers {
	return jobs.Answers{Labels: p.labels, Value: "distance", Scores: p.labels}
}

// Predict gives each record the label of the closest mean, of equally close ones the first.
func (p *meanPredictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	queries, step := rows.Of(v), rows.TileRows(p.space.Width, rows.QueryRows)
	for from := 0; from < v.Rows; from += step {
		x := queries.Tile(from, min(v.Rows, from+step), &p.tile)
		sums := make([]float64, x.Rows*p.sum.classes)
		if err := p.sum.add(ctx, sums, x, p.base, 0, p.base.N); err != nil {
			return nil, err
		}
		for i := range x.Rows {
			self, err := p.sum.self(x.RowRange(i, i+1))
			if err != nil {
				return nil, err
			}
			o, ok := p.outcome(self, sums[i*p.sum.classes:(i+1)*p.sum.classes])
			if !ok {
				return nil, kernels.Beyond(v.IDs[from+i], p.kernel.Kernel)
			}
			p.outcomes = append(p.outcomes, o)
		}
	}
	return p.outcomes, nil
}

// outcome turns the sums of one query into distances; false where one is no number.
func (p *meanPredictor) outcome(self float64, sums []float64) (jobs.Outcome, bool) {
	best := 0
	for y, sum := range sums {
		sums[y] = self - float64(2*(sum/p.weights[y])) + p.norms[y]
		if sums[y]-sums[y] != 0 {
			return jobs.Outcome{}, false
		}
		if sums[y] < sums[best] {
			best = y
		}
	}
	for y, squared := range sums {
		sums[y] = math.Sqrt(max(0, squared))
	}
	return jobs.Outcome{Label: p.labels[best], Value: sums[best], Scores: sums}, true
}
