package linearmodel

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// predictor decides by the weights of a model; one goroutine at a time.
type predictor struct {
	*model
	labels []string
	ops    *kernelops.Set

	decisions, room []float64 // of machines of two classes each, and of votes
}

// NewPredictor loads a model. One prediction takes time linear in a record's values times the machines. Bytes that
// training would not have written are a *protocol.Fault of CodeCorrupt.
func NewPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	p, err := newPredictor(a, ops)
	if err != nil {
		return nil, err
	}
	if p.regresses {
		return classify.NewVectors(p.space, jobs.Answers{Value: "value"}, p.value), nil
	}
	return p.reject.Of(classify.NewVectors(p.space, p.answers(), p.predict))
}

// answers are a label and a score for each class.
func (p *predictor) answers() jobs.Answers {
	answers := classify.Scored(p.labels, "score")
	if p.loss.Form == dual.Logistic && !p.paired {
		answers = answers.Of(jobs.LogOdds)
	}
	return answers
}

func newPredictor(a jobs.Arrays, ops *kernelops.Set) (*predictor, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	p := &predictor{model: m, labels: m.space.Labels.List(), ops: ops}
	if m.paired {
		p.decisions, p.room = make([]float64, m.machines()), make([]float64, len(p.labels))
	}
	return p, nil
}

// readModel loads a model in time and memory linear in its bytes.
func readModel(a jobs.Arrays) (*model, error) { return jobs.Load[model](a) }

// predict gives each record the label of the greatest score, of equals the first.
func (p *predictor) predict(_ context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error) {
	for i := range v.Rows {
		list = append(list, p.outcome(p.vector(v, i, p.ops)))
	}
	return list, nil
}

// outcome is that of one vector.
func (p *predictor) outcome(x dual.Row) jobs.Outcome {
	scores := p.scores(x)
	best := p.best(scores)
	return jobs.Outcome{Label: p.labels[best], Value: scores[best], Scores: scores}
}

// scores are <w, x> with the bias: of two classes that of the second, and of the first with the other sign. Of machines
// of two classes each, they are votes.
func (p *predictor) scores(x dual.Row) []float64 {
	scores := make([]float64, len(p.labels))
	if p.paired {
		for k := range p.decisions {
			p.decisions[k] = x.Dot(p.row(p.weights, k))
		}
		p.pairs().Vote(scores, p.room, p.decisions)
		return scores
	}
	for y := range scores {
		if p.machines() > 1 {
			scores[y] = x.Dot(p.row(p.weights, y))
		} else {
			scores[y] = float64(p.side(0, y) * x.Dot(p.weights))
		}
		if p.imported() {
			scores[y] += 0 // of -0: a text without a listed word scores 0
		}
	}
	return scores
}

// value gives each record the number <w, x> with the bias.
func (p *predictor) value(_ context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error) {
	for i := range v.Rows {
		list = append(list, jobs.Outcome{Value: p.vector(v, i, p.ops).Dot(p.weights)})
	}
	return list, nil
}
