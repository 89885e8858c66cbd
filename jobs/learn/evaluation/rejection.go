package evaluation

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Rejection is the confidence, as Rejecting takes it, below which a model that was trained with it rejects a record. 0
// rejects none.
type Rejection float64

// maxThreshold bounds a threshold.
const maxThreshold = 1e300

// Parameter declares the threshold of a training.
func (t *Rejection) Parameter() params.Parameter {
	return params.Number("reject_below", (*float64)(t), 0, "[0, 1e300]").Missing("0: none").
		Says("Rejects a record whose confidence is below this: the probability of the decision or, of margins, votes and " +
			"distances, how far its score is ahead of the best other one. It is stored in the model; reject_below of kind Predict " +
			"replaces it. spec.evaluation finds a threshold.")
}

// Check rejects a threshold beside costs, or in a mode that does not decide between classes; mode is "" where there are
// no modes.
func (t Rejection) Check(costs Costs, mode string, classifies bool) error {
	switch {
	case t == 0:
		return nil
	case !classifies:
		return protocol.SpecFault("reject_below is of decisions between classes; in mode %s there are none", mode)
	case costs != nil:
		return protocol.SpecFault("costs and reject_below exclude each other: a record that is rejected has no cost").
			WithHint("Leave one of them out.")
	}
	return nil
}

// CheckProbability rejects a threshold that no probability reaches, of models whose confidence is one.
func (t Rejection) CheckProbability() error {
	if t > 1 {
		return protocol.SpecFault("reject_below is %v, and no probability is above 1: every record would be rejected",
			float64(t))
	}
	return nil
}

// Fields lists "reject_below" of a model that has a threshold above 0.
func (t *Rejection) Fields(f *jobs.Fields) {
	const name = "reject_below"
	if !f.Has(name, *t != 0) {
		*t = 0
		return
	}
	jobs.Scalar(f, name, (*float64)(t))
	f.Require(*t > 0 && *t <= maxThreshold, "a model rejects below %v", float64(*t))
}

// Describe writes a line for people, where the threshold is above 0.
func (t Rejection) Describe(p *describe.Page) {
	if t > 0 {
		p.Line("rejected", "where the confidence of the decision is below %v", float64(t))
	}
}

// Of returns p, or Rejecting of p where the threshold is above 0.
func (t Rejection) Of(p jobs.Predictor) (jobs.Predictor, error) {
	if t == 0 {
		return p, nil
	}
	return Rejecting(p, float64(t))
}

// Learner returns a learner that predicts as Of does; answers are those of the model.
func (t Rejection) Learner(l jobs.Learner, answers jobs.Answers) (jobs.Learner, error) {
	if t == 0 {
		return l, nil
	}
	rater, err := newRater(answers, "")
	return &rejectingLearner{l, rejector{rater, float64(t)}}, err
}

// rejectingLearner is a learner that rejects records; one goroutine at a time.
type rejectingLearner struct {
	jobs.Learner
	rejector
}

// Predict returns the outcome of the learner, which learns from the record whether it is rejected or not.
func (l *rejectingLearner) Predict(block *dataset.Block) (jobs.Outcome, error) {
	o, err := l.Learner.Predict(block)
	if err == nil {
		err = l.reject(block.IDs[0], &o)
	}
	return o, err
}
