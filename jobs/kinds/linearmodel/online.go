package linearmodel

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// online is a model that goes on learning record by record: it predicts, is told the label, and takes the coefficient
// of the record, which is 0 before, to the best while all others stay. That is a step of dual coordinate ascent, as in
// training. With hinge and squared_hinge it is the update PA-I and PA-II of Crammer, Dekel, Keshet, Shalev-Shwartz and
// Singer, "Online passive-aggressive algorithms", JMLR 7, 2006, figure 1. One goroutine at a time.
type online struct {
	*model
	predict *predictor
	reader  *features.Reader
	seen    bool     // a record was predicted
	last    dual.Row // that one
}

func learnOn(a jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) {
	p, err := newPredictor(a, ops)
	if err != nil {
		return nil, err
	}
	if err := p.origin.checkLearned(); err != nil {
		return nil, err
	}
	p.weights = slices.Clone(p.weights)
	return p.reject.Learner(&online{model: p.model, predict: p, reader: p.space.NewReader()}, p.answers())
}

// Predict predicts a block of one record, as NewPredictor does, and remembers it for Update. Time is linear in the
// record's values times the machines.
func (o *online) Predict(block *dataset.Block) (jobs.Outcome, error) {
	o.seen = false
	if len(block.IDs) != 1 {
		return jobs.Outcome{}, fmt.Errorf("linearmodel: a block of %d records, not of one", len(block.IDs))
	}
	v, err := o.reader.Read(block, nil)
	if err != nil {
		return jobs.Outcome{}, err
	}
	x := o.vector(v, 0, o.predict.ops)
	o.last = dual.Row{Index: append(o.last.Index[:0], x.Index...), Values: append(o.last.Values[:0], x.Values...),
		Bias: x.Bias, Ops: x.Ops}
	if x.Index == nil {
		o.last.Index = nil
	}
	o.seen = true
	if o.regresses {
		return jobs.Outcome{Value: x.Dot(o.weights)}, nil
	}
	return o.predict.outcome(x), nil
}

// Update tells the label of the record last predicted, and reports whether weights changed. A label that the model
// does not have, or cannot be read as the number that it is to be, is a *protocol.Fault of CodeBadRecord; values that
// take weights beyond float64 are one of CodeInputLimit, and the model learns nothing from them.
func (o *online) Update(label string) (changed bool, err error) {
	if !o.seen {
		return false, fmt.Errorf("linearmodel: no record was predicted to tell the label of")
	}
	class, target, err := o.labelOf(label)
	if err != nil {
		return false, err
	}
	o.seen = false
	cost, square := o.costs[class], o.last.Square()
	if !(cost > 0) {
		return false, nil
	}
	alphas := make([]float64, o.slots())
	for slot := range alphas {
		k, side := o.at(class, slot)
		short := target - float64(side*o.last.Dot(o.row(o.weights, k)))
		alphas[slot] = o.loss.Ascend(0, short, square, cost)
	}
	if err := o.check(square, alphas); err != nil {
		return false, err
	}
	for slot, alpha := range alphas {
		if alpha != 0 {
			k, side := o.at(class, slot)
			o.last.AddTo(o.row(o.weights, k), float64(alpha*side))
			changed = true
		}
	}
	o.told++
	return changed, nil
}

// labelOf is the class of a label, and what the score of its machines is to be.
func (o *online) labelOf(label string) (class int, target float64, err error) {
	if o.regresses {
		target, err = evaluation.Number(dataset.Identity{}, []byte(label))
		if err != nil {
			err = protocol.InputFault(protocol.CodeBadRecord, "the label %.100q is not a finite number", label).
				WithHint("A model of mode regress learns from numbers.")
		}
		return 0, target, err
	}
	if class = int(o.space.Class([]byte(label))); class < 0 {
		return 0, 0, protocol.InputFault(protocol.CodeBadRecord, "the model has no label %.100q", label).
			Suggest(label, o.predict.labels)
	}
	return class, o.loss.Target(), nil
}

// bound is more than what weights may be: sums of their products with float32 values stay far below float64's end.
const bound = 0x1p+800

// check refuses updates that are too large.
func (o *online) check(square float64, alphas []float64) error {
	for _, alpha := range alphas {
		if !(square < bound && alpha > -bound && alpha < bound) {
			return beyond()
		}
	}
	return nil
}

// Model returns the model as it is now. What was proved was of other weights.
func (o *online) Model() jobs.Arrays {
	m := *o.model
	m.weights = slices.Clone(m.weights)
	if m.told > 0 {
		m.proofs, m.margins = nil, nil
	}
	return jobs.ArraysOf(&m)
}

// toldField says from how many records a model learned on; a model of a job has none.
func (m *model) toldField(f *jobs.Fields) {
	const name = "training.told"
	if f.Has(name, m.told > 0) {
		jobs.Scalar(f, name, &m.told)
		f.Require(m.told > 0, "a linear model learned on from %d records", m.told)
	}
}
