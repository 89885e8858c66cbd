package supportvectormachine

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

const defaultNu = 0.5

func (p *Params) nuParameter() params.Parameter {
	return params.Number("nu", &p.Nu, defaultNu, "(0, 1]").
		Says("In mode one_class: at most that share of the training records, by weight, are outliers, and at least that " +
			"share are support vectors.").
		From("Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), proposition 3.")
}

func (p Params) oneClass() bool { return p.Mode == modeOneClass }

// checkOneClass rejects nu in the other modes, and in mode one_class what is of classes.
func (p Params) checkOneClass() error {
	switch {
	case !p.oneClass() && p.Novelty != nil:
		return protocol.SpecFault("novelty is of mode one_class, not of %s", p.Mode)
	case !p.oneClass() && p.Nu != defaultNu:
		return protocol.SpecFault("nu is of mode one_class, not of %s", p.Mode)
	case p.oneClass() && p.C != 1:
		return protocol.SpecFault("C is of the other modes: in mode one_class, nu bounds the outliers").
			WithHint("Leave C out. Weigh records one by one: spec.input.weight.")
	case p.oneClass() && p.ClassWeights != nil:
		return protocol.SpecFault("class_weights are of classes; in mode one_class there are none").
			WithHint("Weigh records one by one: spec.input.weight.")
	case p.oneClass() && p.Costs != nil:
		return protocol.SpecFault("costs are of decisions between classes; in mode one_class there are none")
	}
	return nil
}

// checkVaries refuses training records that are all equal: every boundary around them is as good as another.
func checkVaries(space *features.Space) error {
	if space.Min != nil && slices.Equal(space.Min, space.Max) {
		return protocol.EmptyFault("the training records are equal, all %d of them: there is nothing to learn from",
			space.Records).
			WithHint("Check the columns of spec.input.")
	}
	return nil
}

// nuName is an array of a model of one class, and of no other.
const nuName = "one_class.nu"

// oneClassFields lists what a model of one class has besides, and reports whether it is one.
func (m *model) oneClassFields(f *jobs.Fields) bool {
	if m.oneClass = f.Has(nuName, m.oneClass); m.oneClass {
		jobs.Scalar(f, nuName, &m.nu)
		jobs.Optional(f, "one_class.threshold", &m.threshold, 1)
		f.Require(jobs.Finite(m.threshold), "a threshold of %v", m.threshold)
		f.Require(m.space.Labels.Len() == 0 && m.nu > 0 && m.nu <= 1, "a machine of one class with %d classes and nu %v",
			m.space.Labels.Len(), m.nu)
	}
	return m.oneClass
}

// checkOneClass refuses support vectors that a machine of one class has not.
func (m *model) checkOneClass() error {
	for i, a := range m.supports.alpha {
		if m.oneClass && (m.class[i] != 1 || !(a > 0)) {
			return jobs.Malformed("support vector %d of one class has class %d and coefficient %v", i, m.class[i], a)
		}
	}
	return nil
}

// start is how training of one class begins: with coefficients of their costs for the first records, until they add up
// to nu times the sum of all costs (Chang and Lin, LIBSVM, section 4.1). Sums are exact, so that which records
// begin does not depend on blocks.
type start struct {
	block   int
	total   float64     // that the coefficients add up to
	before  *sums.Exact // the costs of the records before
	reached float64     // the same, rounded
}

// weightFields lists the costs by block, where there are any.
func weightFields(f *jobs.Fields, weights **sums.Exact) {
	if f.Has("weights", *weights != nil) {
		jobs.Make(f, weights).Fields(f, "weights")
	}
}

func plusWeights(a, b *sums.Exact) (*sums.Exact, error) {
	if a == nil || b == nil {
		return nil, nil
	}
	return a.Plus(b)
}

// beginOneClass sets up the stages that come before training.
func (w *walk) beginOneClass(leaf jobs.Leaf) (err error) {
	switch w.stage {
	case stageWeigh:
		w.start, w.tally.weights = &start{block: leaf.Index}, sums.NewExact(leaf.Plan.Blocks)
	case stageStart:
		if w.training.weights == nil || w.training.weights.Len() != leaf.Plan.Blocks {
			return jobs.Malformed("the weights are not those of %d blocks", leaf.Plan.Blocks)
		}
		s, all := &start{block: leaf.Index, before: sums.NewExact(1)}, sums.NewExact(1)
		for i := range leaf.Plan.Blocks {
			if i == leaf.Index {
				s.before = all
			}
			if all, err = all.Plus(w.training.weights.Only(i)); err != nil {
				return err
			}
		}
		s.total, s.reached = float64(w.nu*all.Float(0)), s.before.Float(0)
		w.start = s
	}
	return nil
}

