package naivebayes

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/vocabulary"
)

// readModel reads a model's arrays, in time and memory linear in their bytes. Whatever training
// would not have written is a *protocol.Fault of CodeCorrupt.
func readModel(a jobs.Arrays) (*model, error) {
	if err := a.CheckKind(KindName, modelVersion); err != nil {
		return nil, err
	}
	m := &model{}
	for _, read := range []func(jobs.Arrays) error{m.readData, m.readForm, m.readParams, m.readTokenizer, m.readPrior, m.readCosts, m.readGrowth} {
		if err := read(a); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

func (m *model) readData(a jobs.Arrays) (err error) {
	if m.labels, err = vocabulary.ReadLabels(a); err != nil {
		return err
	}
	if m.documents, err = jobs.Get[int64](a, classDocuments); err != nil {
		return err
	}
	if m.dictionary, err = vocabulary.ReadDictionary(a); err != nil {
		return err
	}
	if m.counts.indptr, err = jobs.Get[int64](a, modelIndptr); err != nil {
		return err
	}
	if m.counts.class, err = jobs.Get[int32](a, modelClass); err != nil {
		return err
	}
	m.counts.count, err = jobs.Get[int64](a, modelCount)
	return err
}

func (m *model) readParams(a jobs.Arrays) (err error) {
	if m.params.Alpha, err = jobs.GetScalar[float64](a, modelAlpha); err != nil {
		return err
	}
	if m.params.Ratio, err = jobs.GetScalar[float64](a, modelRatio); err != nil {
		return err
	}
	if m.params.RejectBelow, err = jobs.GetScalar[float64](a, modelRejectBelow); err != nil {
		return err
	}
	positive, err := jobs.GetScalar[int32](a, modelPositive)
	if err != nil {
		return err
	}
	m.positive = int(positive)
	if m.positive >= 0 && m.positive < m.labels.Len() {
		m.params.Positive = string(m.labels.At(m.positive))
	}
	return nil
}

func (m *model) readTokenizer(a jobs.Arrays) (err error) {
	m.params.Text, err = vocabulary.ReadTokenizer(a)
	return err
}

// readCosts reads the rule of a model that decides by costs, and by nothing else.
func (m *model) readCosts(a jobs.Arrays) (err error) {
	m.rule, err = evaluation.ReadRule(a, m.labels.Len())
	if err == nil && m.rule != nil && (m.positive != noPositive || m.params.RejectBelow > 0) {
		return jobs.Malformed("a model decides by costs and by another rule")
	}
	return err
}

// readPrior reads the prior and then holds all parameters to the rules of a spec.
func (m *model) readPrior(a jobs.Arrays) error {
	kind, err := a.Text(modelPrior)
	if err != nil {
		return err
	}
	m.params.Prior.Kind = kind
	switch kind {
	case priorLearned, priorUniform:
	case priorGiven:
		given, err := jobs.Get[float64](a, modelPriorGiven, m.labels.Len())
		if err != nil {
			return err
		}
		m.params.Prior.Given = make(map[string]float64, len(given))
		for y, p := range given {
			m.params.Prior.Given[string(m.labels.At(y))] = p
		}
	default:
		return jobs.Malformed("a model's prior is not %q", kind)
	}
	if err := m.params.check(); err != nil {
		return jobs.Malformed("a model's parameters: %v", err)
	}
	return nil
}
