// Package records reads single records from lines of text, for the models that predict or learn from
// them, and prints the predictions.
package records

import (
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
)

// Form is what the records of a model are, as a line of text can hold one.
type Form int

// The forms.
const (
	Texts   Form = iota
	Vectors      // dense: numbers with commas between them
	Gapped       // and nothing where a number is missing
)

// String names one record.
func (f Form) String() string {
	if f != Texts {
		return "vector"
	}
	return "text"
}

// FormOf says what a model reads. Models of sparse vectors are refused: no line of this command
// says from where its columns count.
func FormOf(arrays jobs.Arrays) (Form, error) {
	if _, ok := arrays["features.form"]; !ok {
		return Texts, nil // a model with a space of its own reads texts
	}
	space, err := features.ReadSpace(arrays)
	switch {
	case err != nil:
		return 0, err
	case space.Texts():
		return Texts, nil
	case space.Categories() > 0:
		return 0, &exit.Failure{Code: exit.Failed, What: "the model reads categories, which this command does not",
			Hint: "A job of kind Predict reads them from csv or jsonl objects, by spec.input.categorical."}
	case space.Sparse:
		return 0, &exit.Failure{Code: exit.Failed, What: "the model reads sparse vectors, which this command does not",
			Hint: "A job of kind Predict reads them from libsvm objects."}
	}
	if space.TakesGaps() {
		return Gapped, nil
	}
	return Vectors, nil
}

// Block is the record that a line holds.
// offsets are taken off the values of a vector, as they were off those that the model is of.
func (f Form) Block(line string, offsets []dataset.Offset) (*dataset.Block, error) {
	if f == Texts {
		return &dataset.Block{IDs: make([]dataset.Identity, 1), Texts: [][]byte{[]byte(line)}}, nil
	}
	fields, err := splitCSV(line)
	if err != nil {
		return nil, err
	}
	values, err := dataset.Vector(fields, offsets, f == Gapped)
	if err != nil {
		return nil, err
	}
	return &dataset.Block{IDs: make([]dataset.Identity, 1), Dense: dataset.Dense{Width: len(values), Values: values},
		Subtracted: offsets}, nil
}

// Correction splits a line into a label and the record: LABEL TAB TEXT, or CSV with the label in its
// first column.
func (f Form) Correction(line string) (label, record string, err error) {
	if f == Texts {
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

// IsHeader reports whether a line names columns: one that is a vector of numbers is a record.
func IsHeader(line string, form Form) bool {
	if form == Texts {
		return true
	}
	_, err := form.Block(line, nil)
	return err != nil
}
