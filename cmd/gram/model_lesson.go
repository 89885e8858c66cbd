package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// lesson is a model that learns, and how it went so far.
type lesson struct {
	learner jobs.Learner
	answers jobs.Answers
	form    records.Form
	offsets []dataset.Offset // taken off the records that the model is of
	told    int64            // records whose label was told
	wrong   int64            // of these, those that were predicted wrongly
	updates int64            // of these, those that changed the weights
}

func newLesson(a *app, m *model) (*lesson, error) {
	if m.kind.Learn == nil {
		return nil, &exit.Failure{Code: exit.Failed,
			What: fmt.Sprintf("a model of kind %s does not go on learning", m.kind.Name),
			Hint: "Models of kind Perceptron, KernelPerceptron and LinearModel do."}
	}
	form, err := records.FormOf(m.arrays)
	if err != nil {
		return nil, err
	}
	predictor, err := m.kind.Predict(m.arrays, kernelops.Best())
	if err != nil {
		return nil, err
	}
	learner, err := m.kind.Learn(m.arrays, kernelops.Best())
	if err != nil {
		return nil, exit.WithoutSpec(err, exit.Failed)
	}
	offsets, err := jobs.Offsets(m.arrays)
	return &lesson{learner: learner, answers: predictor.Answers(), form: form, offsets: offsets}, err
}

// predict asks for one record.
func (l *lesson) predict(record string) (jobs.Outcome, error) {
	block, err := l.form.Block(record, l.offsets)
	if err != nil {
		return jobs.Outcome{}, err
	}
	return l.learner.Predict(block)
}

// predicted is the label of a prediction, as people tell it.
func (l *lesson) predicted(o jobs.Outcome) string {
	if l.answers.Labels == nil {
		return strconv.FormatFloat(o.Value, 'g', -1, 64)
	}
	return o.Label
}

// tell tells the label of the record that was predicted.
func (l *lesson) tell(predicted jobs.Outcome, label string) error {
	changed, err := l.learner.Update(label)
	if err != nil {
		return err
	}
	l.told++
	wrong := predicted.Rejected || predicted.Label != label
	if l.answers.Labels == nil { // a number is right where there was nothing to learn from it
		wrong = changed
	}
	if wrong {
		l.wrong++
	}
	if changed {
		l.updates++
	}
	return nil
}

// correct learns from every line of a file.
func (l *lesson) correct(ctx context.Context, name string, lines iter.Seq2[string, error]) error {
	number := 0
	for line, err := range lines {
		number++
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = l.correctOne(line)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, number, err)
		}
	}
	return nil
}

func (l *lesson) correctOne(line string) error {
	label, record, err := l.form.Correction(line)
	if err != nil {
		return err
	}
	predicted, err := l.predict(record)
	if err != nil {
		return err
	}
	return l.tell(predicted, label)
}
