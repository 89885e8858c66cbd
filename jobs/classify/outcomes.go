package classify

import "github.com/gram-compute/gram/jobs"

// Outcomes gathers the outcomes of a block, in memory that is used again for the next. One goroutine at a time.
type Outcomes struct {
	labels []string
	scored bool // with the posteriors of all classes
	list   []jobs.Outcome
	scores []float64 // of all outcomes
}

// NewOutcomes returns the outcomes of a model's labels, with the posteriors of all classes where they are wanted.
func NewOutcomes(labels []string, scored bool) Outcomes {
	return Outcomes{labels: labels, scored: scored}
}

// Answers names the labels and, where they are wanted, the posteriors by them.
func (o *Outcomes) Answers() jobs.Answers {
	answers := jobs.Answers{Labels: o.labels}
	if o.scored {
		answers.Scores = o.labels
	}
	return answers
}

// Scored reports whether posteriors are wanted.
func (o *Outcomes) Scored() bool { return o.scored }

// Begin forgets the outcomes of the block before, and makes room for as many records.
func (o *Outcomes) Begin(records int) {
	o.list, o.scores = o.list[:0], o.scores[:0]
	if need := len(o.labels) * records; o.scored && cap(o.scores) < need {
		o.scores = make([]float64, 0, need)
	}
}

// Add adds the outcome of the next record, whose posteriors are copied; they are not looked at unless they are wanted.
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

// List is the outcomes, valid until Begin.
func (o *Outcomes) List() []jobs.Outcome { return o.list }
