package classify

import "github.com/gram-compute/gram/jobs"

// Outcomes collects the outcomes of a block and reuses their memory for the next block. Only one goroutine at a time
// may use it.
type Outcomes struct {
	labels []string
	scored bool // outcomes have the posteriors of all classes
	list   []jobs.Outcome
	scores []float64 // of all outcomes
}

// NewOutcomes returns an empty collection for a model with these labels. If scored, outcomes have the posteriors of all
// classes.
func NewOutcomes(labels []string, scored bool) Outcomes {
	return Outcomes{labels: labels, scored: scored}
}

// Answers returns the labels and, if outcomes have posteriors, uses them as the names of the scores.
func (o *Outcomes) Answers() jobs.Answers {
	answers := jobs.Answers{Labels: o.labels}
	if o.scored {
		answers.Scores = o.labels
	}
	return answers
}

// Scored reports whether outcomes have posteriors.
func (o *Outcomes) Scored() bool { return o.scored }

// Begin drops the outcomes of the previous block and makes room for the given number of records.
func (o *Outcomes) Begin(records int) {
	o.list, o.scores = o.list[:0], o.scores[:0]
	if need := len(o.labels) * records; o.scored && cap(o.scores) < need {
		o.scores = make([]float64, 0, need)
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

// List returns the outcomes, which are valid until the next Begin.
func (o *Outcomes) List() []jobs.Outcome { return o.list }
