// Package classify is what classifiers that find log p(x, y) have in common: their prior, how they decide by the
// posteriors of the classes, and what they answer.
package classify

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// Decision is how a model decides: for the class of the largest posterior, for none where that is below a threshold, or
// for the class of least expected cost. One goroutine at a time.
type Decision struct {
	prior       string // evaluation.PriorLearned or PriorUniform
	rejectBelow float64
	rule        *evaluation.Rule // nil without costs
}

// NewDecision returns the decision between labels; an unknown label in costs is a *protocol.Fault of CodeSpecInvalid.
func NewDecision(prior string, rejectBelow float64, costs evaluation.Costs, labels []string) (d Decision, err error) {
	d = Decision{prior: prior, rejectBelow: rejectBelow}
	if costs != nil {
		d.rule, err = costs.Rule(labels)
	}
	return d, err
}

// Fields lists the decision of a model of that many classes: "prior", "reject_below" and the arrays of
// evaluation.RuleFields.
func (d *Decision) Fields(f *jobs.Fields, classes int) {
	f.Choice("prior", &d.prior, evaluation.PriorLearned, evaluation.PriorUniform)
	jobs.Scalar(f, "reject_below", &d.rejectBelow)
	evaluation.RuleFields(f, &d.rule, classes)
	f.Require(d.rejectBelow >= 0 && d.rejectBelow < 1 && (d.rule == nil || d.rejectBelow == 0),
		"a model rejects below %v", d.rejectBelow)
}

// LogPrior returns log p(y) of classes whose training records have these weights.
func (d *Decision) LogPrior(weights []float64) []float64 {
	prior, total := make([]float64, len(weights)), 0.0
	for _, w := range weights {
		total += w
	}
	for y, w := range weights {
		if d.prior == evaluation.PriorUniform {
			prior[y] = -fmath.Log(float64(len(prior)))
		} else {
			prior[y] = fmath.Log(w) - fmath.Log(total)
		}
	}
	return prior
}

// Decide decides on a record by log p(x, y) of each class, and sets posterior to p(y|x), by Bayes' rule. Equal
// posteriors go to the class that is first. Both may be one list. Linear in the classes and the named costs.
func (d *Decision) Decide(posterior, joint []float64) (class int, rejected bool, logDensity float64) {
	for y, v := range joint {
		if v > joint[class] {
			class = y
		}
	}
	best := joint[class]
	for y, v := range joint {
		posterior[y] = v - best
	}
	evidence := fmath.LogSumExp(posterior) // log p(x), less best
	for y, relative := range posterior {
		posterior[y] = fmath.Exp(relative - evidence)
	}
	if d.rule != nil {
		class = d.rule.Decide(posterior)
	} else {
		rejected = posterior[class] < d.rejectBelow
	}
	return class, rejected, best + evidence
}

// Prior says for people what the prior is.
func (d *Decision) Prior() string { return d.prior }

// String says for people how the model decides.
func (d *Decision) String() string {
	switch {
	case d.rule != nil:
		return fmt.Sprintf("least expected cost, of %d named pairs", d.rule.Pairs())
	case d.rejectBelow > 0:
		return fmt.Sprintf("largest posterior; none if it is below %v", d.rejectBelow)
	}
	return "largest posterior"
}