// next is the coefficient that a record of a cost begins with.
func (s *start) next(cost float64) float64 {
	from := s.reached
	if from >= s.total {
		return 0
	}
	s.before.Add(0, cost)
	if s.reached = s.before.Float(0); s.reached <= s.total {
		return cost
	}
	return min(cost, s.total-from)
}

// weighed goes on to the start, unless nothing weighs anything.
func (s *training) weighed(all *tally, blocks int) error {
	if all.weights == nil || all.weights.Len() != blocks {
		return jobs.Malformed("a tally without the weights of %d blocks", blocks)
	}
	total := 0.0
	for _, v := range all.weights.Floats() {
		total += v
	}
	if !(total > 0) {
		return protocol.EmptyFault("every training record weighs 0").WithHint("Check spec.input.weight.")
	}
	s.weights, s.stage = all.weights, stageStart
	return nil
}

// measureOneClass is measure of a record of one class, which is a variable of side +1.
func (w *walk) measureOneClass(r record) error {
	cost := w.costs[0]
	if r.Weights != nil {
		cost = float64(cost * r.Weight(r.i))
	}
	if r.novel {
		cost = 0
	}
	switch w.stage {
	case stageWeigh:
		w.tally.weights.Add(w.start.block, cost)
		return nil
	case stageStart:
		w.after.alpha[r.at] = w.start.next(cost)
		w.collect(r, 1)
		return nil
	}
	for _, j := range w.changed[r.ordinal] {
		w.after.alpha[r.at] = w.working.alpha[j]
	}
	if w.stage == stageCollect {
		w.collect(r, 1)
	}
	if cost == 0 || w.chosen[0] == nil {
		return nil
	}
	alpha, f := w.after.alpha[r.at], w.after.f[r.at]
	w.consider(0, r.ordinal, 1, member{class: 1, cost: cost, alpha: alpha, f: f, row: r.X.Row(r.i)})
	if w.proof == nil {
		return nil
	}
	terms := smo.OneClass{Alpha: alpha, Cost: cost}
	terms.Value, terms.Error = w.lifted(f, alpha, w.proof.errors[r.at])
	return w.addTerms(0, terms.Terms(w.bias[0]), true, r)
}

// certificate is that of a machine.
func (s *training) certificate(standing smo.Standing, machine int) smo.Certificate {
	if s.oneClass {
		return smo.CertifyOneClass(standing, s.nu, s.bias[machine])
	}
	return smo.Certify(standing)
}

// outlierAbove is the novelty above which a record is an outlier.
func (m *model) outlierAbove() float64 {
	if m.threshold != nil {
		return m.threshold[0]
	}
	return 0
}

// oneClassOutcome is the answer of a decision f - rho, which is its value: above 0 of inliers, as that of scikit-learn,
// unless a threshold says otherwise.
func (m *model) oneClassOutcome(decision float64) jobs.Outcome {
	if m.threshold == nil && decision > 0 || m.threshold != nil && !(-decision > m.threshold[0]) {
		return jobs.Outcome{Label: evaluation.Inlier, Value: decision}
	}
	return jobs.Outcome{Label: evaluation.Outlier, Value: decision}
}

// Novelty is rho - f.
func (p *predictor) Novelty(o jobs.Outcome) float64 { return -o.Value }

// detects sets up what a job of mode one_class does with records that it does not learn from.
func (j *job) detects(spec protocol.JobSpec) (err error) {
	load := func(a jobs.Arrays, ops *kernelops.Set) (evaluation.Detector, error) {
		p, err := NewPredictor(a, ops)
		if err != nil {
			return nil, err
		}
		return p.(*predictor), nil
	}
	set := func(a jobs.Arrays, threshold float64) (jobs.Arrays, error) {
		m, err := readModel(a)
		if err != nil {
			return nil, err
		}
		m.threshold = []float64{threshold}
		return jobs.ArraysOf(m), nil
	}
	j.detection, err = evaluation.DetectionOf(spec, j.Params.Novelty, load, set)
	j.Train = j.detection.Train()
	return err
}

// className is the class of a support vector, where there are classes.
func (m *model) className(i int) string {
	if n := int(m.class[i]); n < m.space.Labels.Len() {
		return string(m.space.Labels.At(n))
	}
	return "record"
}
