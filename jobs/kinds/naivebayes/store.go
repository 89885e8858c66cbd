package naivebayes

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
)

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	vocabulary.LabelFields(f, &m.labels)
	jobs.Make(f, &m.dictionary).Fields(f)
	jobs.List(f, classDocuments, &m.documents)
	// CSR by term: the entries of term j are those from indptr[j] to indptr[j+1]
	jobs.List(f, "counts.indptr", &m.counts.indptr)
	jobs.List(f, "counts.class", &m.counts.class)
	jobs.List(f, "counts.count", &m.counts.count)
	m.paramFields(f)
	evaluation.RuleFields(f, &m.rule, m.labels.Len())
	f.Require(m.rule == nil || m.positive == noPositive && !(m.params.RejectBelow > 0),
		"a model decides by costs and by another rule")
	jobs.Optional(f, modelGrowth, &m.growth, m.dictionary.Len())
	if f.Reading() {
		m.params.Grows = m.growth != nil
		f.Check(m.check)
	}
}

// paramFields are the parameters that a model keeps, held to the rules of a spec.
func (m *model) paramFields(f *jobs.Fields) {
	p := &m.params
	m.formField(f)
	jobs.Scalar(f, "alpha", &p.Alpha)
	jobs.Scalar(f, "ratio", &p.Ratio)
	jobs.Scalar(f, "reject_below", &p.RejectBelow)
	positive := int32(m.positive)
	jobs.Scalar(f, "positive", &positive) // a class, or -1
	if f.Reading() {
		if m.positive = int(positive); m.positive >= 0 && m.positive < m.labels.Len() {
			p.Positive = string(m.labels.At(m.positive))
		}
	}
	p.Text.TokenizerFields(f)
	m.priorFields(f)
	f.Check(func() error {
		if err := params.Check(p); err != nil {
			return jobs.Malformed("a model's parameters: %v", err)
		}
		return nil
	})
}

func (m *model) priorFields(f *jobs.Fields) {
	prior := &m.params.Prior
	f.Choice("prior", &prior.Kind, priorLearned, priorUniform, priorGiven)
	if prior.Kind != priorGiven {
		return
	}
	given := make([]float64, m.labels.Len())
	for y := range given {
		given[y] = prior.Given[string(m.labels.At(y))]
	}
	jobs.List(f, "prior.given", &given, m.labels.Len())
	if f.Reading() {
		prior.Given = make(map[string]float64, len(given))
		for y, p := range given {
			prior.Given[string(m.labels.At(y))] = p
		}
	}
}
