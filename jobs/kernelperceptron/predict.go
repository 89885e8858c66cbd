package kernelperceptron

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// predictor is a model with the memory for its kernel values; one goroutine at a time.
type predictor struct {
	*model
	ops      *kernelops.Set
	ws       kernelops.Workspace
	reader   *features.Reader
	rows     kernels.Rows
	labels   []string
	tile     []float32
	f, sum   []float64
	outcomes []jobs.Outcome
	scores   []float64 // of all outcomes
}

// NewPredictor loads a model. A prediction takes time linear in support vectors times width and, of
// form voted, steps times classes.
func NewPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	return &predictor{model: m, ops: ops, reader: m.space.NewReader(), labels: m.space.Labels.List(),
		f: make([]float64, m.columns()), sum: make([]float64, m.columns())}, nil
}

// Answers are a label, and as scores the decision functions of all classes (of two classes -f and
// f) or, of form voted, the shares of the votes.
func (p *predictor) Answers() jobs.Answers { return jobs.Answers{Labels: p.labels, Scores: p.labels} }

// Predict gives each record the label of the largest score, of equal ones the first.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	if need := v.Rows * len(p.labels); cap(p.scores) < need {
		p.scores = make([]float64, need)
	}
	p.scores = p.scores[:v.Rows*len(p.labels)]
	for from, size := 0, chunkRows(p.space.Width); from < v.Rows; from += size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.chunk(chunkOf(v, &p.rows, from, min(from+size, v.Rows)), p.scores[from*len(p.labels):]); err != nil {
			return nil, err
		}
	}
	return p.outcomes, nil
}

// chunk predicts some records; scores has room for theirs.
func (p *predictor) chunk(c chunk, scores []float64) error {
	n, places, classes := c.x.Rows, p.supports(), len(p.labels)
	if cap(p.tile) < n*places {
		p.tile = make([]float32, n*places)
	}
	tile := kernelops.Matrix{Data: p.tile[:n*places], Rows: n, Cols: places, Stride: places}
	p.ops.KernelMatrix(tile, p.kernel, c.x, p.matrix(), &p.ws)
	for i := range n {
		row := scores[i*classes : (i+1)*classes]
		best, ok := p.decide(row, tile.Row(i))
		if !ok {
			return kernels.Beyond(c.ids[i], p.kernel)
		}
		p.outcomes = append(p.outcomes, jobs.Outcome{Label: p.labels[best], Scores: row})
	}
	return nil
}

// decide writes the scores of a record with kernel values k; ok is false where a function is not finite.
func (p *predictor) decide(scores []float64, k []float32) (best int, ok bool) {
	if p.form == formVoted {
		return p.vote(scores, k)
	}
	p.score(p.ops, p.f, k)
	if len(p.f) == 1 {
		scores[0], scores[1] = -p.f[0], p.f[0]
	} else {
		copy(scores, p.f)
	}
	return decide(p.f), allFinite(p.f)
}

// vote lets each f vote: f is summed up step by step.
func (p *predictor) vote(scores []float64, k []float32) (best int, ok bool) {
	clear(p.sum)
	clear(scores)
	total := 0.0
	b := make([]float64, len(p.sum))
	for i, place := range p.votes.place {
		class, against, step := int(p.class[place]), int(p.votes.against[i]), p.votes.step[i]
		change(p.sum, class, against, float64(step*float64(k[place])))
		if p.bias {
			change(b, class, against, step)
		}
		for y := range p.f {
			p.f[y] = p.sum[y] + b[y]
		}
		survived := float64(p.votes.survived[i])
		scores[decide(p.f)] += survived
		total += survived
	}
	for y := range scores {
		scores[y] /= total
	}
	return decide(scores), allFinite(p.f)
}
