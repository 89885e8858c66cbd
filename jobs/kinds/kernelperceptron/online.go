package kernelperceptron

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// toldObject is the object of support vectors that no data set has, of corrections, in models of earlier releases.
const toldObject = "corrections"

// Online is a model that goes on learning by the protocol of section 1.3.4: a record arrives, the model predicts, is
// told the label, and learns, with steps of 1 and no budget. A record that equals a support vector of its class
// adds to that. One goroutine at a time.
type Online struct {
	trained model // as it was loaded
	learner *learner
	predict *predictor
	dense   []float32
	place   map[string]int // of support vectors, by class and bytes
	seen    bool           // a record was predicted
	last    chunk          // that one
}

// Load begins with a model of form plain or voted; errors are those of NewPredictor. That of form averaged is a
// *protocol.Fault of CodeSpecInvalid: it holds the mean of all functions, and it is the last that goes on learning. The
// arrays are not written to.
func Load(a jobs.Arrays, ops *kernelops.Set) (*Online, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	if m.form == formAveraged {
		const mean = "a model of form %s holds the mean of all functions, not the last one, which goes on learning"
		return nil, protocol.SpecFault(mean, m.form).
			WithHint(fmt.Sprintf("Train with params.form %s or %s.", formPlain, formVoted))
	}
	s := &state{machine: m.machine, born: make([]int64, m.supports()), progress: progress{even: true, radius: m.radius}}
	s.of = make([]int64, m.supports()) // the learner knows support vectors by their places
	s.own()
	o := &Online{trained: *m, place: make(map[string]int, m.supports())}
	for i := range s.of {
		s.of[i] = int64(i)
		s.number = append(s.number, int32(i))
		o.place[rowKey(s.class[i], s.matrix().Row(i))] = i
	}
	s.beginEpoch()
	o.predict = newPredictor(m, ops)
	o.learner, err = newLearner(s, Params{}, ops)
	return o, err
}

// Predict predicts a block of one record, as NewPredictor does, and remembers it for Update. Time is linear in
// support vectors times width and, of form voted, steps times classes.
func (o *Online) Predict(block *dataset.Block) (jobs.Outcome, error) {
	o.seen = false
	if len(block.IDs) != 1 {
		return jobs.Outcome{}, fmt.Errorf("kernelperceptron: a block of %d records, not of one", len(block.IDs))
	}
	v, err := o.predict.reader.Read(block, nil)
	if err != nil {
		return jobs.Outcome{}, err
	}
	c := rows.ChunkOf(v, 0, 1, &o.dense)
	x := kernelops.Matrix{Data: slices.Clone(c.X.Row(0)), Rows: 1, Cols: c.X.Cols, Stride: c.X.Cols}
	o.last = chunk{rows.Chunk{X: x, IDs: make([]dataset.Identity, 1)}, make([]int64, 1)}
	o.predict.machine = o.learner.machine
	o.predict.outcomes = o.predict.outcomes[:0]
	if err := o.predict.chunk(rows.Chunk{X: x, IDs: c.IDs}, make([]float64, len(o.predict.labels))); err != nil {
		return jobs.Outcome{}, err
	}
	o.seen = true
	return o.predict.outcomes[0], nil
}

// Update tells the label of the record last predicted. It reports whether the last function was mistaken, which a vote
// need not be, and so learned. A label that the model does not have is a *protocol.Fault of CodeBadRecord.
func (o *Online) Update(label string) (mistake bool, err error) {
	class := o.learner.space.Class([]byte(label))
	switch {
	case !o.seen:
		return false, fmt.Errorf("kernelperceptron: no record was predicted to tell the label of")
	case class < 0:
		return false, protocol.InputFault(protocol.CodeBadRecord, "the model has no label %.100q", label).
			Suggest(label, o.predict.labels)
	}
	key := rowKey(class, o.last.X.Row(0))
	place, known := o.place[key]
	if !known {
		place = o.learner.supports()
	}
	o.seen = false
	o.last.of[0], o.last.Class = int64(place), []int32{class}
	before := o.learner.mistakes[0]
	if err := o.learner.learn(o.last); err != nil {
		return false, err
	}
	if mistake = o.learner.mistakes[0] > before; mistake {
		o.place[key] = place
	}
	return mistake, nil
}

// Model returns the model as it is now: with what was told as a last epoch, and without a margin, which was that of
// another function.
func (o *Online) Model() jobs.Arrays {
	m := o.trained
	if o.learner.seen == 0 {
		return jobs.ArraysOf(&m)
	}
	m.machine, m.radius, m.margin, m.bound = o.learner.machine, o.learner.radius, math.NaN(), math.NaN()
	m.of, m.named = slices.Clone(o.trained.of), slices.Clone(o.trained.named)
	for place := o.trained.supports(); place < m.supports(); place++ {
		if m.named != nil {
			m.named = append(m.named, dataset.Identity{Object: toldObject, Offset: int64(place)})
		} else {
			m.of = append(m.of, -1-int64(place))
		}
	}
	m.mistakes = append(slices.Clone(m.mistakes), o.learner.mistakes[0])
	return jobs.ArraysOf(&m)
}

// rowKey tells support vectors apart.
func rowKey(class int32, row []float32) string {
	data := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+4*len(row)), uint32(class))
	for _, v := range row {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return string(data)
}
