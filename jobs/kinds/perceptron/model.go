package perceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
)

// model is a perceptron with what is known of its training.
type model struct {
	space *features.Space
	*Learner
	history
}

// history is what is told of the training.
type history struct {
	epochMistakes, epochUpdates []int64
	separated, warm             bool
	margin                      []float64
	radius, bound               float64
}

// maxCount bounds counts, which are exact in float64.
const maxCount = int64(1) << 53

// Fields lists the model. The learner's ops are not among them.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	if f.Reading() {
		m.Learner = &Learner{Setup: Setup{Classes: m.space.Labels.Len(), Width: m.space.Width, Sparse: m.space.Sparse}}
	}
	m.Setup.Fields(f)
	m.Learner.Fields(f)
	m.history.Fields(f, m.marginRows())
	if f.Reading() {
		m.ready()
	}
}

// Fields lists what the space does not say.
func (s *Setup) Fields(f *jobs.Fields) {
	jobs.Named(f, "form", &s.Form, formNames)
	jobs.Named(f, "rule", &s.Rule, ruleNames)
	jobs.Flag[int32](f, "bias", &s.Bias)
	jobs.Scalar(f, "distinct", &s.Distinct)
	f.Int("max_vectors", &s.MaxVectors, 1, maxVectorsEver)
	jobs.Optional(f, "class_weights", &s.ClassWeights, s.Classes)
	s.Reject.Fields(f)
	f.Check(s.check)
}

func (s *Setup) check() error {
	switch {
	case s.Classes < 2 || (s.Classes == 2) != (s.Rule == Signed) || s.checkSize() != nil:
		return jobs.Malformed("a perceptron of %d classes and %d columns with rule %s", s.Classes, s.Width, s.Rule)
	case !(s.Distinct == 0 || s.Distinct >= 1e-7 && s.Distinct <= 2*maxWeight):
		return jobs.Malformed("a perceptron with distinct features of %v", s.Distinct)
	}
	for _, w := range s.ClassWeights {
		if !(w >= 1e-7 && w <= 2*maxWeight) {
			return jobs.Malformed("a perceptron with a class weight of %v", w)
		}
	}
	return nil
}

// Fields lists what was learned, for a Setup that is known. There is one row of weights for two classes, else one for
// each; a row ends with the bias. The weights of sparse vectors are transposed.
func (l *Learner) Fields(f *jobs.Fields) {
	jobs.List(f, "weights", &l.weights, l.shape()...) // the last ones
	jobs.Scalar(f, "steps", &l.steps)                 // records met
	if l.Form == Averaged {
		jobs.List(f, "sums", &l.sums, l.shape()...) // averaged: the mean is weights - sums/steps
	}
	if !l.Form.votes() {
		return
	}
	n := l.votes()
	f.Dim("vectors", 0, &n)
	jobs.List(f, "vectors", &l.vectors, n, l.size()) // voted and unweighted: weights before the last ones
	jobs.List(f, "survived", &l.survived)            // the steps that each came through, the last ones too
	l.dropped.Fields(f)
	f.Require(n <= l.MaxVectors && len(l.survived) == n+1 && jobs.Exact(l.survived, 0),
		"a perceptron of %d vectors, %d numbers of votes, max_vectors %d", n, len(l.survived), l.MaxVectors)
}

// Fields lists the history of a model with as many rows of margins.
func (h *history) Fields(f *jobs.Fields, rows int) {
	jobs.List(f, "training.mistakes", &h.epochMistakes)
	jobs.List(f, "training.updates", &h.epochUpdates, len(h.epochMistakes))
	f.Require(jobs.Exact(h.epochMistakes, 0) && jobs.Exact(h.epochUpdates, 0), "a perceptron's mistakes are below 0 or too many")
	jobs.Flag[int32](f, "training.separated", &h.separated) // 1 where the last epoch made no mistake
	jobs.Flag[int32](f, "training.warm", &h.warm)           // 1 where weights began at those of another model
	jobs.List(f, "training.margin", &h.margin)              // one_vs_rest [classes]; none once it learned on
	f.Require((len(h.margin) == 0 || len(h.margin) == rows) && jobs.Finite(h.margin),
		"a perceptron has %d margins, not %d, or one is not finite", len(h.margin), rows)
	jobs.Scalar(f, "training.radius", &h.radius)
	jobs.Scalar(f, "training.bound", &h.bound) // on all mistakes, one_vs_rest on all updates; 0 without a bound
	f.Require(h.radius >= 0 && h.radius < math.Inf(1) && h.bound >= 0 && h.bound < math.Inf(1),
		"a perceptron has a radius of %v and a bound of %v", h.radius, h.bound)
}

// readModel loads a model in time and memory linear in its bytes, and refuses with jobs.Malformed what
// training would not write. It shares memory with the arrays: a learner that goes on needs own().
func readModel(a jobs.Arrays) (*model, error) {
	m, err := jobs.Load[model](a)
	if err != nil {
		return nil, err
	}
	return m, m.checkLearned()
}

// checkLearned compares what was learned with what training guarantees.
func (m *model) checkLearned() error {
	if m.steps < 0 || m.steps > maxCount || !jobs.Finite(m.weights) || !jobs.Finite(m.sums) ||
		!jobs.Finite(m.vectors) || !m.finiteMean() {
		return jobs.Malformed("the weights of a perceptron after %d steps are not all finite", m.steps)
	}
	return nil
}

func (l *Learner) finiteMean() bool {
	if l.Form != Averaged || l.steps == 0 {
		return true
	}
	for i := range l.weights {
		if m := l.mean(i); m-m != 0 {
			return false
		}
	}
	return true
}

// own gives the learner memory that no array shares.
func (m *model) own() {
	m.weights, m.sums, m.vectors, m.survived = slices.Clone(m.weights), slices.Clone(m.sums), slices.Clone(m.vectors),
		slices.Clone(m.survived)
}
