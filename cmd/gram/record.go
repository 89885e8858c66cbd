package main

import (
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
)

// recordForm is what the records of a model are, as a line of text can hold one.
type recordForm int

const (
	textRecords   recordForm = iota
	vectorRecords            // dense: numbers with commas between them
)

// String names one record.
func (f recordForm) String() string {
	if f == vectorRecords {
		return "vector"
	}
	return "text"
}

// formOf says what a model reads. Models of sparse vectors are refused: no line of this command
// says from where its columns count.
func formOf(m *model) (recordForm, error) {
	if _, ok := m.arrays["features.form"]; !ok {
		return textRecords, nil // a model with a space of its own reads texts
	}
	space, err := features.ReadSpace(m.arrays)
	switch {
	case err != nil:
		return 0, err
	case space.Texts():
		return textRecords, nil
	case space.Sparse:
		return 0, &failure{code: exitFailed, what: "the model reads sparse vectors, which this command does not",
			hint: "A job of kind Predict reads them from libsvm objects."}
	}
	return vectorRecords, nil
}

// block is the record that a line holds.
// offsets are taken off the values of a vector, as they were off those that the model is of.
func (f recordForm) block(line string, offsets []dataset.Offset) (*dataset.Block, error) {
	if f == textRecords {
		return &dataset.Block{IDs: make([]dataset.Identity, 1), Texts: [][]byte{[]byte(line)}}, nil
	}
	fields, err := splitCSV(line)
	if err != nil {
		return nil, err
	}
	values, err := dataset.Vector(fields, offsets)
	if err != nil {
		return nil, err
	}
	return &dataset.Block{IDs: make([]dataset.Identity, 1), Dense: dataset.Dense{Width: len(values), Values: values}, Subtracted: offsets}, nil
}

// correction splits a line into a label and the record: LABEL TAB TEXT, or CSV with the label in its
// first column.
func (f recordForm) correction(line string) (label, record string, err error) {
	if f == textRecords {
		label, record, found := strings.Cut(line, "\t")
		if !found {
			return "", "", fmt.Errorf("no tab between label and text")
		}
		return label, record, nil
	}
	fields, err := splitCSV(line)
	switch {
	case err != nil:
		return "", "", err
	case len(fields) < 2:
		return "", "", fmt.Errorf("no comma between label and vector")
	}
	return fields[0], strings.Join(fields[1:], ","), nil
}

func splitCSV(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		return nil, fmt.Errorf("an empty line is no vector")
	}
	return csv.NewReader(strings.NewReader(line)).Read()
}

// outcomeText is what a model says of a record, in short.
func outcomeText(o jobs.Outcome, answers jobs.Answers) string {
	label := "(rejected)"
	switch {
	case o.Rejected:
	case answers.Labels == nil:
		return fmt.Sprintf("%-20.6g", o.Value)
	default:
		label = terminal.Clean(o.Label)
	}
	if answers.Value != "" {
		return fmt.Sprintf("%-20s  %s %.4g", label, answers.Value, o.Value)
	}
	return fmt.Sprintf("%-20s", label)
}
