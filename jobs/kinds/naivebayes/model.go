package naivebayes

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
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
