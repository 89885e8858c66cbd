package perceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
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
	trainingBound     = "training.bound"     // F64 scalar: on all mistakes, one_vs_rest on all updates; 0 where there is none
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

func bit(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// arrays writes the model: one byte string per content. They share its memory.
func (m *model) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind(KindName, modelVersion)
	m.space.Put(a)
	a.PutText(modelForm, m.Form.String())
	a.PutText(modelRule, m.Rule.String())
	jobs.PutScalar(a, modelBias, bit(m.Bias))
	jobs.PutScalar(a, modelDistinct, m.Distinct)
	jobs.PutScalar(a, modelMaxVectors, int64(m.MaxVectors))
	if m.ClassWeights != nil {
		jobs.Put(a, modelClassWeights, m.ClassWeights)
	}
	m.Learner.put(a)
	jobs.Put(a, trainingMistakes, m.epochMistakes)
	jobs.Put(a, trainingUpdates, m.epochUpdates)
	jobs.PutScalar(a, trainingSeparated, bit(m.separated))
	jobs.PutScalar(a, trainingWarm, bit(m.warm))
	jobs.Put(a, trainingMargin, m.margin)
	jobs.PutScalar(a, trainingRadius, m.radius)
	jobs.PutScalar(a, trainingBound, m.bound)
	return a
}

// put writes what was learned.
func (l *Learner) put(a jobs.Arrays) {
	jobs.Put(a, modelWeights, l.weights, l.shape()...)
	jobs.PutScalar(a, modelSteps, l.steps)
	if l.sums != nil {
		jobs.Put(a, modelSums, l.sums, l.shape()...)
	}
	if l.survived != nil {
		jobs.Put(a, modelVectors, l.vectors, l.votes(), l.size())
		jobs.Put(a, modelSurvived, l.survived)
		l.dropped.put(a)
	}
}

// readModel loads a model in time and memory linear in its bytes, and refuses with jobs.Malformed what
// training would not write. It shares memory with the arrays: a learner that goes on needs own().
func readModel(a jobs.Arrays, ops *kernelops.Set) (*model, error) {
	m, err := readArrays(a, ops)
	if err != nil {
		return nil, err
	}
	return m, m.checkLearned()
}

// readArrays is readModel but for the check of every weight, which the states of a job, written by its own steps, are
// spared.
func readArrays(a jobs.Arrays, ops *kernelops.Set) (*model, error) {
	if err := a.CheckKind(KindName, modelVersion); err != nil {
		return nil, err
	}
	space, err := features.ReadSpace(a)
	if err != nil {
		return nil, err
	}
	m := &model{space: space, Learner: &Learner{ops: ops}}
	for _, read := range []func(jobs.Arrays) error{m.readSetup, m.Learner.read, m.readHistory} {
		if err := read(a); err != nil {
			return nil, err
		}
	}
	m.ready()
	return m, nil
}

func (m *model) readSetup(a jobs.Arrays) error {
	r := jobs.ArrayReader{Arrays: a}
	rule, form, bias := slices.Index(ruleNames, r.Text(modelRule)), slices.Index(formNames, r.Text(modelForm)), jobs.ReadScalar[int32](&r, modelBias)
	vectors := jobs.ReadScalar[int64](&r, modelMaxVectors)
	m.Setup = Setup{Rule: Rule(rule), Form: Form(form), Classes: m.space.Labels.Len(), Width: m.space.Width, Sparse: m.space.Sparse,
		Bias: bias == 1, Distinct: jobs.ReadScalar[float32](&r, modelDistinct), MaxVectors: int(vectors)}
	if _, ok := a[modelClassWeights]; ok {
		m.ClassWeights = jobs.ReadArray[float32](&r, modelClassWeights, m.Classes)
	}
	switch {
	case r.Err != nil:
		return r.Err
	case rule < 0 || form < 0 || bias < 0 || bias > 1:
		return jobs.Malformed("a perceptron of an unknown rule or form")
	case m.Classes < 2 || (m.Classes == 2) != (m.Rule == Signed) || m.checkSize() != nil:
		return jobs.Malformed("a perceptron of %d classes and %d columns with rule %s", m.Classes, m.Width, m.Rule)
	case vectors < 1 || vectors > maxVectorsEver:
		return jobs.Malformed("a perceptron of up to %d vectors", vectors)
	case !(m.Distinct == 0 || m.Distinct >= 1e-7 && m.Distinct <= 2*maxWeight):
		return jobs.Malformed("a perceptron with distinct features of %v", m.Distinct)
	}
	for _, w := range m.ClassWeights {
		if !(w >= 1e-7 && w <= 2*maxWeight) {
			return jobs.Malformed("a perceptron with a class weight of %v", w)
		}
	}
	return nil
}

