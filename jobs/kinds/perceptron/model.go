package perceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// modelVersion is the version of the model's layout.
const modelVersion = 1

// Arrays of a model, beside kind, version and the space's. There is one row of weights for two
// classes, else one for each; stride is the width and one for the bias, which is last. The weights of sparse
// vectors are transposed.
const (
	modelForm         = "form"          // U8 text
	modelRule         = "rule"          // U8 text: signed, argmax or one_vs_rest
	modelBias         = "bias"          // I32 scalar: 1 where the bias is learned, else 0
	modelDistinct     = "distinct"      // F32 scalar
	modelMaxVectors   = "max_vectors"   // I64 scalar
	modelClassWeights = "class_weights" // F32 [classes], where given
	modelWeights      = "weights"       // F32 [rows, stride]: the last ones
	modelSteps        = "steps"         // I64 scalar: records met
	modelSums         = "sums"          // F64 [rows, stride], averaged: the mean is weights - sums/steps
	modelVectors      = "vectors"       // F32 [n, rows * stride], voted and unweighted: weights before the last ones
	modelSurvived     = "survived"      // I64 [n + 1]: the steps that each came through, the last ones too
	modelDropped      = "dropped"       // I64 [2]: vectors that were dropped, and their votes, where some were
	trainingMistakes  = "training.mistakes"
	trainingUpdates   = "training.updates"   // I64 [epochs], as are the mistakes
	trainingSeparated = "training.separated" // I32 scalar: 1 where the last epoch made no mistake
	trainingWarm      = "training.warm"      // I32 scalar: 1 where weights began at those of another model
	trainingMargin    = "training.margin"    // F64 [1], one_vs_rest [classes]; none once it learned on
	trainingRadius    = "training.radius"    // F64 scalar
	// F64 scalar: on all mistakes, one_vs_rest on all updates; 0 where there is none
	trainingBound = "training.bound"
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
	f.Kind(KindName, modelVersion)
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
	jobs.Named(f, modelForm, &s.Form, formNames)
	jobs.Named(f, modelRule, &s.Rule, ruleNames)
	jobs.Flag[int32](f, modelBias, &s.Bias)
	jobs.Scalar(f, modelDistinct, &s.Distinct)
	f.Int(modelMaxVectors, &s.MaxVectors, 1, maxVectorsEver)
	jobs.Optional(f, modelClassWeights, &s.ClassWeights, s.Classes)
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

// Fields lists what was learned, for a Setup that is known.
func (l *Learner) Fields(f *jobs.Fields) {
	jobs.List(f, modelWeights, &l.weights, l.shape()...)
	jobs.Scalar(f, modelSteps, &l.steps)
	if l.Form == Averaged {
		jobs.List(f, modelSums, &l.sums, l.shape()...)
	}
	if !l.Form.votes() {
		return
	}
	n := l.votes()
	f.Dim(modelVectors, 0, &n)
	jobs.List(f, modelVectors, &l.vectors, n, l.size())
	jobs.List(f, modelSurvived, &l.survived)
	l.dropped.Fields(f)
	f.Require(n <= l.MaxVectors && len(l.survived) == n+1 && counts(l.survived),
		"a perceptron of %d vectors, %d numbers of votes, max_vectors %d", n, len(l.survived), l.MaxVectors)
}

// Fields lists the history of a model with as many rows of margins.
func (h *history) Fields(f *jobs.Fields, rows int) {
	jobs.List(f, trainingMistakes, &h.epochMistakes)
	jobs.List(f, trainingUpdates, &h.epochUpdates, len(h.epochMistakes))
	f.Require(counts(h.epochMistakes) && counts(h.epochUpdates), "a perceptron's mistakes are below 0 or too many")
	jobs.Flag[int32](f, trainingSeparated, &h.separated)
	jobs.Flag[int32](f, trainingWarm, &h.warm)
	jobs.List(f, trainingMargin, &h.margin)
	f.Require((len(h.margin) == 0 || len(h.margin) == rows) && jobs.Finite(h.margin),
		"a perceptron has %d margins, not %d, or one is not finite", len(h.margin), rows)
	jobs.Scalar(f, trainingRadius, &h.radius)
	jobs.Scalar(f, trainingBound, &h.bound)
	f.Require(h.radius >= 0 && h.radius < math.Inf(1) && h.bound >= 0 && h.bound < math.Inf(1),
		"a perceptron has a radius of %v and a bound of %v", h.radius, h.bound)
}

// readModel loads a model in time and memory linear in its bytes, and refuses with jobs.Malformed what
// training would not write. It shares memory with the arrays: a learner that goes on needs own().
func readModel(a jobs.Arrays, ops *kernelops.Set) (*model, error) {
	m, err := jobs.Read(a, &model{})
	if err != nil {
		return nil, err
	}
	m.ops = ops
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

// counts reports whether no count is below 0 and their sum is exact in float64.
func counts(list []int64) bool {
	sum := int64(0)
	for _, n := range list {
		if n < 0 || n > maxCount-sum {
			return false
		}
		sum += n
	}
	return true
}
