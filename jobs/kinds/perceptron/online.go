package perceptron

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Online is a model that goes on learning by the protocol of section 1.3.4: a record arrives, the model
// predicts, is told the label, and learns. One goroutine at a time.
type Online struct {
	*model
	reader *features.Reader
	labels []string
	seen   bool // a record was predicted
	row    Row  // the last one
	mean   []float32
	place  []int32
}

// Load begins with a model; errors are those of NewPredictor. The arrays are not written to.
func Load(a jobs.Arrays, ops *kernelops.Set) (*Online, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	m.ops = ops
	m.own()
	return &Online{model: m, reader: m.space.NewReader(), labels: m.space.Labels.List()}, nil
}

// Labels are those that the model tells apart, in byte order.
func (o *Online) Labels() []string { return o.labels }

// PredictText predicts a text; a model of vectors refuses it with BAD_RECORD.
func (o *Online) PredictText(text string) (jobs.Outcome, error) {
	return o.Predict(&dataset.Block{IDs: make([]dataset.Identity, 1), Texts: [][]byte{[]byte(text)}})
}

// PredictVector predicts a dense vector; a model of texts or of another width refuses it.
func (o *Online) PredictVector(values []float32) (jobs.Outcome, error) {
	return o.Predict(&dataset.Block{IDs: make([]dataset.Identity, 1),
		Dense: dataset.Dense{Width: len(values), Values: values}})
}

// Predict predicts a block of one record, as NewPredictor does, and remembers it for Update. Time
// is linear in the record's values times the classes, and for dense vectors in the weights.
func (o *Online) Predict(block *dataset.Block) (jobs.Outcome, error) {
	o.seen = false
	if len(block.IDs) != 1 {
		return jobs.Outcome{}, fmt.Errorf("perceptron: a block of %d records, not of one", len(block.IDs))
	}
	v, err := o.reader.Read(block, nil)
	if err != nil {
		return jobs.Outcome{}, err
	}
	x := recordOf(v, 0, 0).Row
	o.row.Index, o.row.Values = append(o.row.Index[:0], x.Index...), append(o.row.Values[:0], x.Values...)
	o.seen = true
	return o.decide(v), nil
}

// decide is what a predictor of the whole model decides.
func (o *Online) decide(v features.Vectors) jobs.Outcome {
	l := *o.Learner
	p, scores := &predictor{Learner: &l, labels: o.labels}, make([]float64, o.Classes)
	switch {
	case o.Form.votes() && o.Sparse:
		p.voteSparse(scores, v)
	case o.Form.votes():
		p.voteDense(scores, v.Dense)
	case o.Sparse && o.Form == Averaged && o.steps > 0:
		o.rateMean(&l, o.row)
		p.perClass(scores, p.scores)
	default:
		l.weights = o.deciding()
		p.rate(o.row)
		p.perClass(scores, p.scores)
	}
	return p.outcome(scores)
}

// rateMean sets scores as rate does with the mean weights, for a sparse record. Means change with every step, so they
// are made for the record's columns only; where columns stand is nothing to a product.
func (o *Online) rateMean(l *Learner, x Row) {
	rows := o.rows()
	o.mean, o.place = o.mean[:0], o.place[:0]
	for i, j := range x.Index {
		o.place = append(o.place, int32(i))
		for r := range rows {
			o.mean = append(o.mean, o.Learner.mean(o.at(r, int(j))))
		}
	}
	for r := range rows {
		o.mean = append(o.mean, o.Learner.mean(o.at(r, o.Width)))
	}
	l.weights, l.Width = o.mean, len(x.Index)
	l.rate(Row{Index: o.place, Values: x.Values})
}

// Update tells the label of the record last predicted. It reports whether the last weights were mistaken, which
// the averaged ones need not be, and so learned. A label that the model does not have is a *protocol.Fault
// of CodeBadRecord.
func (o *Online) Update(label string) (mistake bool, err error) {
	class := o.space.Class([]byte(label))
	switch {
	case !o.seen:
		return false, fmt.Errorf("perceptron: no record was predicted to tell the label of")
	case class < 0:
		hint := "The labels are " + strings.Join(o.labels[:min(len(o.labels), 20)], ", ") + "."
		return false, protocol.InputFault(protocol.CodeBadRecord, "the model has no label %.100q", label).
			WithHint(hint).Suggest(label, o.labels)
	}
	mistake = o.Learn(o.row, int(class), 1)
	o.trim(o.MaxVectors)
	o.seen = false
	return mistake, o.fault()
}

// Model returns the model as it is now: the arrays that Load read, with the history of the training but
// without its margin, which was that of other weights.
func (o *Online) Model() jobs.Arrays {
	m := *o.model
	l := *o.Learner
	m.Learner = &l
	m.own()
	m.history = history{epochMistakes: slices.Clone(m.epochMistakes), epochUpdates: slices.Clone(m.epochUpdates),
		warm: m.warm}
	return jobs.ArraysOf(&m)
}
