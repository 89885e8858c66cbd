package kernelmean

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// densityPredictor decides by posteriors; one goroutine at a time.
type densityPredictor struct {
	*parzen
	reader   *features.Reader
	tile     []float32
	labels   []string
	relative []float64
	outcomes []jobs.Outcome
}

// NewDensityPredictor loads a model of KernelDensityBayes. One that does not hold its base is a
// *protocol.Fault of CodeSpecInvalid. One prediction takes a distance from each record of the base.
func NewDensityPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readDensityModel(a)
	if err != nil {
		return nil, err
	}
	if err := m.needBase(); err != nil {
		return nil, err
	}
	return &densityPredictor{parzen: newParzen(m, ops), reader: m.space.NewReader(), labels: m.space.Labels.List(),
		relative: make([]float64, len(m.weights))}, nil
}

// Answers are a label and the logarithm of the density p(x) of the record; the scores are the posteriors.
func (p *densityPredictor) Answers() jobs.Answers {
	return jobs.Answers{Labels: p.labels, Value: "log_density", Scores: p.labels}
}

// Predict decides every record. Equal posteriors go to the label that is first in byte order.
func (p *densityPredictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	queries, classes, step := rows.Of(v), len(p.labels), p.queryRows()
	for from := 0; from < v.Rows; from += step {
		x := queries.Tile(from, min(v.Rows, from+step), &p.tile)
		joint := make([]float64, x.Rows*classes)
		if err := p.joint(ctx, joint, x); err != nil {
			return nil, err
		}
		for i := range x.Rows {
			p.outcomes = append(p.outcomes, p.outcome(joint[i*classes:(i+1)*classes]))
		}
	}
	return p.outcomes, nil
}

// queryRows is how many queries have their distances from the largest class in memory at a time.
func (p *densityPredictor) queryRows() int {
	largest := 1
	for y := range p.weights {
		largest = max(largest, p.first[y+1]-p.first[y])
	}
	return min(rows.TileRows(p.space.Width, rows.QueryRows), rows.TileRows(largest, rows.QueryRows))
}

// outcome turns log p(x, y) of each class into posteriors.
func (p *densityPredictor) outcome(joint []float64) jobs.Outcome {
	best := 0
	for y, v := range joint {
		if v > joint[best] {
			best = y
		}
	}
	top := slices.Max(joint)
	for y, v := range joint {
		p.relative[y] = v - top
	}
	evidence := fmath.LogSumExp(p.relative) // log p(x), less top
	posterior := joint
	for y, v := range p.relative {
		posterior[y] = fmath.Exp(v - evidence)
	}
	o := jobs.Outcome{Value: top + evidence, Scores: posterior}
	switch {
	case p.rule != nil:
		best = p.rule.Decide(posterior)
	case posterior[best] < p.rejectBelow:
		o.Rejected = true
		return o
	}
	o.Label = p.labels[best]
	return o
}