// read reads what put wrote, for a Setup that is known.
func (l *Learner) read(a jobs.Arrays) error {
	r := jobs.ArrayReader{Arrays: a}
	l.weights, l.steps = jobs.ReadArray[float32](&r, modelWeights, l.shape()...), jobs.ReadScalar[int64](&r, modelSteps)
	if l.Form == Averaged {
		l.sums = jobs.ReadArray[float64](&r, modelSums, l.shape()...)
	}
	if l.Form.votes() {
		l.vectors = jobs.ReadArray[float32](&r, modelVectors, -1, l.size())
		l.survived = jobs.ReadArray[int64](&r, modelSurvived)
	}
	if r.Err != nil || !l.Form.votes() {
		return r.Err
	}
	var err error
	if l.dropped, err = readDropped(a); err != nil {
		return err
	}
	if n := l.votes(); n > l.MaxVectors || len(l.survived) != n+1 || !counts(l.survived) {
		return jobs.Malformed("a perceptron of %d vectors, %d numbers of votes, max_vectors %d", n, len(l.survived), l.MaxVectors)
	}
	return nil
}

// checkLearned holds what was learned against what training guarantees.
func (m *model) checkLearned() error {
	if m.steps < 0 || m.steps > maxCount || !finite(m.weights) || !finite(m.sums) || !finite(m.vectors) || !m.finiteMean() {
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

func (m *model) readHistory(a jobs.Arrays) error {
	r := jobs.ArrayReader{Arrays: a}
	separated, warm := jobs.ReadScalar[int32](&r, trainingSeparated), jobs.ReadScalar[int32](&r, trainingWarm)
	h := history{epochMistakes: jobs.ReadArray[int64](&r, trainingMistakes), separated: separated == 1, warm: warm == 1, margin: jobs.ReadArray[float64](&r, trainingMargin),
		radius: jobs.ReadScalar[float64](&r, trainingRadius), bound: jobs.ReadScalar[float64](&r, trainingBound)}
	h.epochUpdates = jobs.ReadArray[int64](&r, trainingUpdates, len(h.epochMistakes))
	m.history = h
	switch {
	case r.Err != nil:
		return r.Err
	case separated>>1 != 0 || warm>>1 != 0 || !counts(h.epochMistakes) || !counts(h.epochUpdates):
		return jobs.Malformed("a perceptron's history of mistakes is none")
	case len(h.margin) != 0 && len(h.margin) != m.marginRows() || !finite(h.margin):
		return jobs.Malformed("a perceptron's margins are none")
	case !(h.radius >= 0 && h.radius < math.Inf(1) && h.bound >= 0 && h.bound < math.Inf(1)):
		return jobs.Malformed("a perceptron's radius %v and bound %v are none", h.radius, h.bound)
	}
	return nil
}

// own gives the learner memory that no array shares.
func (m *model) own() {
	m.weights, m.sums, m.vectors, m.survived = slices.Clone(m.weights), slices.Clone(m.sums), slices.Clone(m.vectors), slices.Clone(m.survived)
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
