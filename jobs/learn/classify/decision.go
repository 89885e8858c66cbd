// Package classify is shared by the classifiers that compute log p(x, y). It has their prior, their decision by the
// posteriors of the classes, and their outcomes.
package classify

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// Decision is a model's decision rule. It chooses the class of the largest posterior, and rejects the record if that
// posterior is below a threshold; with costs, it chooses the class of least expected cost. Only one goroutine at a time
// may use it.
type Decision struct {
	prior       evaluation.Prior
	rejectBelow float64
	rule        *evaluation.Rule // nil without costs
}

// NewDecision returns the decision rule for labels. An unknown label in costs, or other labels in a given prior, are a
// *protocol.Fault of CodeSpecInvalid.
func NewDecision(
	prior evaluation.Prior, rejectBelow float64, costs evaluation.Costs, labels []string,
) (d Decision, err error) {
	if err := prior.CheckLabels(labels); err != nil {
		return d, err
	}
	d = Decision{prior: prior, rejectBelow: rejectBelow}
	if costs != nil {
		d.rule, err = costs.Rule(labels)
	}
	return d, err
}

// Fields lists the prior, "reject_below" and the arrays of evaluation.RuleFields, for a model with the given labels.
func (d *Decision) Fields(f *jobs.Fields, labels jobs.Strings) {
	d.prior.Fields(f, labels)
	jobs.Scalar(f, "reject_below", &d.rejectBelow)
	evaluation.RuleFields(f, &d.rule, labels.Len())
	f.Require(d.rejectBelow >= 0 && d.rejectBelow < 1 && (d.rule == nil || d.rejectBelow == 0),
		"a model rejects below %v", d.rejectBelow)
}

// LogPrior returns log p(y) of each class, given its label and the weight of its training records.
func (d *Decision) LogPrior(labels jobs.Strings, weights []float64) []float64 {
	return d.prior.Log(labels, weights)
}

// Decide chooses the class of a record. joint is log p(x, y) of each class; Decide sets posterior to p(y|x), by Bayes'
// rule, and both may be the same slice. Ties go to the first class. logDensity is log p(x). The time is linear in the
// classes and the named costs.
func (d *Decision) Decide(posterior, joint []float64) (class int, rejected bool, logDensity float64) {
	class = rank.First(joint)
	best := joint[class]
	evidence := relate(posterior, joint, best)
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

// relate sets relative to joint less its greatest, and returns log p(x) less that.
func relate(relative, joint []float64, best float64) (evidence float64) {
	for y, v := range joint {
		relative[y] = v - best
	}
	return fmath.LogSumExp(relative)
}

// LogPosteriors sets logs to log p(y|x) of each class, from joint, which is log p(x, y) and finite; both may be one
// slice. They are finite and at most 0, and add to the errors of joint a few units in the last place of the larger of 1
// and their own magnitude. One beyond float64 is -MaxFloat64. The time is linear in the classes.
func LogPosteriors(logs, joint []float64) {
	evidence := relate(logs, joint, joint[rank.First(joint)])
	for y, relative := range logs {
		logs[y] = max(relative-evidence, -math.MaxFloat64)
	}
}

// Prior describes the prior for people.
func (d *Decision) Prior() string { return d.prior.Kind }

// String describes the decision rule for people.
func (d *Decision) String() string {
	switch {
	case d.rule != nil:
		return fmt.Sprintf("least expected cost, of %d named pairs", d.rule.Pairs())
	case d.rejectBelow > 0:
		return fmt.Sprintf("largest posterior; none if it is below %v", d.rejectBelow)
	}
	return "largest posterior"
}
