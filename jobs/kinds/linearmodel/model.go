package linearmodel

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/margin"
)

// model is the machines, with what is proved of each.
type model struct {
	space     *features.Space
	loss      dual.Loss
	regresses bool // its one machine gives a number
	paired    bool // of more than two classes, there is a machine for each two
	biasScale float64
	costs     []float64          // of a record of each class that weighs 1; of numbers one
	weights   []float64          // [machines, stride]; a row ends with the bias
	proofs    []dual.Certificate // none of a model that learned on
	margins   margin.List        // nil if the loss has none, or params.margin did not ask for them
	rounds    int64
	told      int64   // records that it learned from since
	origin    *origin // of a model that was imported; nil if it was learned
	reject    evaluation.Rejection
}

// stride is the length of a row of weights.
func (m *model) stride() int { return m.space.Width + 1 }

// row returns the weights of a machine in a list of all.
func (m *model) row(weights []float64, machine int) []float64 {
	return weights[machine*m.stride() : (machine+1)*m.stride()]
}

// begin makes weights of zero, of which nothing is known.
func (m *model) begin() {
	m.weights, m.proofs = make([]float64, m.machines()*m.stride()), make([]dual.Certificate, m.machines())
	for k := range m.proofs {
		m.proofs[k].Primal = math.Inf(1)
	}
	if m.loss.HasMargin() {
		m.margins = margin.Unbounded(m.machines())
	}
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).FieldsOrImported(f)
	if m.originFields(f); m.imported() {
		jobs.Scalar(f, "bias_scale", &m.biasScale)
		f.Require(m.biasScale == 1, "an imported model with a bias of %v", m.biasScale)
		f.Check(m.check)
		m.weightFields(f)
		return
	}
	jobs.Named(f, "loss", &m.loss.Form, dual.Names)
	m.modeFields(f)
	m.classesField(f)
	jobs.Scalar(f, "bias_scale", &m.biasScale)
	f.Check(m.check)
	jobs.List(f, "costs", &m.costs, max(1, m.space.Labels.Len()))
	m.weightFields(f)
	m.toldField(f)
	m.proofFields(f)
	m.margins.Fields(f, m.machines())
	f.Require(m.margins == nil || m.loss.HasMargin(), "a margin with loss %s", m.loss)
	jobs.Scalar(f, "training.rounds", &m.rounds)
	m.reject.Fields(f)
	f.Require(m.reject == 0 || !m.regresses, "a linear model of numbers rejects below %v", m.reject)
	for _, c := range m.costs {
		f.Require(c >= 0 && c <= math.MaxFloat64, "a linear model with a cost of %v", c)
	}
	f.Require(m.rounds >= 0 && m.rounds <= maxRounds, "a linear model after %d rounds", m.rounds)
}

// weightFields lists the weights, each machine's with its bias last.
func (m *model) weightFields(f *jobs.Fields) {
	jobs.List(f, "weights", &m.weights, m.machines(), m.stride())
	f.Require(jobs.Finite(m.weights), "a linear model with weights that are not finite")
}

// proofFields lists what is proved: of each machine primal, its error, dual, its error, and the bound on the gap.
func (m *model) proofFields(f *jobs.Fields) {
	if m.told > 0 {
		return
	}
	const each = 5
	list := make([]float64, 0, each*len(m.proofs))
	for _, c := range m.proofs {
		list = append(list, c.Primal, c.PrimalError, c.Dual, c.DualError, c.GapUpper)
	}
	jobs.List(f, "training.certificate", &list, m.machines(), each)
	if !f.Reading() {
		return
	}
	m.proofs = make([]dual.Certificate, m.machines())
	for k := range m.proofs {
		v := list[each*k:]
		m.proofs[k] = dual.Certificate{Primal: v[0], PrimalError: v[1], Dual: v[2], DualError: v[3], GapUpper: v[4]}
		f.Require(v[0] >= 0 && v[1] >= 0 && v[3] >= 0 && v[4] >= 0, "the certificate of machine %d is %v", k, v[:each])
	}
}

func (m *model) check() error {
	if labels := m.space.Labels.Len(); (m.regresses && labels > 0) || (!m.regresses && labels < 2) ||
		!(m.biasScale >= 0 && m.biasScale <= 1e6) || m.machines() > maxNumbers/m.stride() {
		return jobs.Malformed("a linear model of %d classes and %d columns, with a bias of %v", m.space.Labels.Len(),
			m.space.Width, m.biasScale)
	}
	return nil
}

// relative is the greatest proved gap of a machine, as a part of its primal objective.
func (m *model) relative() (greatest float64) {
	for _, c := range m.proofs {
		greatest = max(greatest, c.Relative())
	}
	return greatest
}
