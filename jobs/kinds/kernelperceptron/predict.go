package kernelperceptron

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// predictor is a model with the memory for its kernel values; one goroutine at a time.
type predictor struct {
	*model
	reader   *features.Reader
	dense    []float32
	labels   []string
	points   kernels.Points // of a chunk
	sums     sums
	f, sum   []float64
	b        []float64 // of the f that votes
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
	return m.reject.Of(newPredictor(m, ops))
}

func newPredictor(m *model, ops *kernelops.Set) *predictor {
	m.held.Begin(m.kernel, ops, m.matrix())
	return &predictor{model: m, sums: newSums(ops), reader: m.space.NewReader(), labels: m.space.Labels.List(),
		f: make([]float64, m.columns()), sum: make([]float64, m.columns()), b: make([]float64, m.columns())}
}

// Answers are a label, and as scores the decision functions of all classes (of two classes -f and
// f) or, of form voted, the shares of the votes.
func (p *predictor) Answers() jobs.Answers { return classify.Scored(p.labels, "") }

// Predict gives each record the label of the largest score, of equal ones the first.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	p.scores = kernelops.Resize(p.scores, v.Rows*len(p.labels))
	err = rows.Chunks(ctx, v, chunkRows(p.space.Width), &p.dense, func(c rows.Chunk) error {
		return p.chunk(c, p.scores[len(p.outcomes)*len(p.labels):])
	})
	return p.outcomes, err
}

// chunk predicts some records; scores has room for theirs.
func (p *predictor) chunk(c rows.Chunk, scores []float64) error {
	classes := len(p.labels)
	p.points.Set(p.kernel, p.sums.Ops, c.X)
	if err := p.sums.begin(&p.machine, &p.points, 0); err != nil {
		return err
	}
	for i, id := range c.IDs {
		row := scores[i*classes : (i+1)*classes]
		best := p.decide(row, i)
		if !jobs.Finite(p.f) {
			return kernels.Beyond(id, p.kernel.Kernel)
		}
		p.outcomes = append(p.outcomes, jobs.Outcome{Label: p.labels[best], Scores: row})
	}
	return nil
}

// decide writes the scores of a record of the chunk.
func (p *predictor) decide(scores []float64, record int) int {
	if p.form == formVoted {
		return p.vote(scores, record)
	}
	p.sums.at(&p.machine, p.f, record)
	if len(p.f) == 1 {
		scores[0], scores[1] = -p.f[0], p.f[0]
	} else {
		copy(scores, p.f)
	}
	return decide(p.f)
}

// vote lets each f vote: f is summed up step by step.
func (p *predictor) vote(scores []float64, record int) int {
	clear(p.sum)
	clear(p.b)
	clear(scores)
	total := 0.0
	for i, place := range p.votes.place {
		class, against, step := int(p.class[place]), int(p.votes.against[i]), p.votes.step[i]
		change(p.sum, class, against, float64(step*float64(p.sums.tile.Row(int(place))[record])))
		if p.bias {
			change(p.b, class, against, step)
		}
		for y := range p.f {
			p.f[y] = p.sum[y] + p.b[y]
		}
		if step < 0 {
			continue // a step is taken back on the way to the next f
		}
		survived := float64(p.votes.survived[i])
		scores[decide(p.f)] += survived
		total += survived
	}
	for y := range scores {
		scores[y] /= total
	}
	return decide(scores)
}
