package gaussiannb

import (
	"context"
	"github.com/gram-compute/gram/jobs/evaluation"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// predictor is a model with its logarithms; one goroutine at a time.
type predictor struct {
	*model
	reader     *features.Reader
	labels     []string
	posteriors bool      // scores are wanted
	constant   []float64 // log p(y) - 1/2 sum over j of log(2 pi v_yj)
	precision  []float64 // 1/v_yj
	joint      []float64 // log p(x, y) of each class
	posterior  []float64
	outcomes   []jobs.Outcome
	scores     []float64 // of all outcomes
}

// NewPredictor loads a model to predict blocks of dense vectors. The scores are the posteriors of all
// classes. Bytes that training would not have written are a *protocol.Fault of CodeCorrupt.
func NewPredictor(arrays jobs.Arrays, _ *kernelops.Set) (jobs.Predictor, error) {
	return loadPredictor(arrays, true)
}

func loadPredictor(arrays jobs.Arrays, posteriors bool) (jobs.Predictor, error) {
	m, err := readModel(arrays)
	if err != nil {
		return nil, err
	}
	classes := len(m.weight)
	p := &predictor{model: m, reader: m.space.NewReader(), labels: m.space.Labels.List(), posteriors: posteriors,
		constant: m.logPrior(), precision: make([]float64, len(m.variance)),
		joint: make([]float64, classes), posterior: make([]float64, classes)}
	for i, v := range m.variance {
		p.precision[i] = 1 / v
		p.constant[i/m.space.Width] -= float64(0.5 * fmath.Log(float64(2*math.Pi*v)))
	}
	return p, nil
}

// logPrior is log p(y) of each class.
func (m *model) logPrior() []float64 {
	prior := make([]float64, len(m.weight))
	total := 0.0
	for _, w := range m.weight {
		total += w
	}
	for y, w := range m.weight {
		if m.prior == evaluation.PriorUniform {
			prior[y] = -fmath.Log(float64(len(prior)))
		} else {
			prior[y] = fmath.Log(w) - fmath.Log(total)
		}
	}
	return prior
}

// Answers names the labels and, where they are wanted, the posteriors by them.
func (p *predictor) Answers() jobs.Answers {
	answers := jobs.Answers{Labels: p.labels}
	if p.posteriors {
		answers.Scores = p.labels
	}
	return answers
}

// Predict decides every record: linear in values times classes. A record of another width, or
// with a value that is not finite, is a fault with its position.
func (p *predictor) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	rows, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes, p.scores = p.outcomes[:0], p.scores[:0]
	if need := len(p.labels) * rows.Rows; p.posteriors && cap(p.scores) < need {
		p.scores = make([]float64, 0, need)
	}
	for i := range rows.Rows {
		p.score(rows.Dense.Row(i))
		class, rejected := p.decide()
		outcome := jobs.Outcome{Rejected: rejected}
		if !rejected {
			outcome.Label = p.labels[class]
		}
		if p.posteriors {
			begin := len(p.scores)
			p.scores = append(p.scores, p.posterior...)
			outcome.Scores = p.scores[begin:]
		}
		p.outcomes = append(p.outcomes, outcome)
	}
	return p.outcomes, nil
}

// score sets joint to log p(x, y) and posterior to p(y|x) of each class. A record beyond all
// numbers from every class has the posterior of equal scores.
func (p *predictor) score(x []float32) {
	for y := range p.joint {
		begin, end := y*len(x), (y+1)*len(x)
		mean, precision := p.mean[begin:end], p.precision[begin:end]
		sum := 0.0
		for j, v := range x {
			d := float64(v) - mean[j]
			sum += float64(float64(d*d) * precision[j])
		}
		p.joint[y] = max(p.constant[y]-float64(0.5*sum), -math.MaxFloat64)
	}
	best := slices.Max(p.joint)
	for y, joint := range p.joint {
		p.posterior[y] = joint - best
	}
	evidence := fmath.LogSumExp(p.posterior) // log p(x), less best
	for y, relative := range p.posterior {
		p.posterior[y] = fmath.Exp(relative - evidence)
	}
}

func (p *predictor) decide() (class int, rejected bool) {
	if p.rule != nil {
		return p.rule.Decide(p.posterior), false
	}
	best := 0
	for y, joint := range p.joint {
		if joint > p.joint[best] {
			best = y
		}
	}
	return best, p.posterior[best] < p.rejectBelow
}
