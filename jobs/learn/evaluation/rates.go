package evaluation

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// maxRankedClasses bounds the classes that are each ranked against the others.
const maxRankedClasses = 128

// rater turns the scores of a model into numbers that are the greater, the likelier a class is: probabilities, where
// the scale of the scores says what they are. One goroutine at a time.
type rater struct {
	labels   []string // in byte order
	number   map[string]int
	scale    jobs.Scale
	positive int // of two classes, the one whose score is ranked
	values   []float64
}

// newRater reads the scores that answers describe; positive is the label of that class, or "". Answers without a score
// for each label are a *protocol.Fault of CodeSpecInvalid, and so is another positive label.
func newRater(answers jobs.Answers, positive string) (*rater, error) {
	r := &rater{labels: answers.Labels, number: map[string]int{}, scale: answers.Scale, positive: 1,
		values: make([]float64, len(answers.Labels))}
	for y, label := range r.labels {
		r.number[label] = y
	}
	if answers.Clusters || len(r.labels) < 2 || answers.Scale == jobs.Unscaled {
		return nil, protocol.SpecFault("the model does not give a score to each of two classes or more").
			WithHint("Leave spec.evaluation and params.reject_below out; decisions and values are judged without them.")
	}
	if positive == "" {
		return r, nil
	}
	y, ok := r.number[positive]
	switch {
	case !ok:
		return nil, protocol.SpecFault("spec.evaluation.positive is %q, which no training record has for a label",
			positive).Suggest(positive, r.labels)
	case len(r.labels) > 2:
		return nil, protocol.SpecFault("spec.evaluation.positive is for two classes; there are %d", len(r.labels)).
			WithHint("Leave it out: of more classes each is ranked against the others.")
	}
	r.positive = y
	return r, nil
}

// probable reports whether the values are probabilities.
func (r *rater) probable() bool { return r.scale == jobs.Probabilities || r.scale == jobs.LogOdds }

// rated is what the scores of a record say.
type rated struct {
	truth      int       // -1 for a label that the model does not have
	decided    int       // what is decided where no record is rejected
	values     []float64 // of each class; valid until the next record
	ranks      []float64 // what is ranked: of two classes the positive one, of more each
	confidence float64   // probability of the decision, or how far its value is above the next
}

// rate reads the outcome of a record. A score that is not finite is a fault with the position of the record.
func (r *rater) rate(id dataset.Identity, label []byte, o jobs.Outcome) (rated, error) {
	if len(o.Scores) != len(r.labels) {
		return rated{}, jobs.Malformed("%d scores of %d classes", len(o.Scores), len(r.labels))
	}
	for y, score := range o.Scores {
		if score-score != 0 {
			return rated{}, id.Fault("the score of class %q is %v", r.labels[y], score).
				WithHint("Scores are judged where they are finite: scale the features, or leave out spec.evaluation and " +
					"params.reject_below.")
		}
	}
	r.fill(o.Scores)
	v := rated{truth: -1, values: r.values}
	if y, ok := r.number[string(label)]; ok {
		v.truth = y
	}
	v.decided = rank.First(r.values)
	if y, ok := r.number[o.Label]; ok && !o.Rejected {
		v.decided = y
	}
	v.confidence = r.lead(v.decided)
	switch {
	case len(r.labels) > maxRankedClasses:
	case len(r.labels) > 2:
		v.ranks = r.values
	default:
		v.ranks = []float64{r.lead(r.positive)}
	}
	return v, nil
}

func (r *rater) fill(scores []float64) {
	copy(r.values, scores)
	switch r.scale {
	case jobs.Distances:
		for y, d := range scores {
			r.values[y] = -d
		}
	case jobs.LogOdds:
		for y, s := range scores {
			// log of 1/(1+exp(-s)), without a difference that cancels
			r.values[y] = min(s, 0) - fmath.Log(1+fmath.Exp(-math.Abs(s)))
		}
		all := fmath.LogSumExp(r.values)
		for y, v := range r.values {
			r.values[y] = fmath.Exp(v - all)
		}
	}
}

// lead is the probability of a class or, where values are none, how far its value is above the greatest of the others.
func (r *rater) lead(class int) float64 {
	if r.probable() {
		return r.values[class]
	}
	next := -math.MaxFloat64
	for y, v := range r.values {
		if y != class {
			next = max(next, v)
		}
	}
	return bounded(r.values[class] - next)
}
