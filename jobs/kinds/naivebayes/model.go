package naivebayes

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
)

// noPositive stands for a model that decides by the largest posterior.
const noPositive = -1

// model is a trained model: integers and parameters.
type model struct {
	params     Params  // of Text only the tokenizer's part
	positive   int     // class decided by ratio, or noPositive
	documents  []int64 // training documents of each class, above 0
	labels     jobs.Strings
	dictionary *vocabulary.Dictionary
	counts     csr
	rule       *evaluation.Rule // nil without costs
	growth     []int64          // of each term; nil where the model does not grow
	omission   *omission        // nil where records have no missing counts
}

// csr holds the occurrences of terms (rows) in classes; of the Bernoulli form the documents that hold them.
type csr struct {
	indptr []int64
	class  []int32
	count  []int64
}

// row returns the classes in which a term occurs, ascending, and how often.
func (c csr) row(term int) (class []int32, count []int64) {
	begin, end := c.indptr[term], c.indptr[term+1]
	return c.class[begin:end], c.count[begin:end]
}

// newModel joins the dictionary of the first phase and the counts of the second.
func newModel(params Params, state *words, root *partialCounts) (*model, error) {
	m := &model{params: params, positive: noPositive, documents: root.documents,
		dictionary: state.Dictionary, labels: state.Labels.Keys, growth: state.growth}
	for y, label := range m.labels.List() {
		if label == params.Positive && params.Positive != "" {
			m.positive = y
		}
	}
	if err := root.cells.within(m.dictionary.Len(), m.labels.Len()); err != nil {
		return nil, err
	}
	m.counts = newCSR(root.cells, m.dictionary.Len(), m.labels.Len())
	if root.unknown != nil {
		if err := root.unknown.cells.within(m.dictionary.Len(), m.labels.Len()); err != nil {
			return nil, err
		}
		m.omission = &omission{root.unknown.width, newCSR(root.unknown.cells, m.dictionary.Len(), m.labels.Len())}
	}
	if params.Grows != (m.growth != nil) {
		return nil, jobs.Malformed("a state of a model that grows: %v, in a job that grows: %v", m.growth != nil,
			params.Grows)
	}
	if params.Costs != nil {
		var err error
		if m.rule, err = params.Costs.Rule(m.labels.List()); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

func newCSR(c cells, terms, classes int) csr {
	out := csr{indptr: make([]int64, terms+1), class: make([]int32, len(c.at)), count: c.count}
	for i, at := range c.at {
		out.class[i] = int32(at % int64(classes))
		out.indptr[at/int64(classes)+1]++
	}
	for term := range terms {
		out.indptr[term+1] += out.indptr[term]
	}
	return out
}

// check compares a model with what training guarantees, so that hostile bytes can
// neither index beyond a slice nor reach a logarithm that is not finite.
func (m *model) check() error {
	classes, terms := m.labels.Len(), m.dictionary.Len()
	switch {
	case classes < 2 || classes > math.MaxInt32:
		return jobs.Malformed("a model of %d classes", classes)
	case terms < 1:
		return jobs.Malformed("a model with an empty dictionary")
	case len(m.documents) != classes:
		return jobs.Malformed("a model of %d classes has document counts of %d", classes, len(m.documents))
	case m.positive < noPositive || m.positive >= classes || m.positive != noPositive && classes != 2:
		return jobs.Malformed("a model of %d classes cannot decide class %d by a ratio", classes, m.positive)
	}
	if !jobs.Exact(m.documents, 1) || !jobs.Exact(m.counts.count, 1) {
		return jobs.Malformed("a model's counts are from 1 to 2^53 together")
	}
	if err := m.counts.check(terms, classes); err != nil {
		return err
	}
	if err := m.checkForm(); err != nil {
		return err
	}
	if err := m.checkOmission(); err != nil {
		return err
	}
	return m.checkGrown()
}

func (c csr) check(terms, classes int) error {
	if len(c.indptr) != terms+1 || len(c.count) != len(c.class) {
		return jobs.Malformed("the counts of %d terms have %d row ends", terms, len(c.indptr))
	}
	if c.indptr[0] != 0 || c.indptr[terms] != int64(len(c.class)) {
		return jobs.Malformed("the rows of counts do not span them")
	}
	for term := range terms {
		if c.indptr[term+1] < c.indptr[term] || c.indptr[term+1] > int64(len(c.class)) {
			return jobs.Malformed("row %d of the counts falls", term)
		}
		row, _ := c.row(term)
		for i, y := range row {
			if y < 0 || int(y) >= classes || i > 0 && y <= row[i-1] {
				return jobs.Malformed("row %d of the counts: classes do not ascend below %d", term, classes)
			}
		}
	}
	return nil
}

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
	if f.Has(omitWidth, m.omission != nil) {
		jobs.Make(f, &m.omission).Fields(f, m.dictionary.Len())
	}
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
	p.Prior.Fields(f, m.labels)
	f.Check(func() error {
		if err := params.Check(p); err != nil {
			return jobs.Malformed("a model's parameters: %v", err)
		}
		return nil
	})
}
