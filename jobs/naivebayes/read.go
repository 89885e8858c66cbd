package naivebayes

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/params"
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
	if m.dictionary, err = vocabulary.ReadDictionary(a); err != nil {
		return err
	}
	r := jobs.ArrayReader{Arrays: a}
	m.documents = jobs.ReadArray[int64](&r, classDocuments)
	m.counts = csr{jobs.ReadArray[int64](&r, modelIndptr), jobs.ReadArray[int32](&r, modelClass), jobs.ReadArray[int64](&r, modelCount)}
	return r.Err
}

func (m *model) readParams(a jobs.Arrays) error {
	r := jobs.ArrayReader{Arrays: a}
	m.params.Alpha, m.params.Ratio = jobs.ReadScalar[float64](&r, modelAlpha), jobs.ReadScalar[float64](&r, modelRatio)
	m.params.RejectBelow = jobs.ReadScalar[float64](&r, modelRejectBelow)
	m.positive = int(jobs.ReadScalar[int32](&r, modelPositive))
	if m.positive >= 0 && m.positive < m.labels.Len() {
		m.params.Positive = string(m.labels.At(m.positive))
	}
	return r.Err
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
	if err := params.Check(&m.params); err != nil {
		return jobs.Malformed("a model's parameters: %v", err)
	}
	return nil
}
