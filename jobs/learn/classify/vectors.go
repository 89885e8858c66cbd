package classify

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// Vectors predicts the vectors of a space. Only one goroutine at a time may use it.
type Vectors struct {
	reader   *features.Reader
	answers  jobs.Answers
	predict  Predict
	outcomes []jobs.Outcome
}

// Predict appends the outcome of each row of v to list, in their order.
type Predict func(ctx context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error)

// NewVectors returns a predictor whose outcomes answers describes and predict finds.
func NewVectors(space *features.Space, answers jobs.Answers, predict Predict) *Vectors {
	return &Vectors{reader: space.NewReader(), answers: answers, predict: predict}
}

// Answers describes the outcomes.
func (p *Vectors) Answers() jobs.Answers { return p.answers }

// Predict predicts every record. A record of another width, or with a value that is not finite, is a fault with its
// position.
func (p *Vectors) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes, err = p.predict(ctx, p.outcomes[:0], v)
	return p.outcomes, err
}

// Scored are the answers of a model that gives a label, a value by that name, and a score for each label: the greater,
// the likelier it is.
func Scored(labels []string, value string) jobs.Answers {
	return jobs.Answers{Labels: labels, Value: value, Scores: labels, Scale: jobs.Margins}
}

// NewNearest returns a predictor of the class at the least distance of a row; of equal distances, that of the first.
// The scores are the distances to all classes.
func NewNearest(space *features.Space, distance func(v features.Vectors, row, class int) float64) *Vectors {
	labels := space.Labels.List()
	nearest := func(_ context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error) {
		for i := range v.Rows {
			scores, best := make([]float64, len(labels)), 0
			for y := range scores {
				scores[y] = distance(v, i, y)
				if scores[y] < scores[best] {
					best = y
				}
			}
			list = append(list, jobs.Outcome{Label: labels[best], Value: scores[best], Scores: scores})
		}
		return list, nil
	}
	return NewVectors(space, Scored(labels, "distance").Of(jobs.Distances), nearest)
}

// Outcomes collects the outcomes of a block and reuses their memory for the next block. Only one goroutine at a time
// may use it.
type Outcomes struct {
	labels []string
	scored bool // outcomes have the posteriors of all classes
	logged bool // and their logarithms
	list   []jobs.Outcome
	scores []float64 // of all outcomes
	logs   []float64 // as well
}

// NewOutcomes returns an empty collection for a model with these labels. If scored, outcomes have the posteriors of all
// classes.
func NewOutcomes(labels []string, scored bool) Outcomes {
	return Outcomes{labels: labels, scored: scored}
}

// Answers returns the labels and, if outcomes have posteriors, uses them as the names of the scores.
func (o *Outcomes) Answers() jobs.Answers {
	answers := jobs.Answers{Labels: o.labels, Logs: o.logged}
	if o.scored {
		answers.Scores, answers.Scale = o.labels, jobs.Probabilities
	}
	return answers
}

// Scored reports whether outcomes have posteriors.
func (o *Outcomes) Scored() bool { return o.scored }

// GiveLogs lets outcomes have the logarithms of posteriors, given by Log.
func (o *Outcomes) GiveLogs() { o.logged = true }

// Begin drops the outcomes of the previous block and makes room for the given number of records.
func (o *Outcomes) Begin(records int) {
	o.list, o.scores = o.list[:0], o.scores[:0]
	if need := len(o.labels) * records; o.scored && cap(o.scores) < need {
		o.scores = make([]float64, 0, need)
	}
	if need := len(o.labels) * records; o.logged {
		o.logs = kernelops.Resize(o.logs, need)
	}
}

// Add adds the outcome of the next record. It copies posterior, or ignores it if outcomes have no posteriors.
func (o *Outcomes) Add(class int, rejected bool, posterior []float64) {
	outcome := jobs.Outcome{Rejected: rejected}
	if !rejected {
		outcome.Label = o.labels[class]
	}
	if o.scored {
		begin := len(o.scores)
		o.scores = append(o.scores, posterior...)
		outcome.Scores = o.scores[begin:]
	}
	o.list = append(o.list, outcome)
}

// Log gives the last outcome the logarithms of its posteriors, if they are wanted; joint is log p(x, y) of each class.
func (o *Outcomes) Log(joint []float64) {
	if !o.logged {
		return
	}
	last := len(o.list) - 1
	logs := o.logs[last*len(o.labels):][:len(o.labels):len(o.labels)]
	LogPosteriors(logs, joint)
	o.list[last].Logs = logs
}

// List returns the outcomes, which are valid until the next Begin.
func (o *Outcomes) List() []jobs.Outcome { return o.list }
