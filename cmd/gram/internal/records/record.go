// Package records reads single records from lines of text, for the models that predict or learn from
// them, and prints the predictions.
package records

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
)

// Form is what the records of a model are, as a line of text can hold one.
type Form struct {
	vectors bool
	gaps    bool   // nothing stands for a missing number
	numbers int    // of a vector with categories
	names   string // of its columns of categories, which come last, with line ends between them
}

// The forms of records without categories.
var (
	Texts   = Form{}
	Vectors = Form{vectors: true}             // dense: numbers with commas between them
	Gapped  = Form{vectors: true, gaps: true} // and nothing where a number is missing
)

// String names one record.
func (f Form) String() string {
	if f.vectors {
		return "vector"
	}
	return "text"
}

// Fields says of a vector with categories what its line holds; "" for other records.
func (f Form) Fields() string {
	names := f.categories()
	if names == nil {
		return ""
	}
	listed := "the categories of " + strings.Join(names, ", ")
	switch f.numbers {
	case 0:
		return listed
	case 1:
		return "1 number, then " + listed
	}
	return fmt.Sprintf("%d numbers, then %s", f.numbers, listed)
}

// categories are the names of the columns of categories.
func (f Form) categories() []string {
	if f.names == "" {
		return nil
	}
	return strings.Split(f.names, "\n")
}

// FormOf says what a model reads. Models of sparse vectors are refused: no line of this command
// says from where its columns count. A model with categories keeps their columns' names, but not where they were among
// the numbers: its line has them behind the numbers, in the order of spec.input.categorical.
func FormOf(arrays jobs.Arrays) (Form, error) {
	if _, ok := arrays["features.form"]; !ok {
		return Texts, nil // a model with a space of its own reads texts
	}
	space, err := features.ReadSpace(arrays)
	if err != nil {
		return Form{}, err
	}
	numbers, names := space.Categorical()
	switch {
	case space.Texts():
		return Texts, nil
	case names != nil:
		form, err := withCategories(numbers, names)
		form.gaps = space.TakesGaps()
		return form, err
	case space.Sparse:
		return Form{}, &exit.Failure{Code: exit.Failed, What: "the model reads sparse vectors, which this command does not",
			Hint: "A job of kind Predict reads them from libsvm objects."}
	}
	if space.TakesGaps() {
		return Gapped, nil
	}
	return Vectors, nil
}

func withCategories(numbers int, names []string) (Form, error) {
	f := Form{vectors: true, numbers: numbers, names: strings.Join(names, "\n")}
	if !slices.Equal(f.categories(), names) {
		return Form{}, &exit.Failure{Code: exit.Failed, What: "the model has a column of categories whose name is empty or " +
			"has a line end, which this command does not read",
			Hint: "A job of kind Predict reads it from csv or jsonl objects, by spec.input.categorical."}
	}
	return f, nil
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
	block := &dataset.Block{IDs: make([]dataset.Identity, 1), Subtracted: offsets}
	if names := f.categories(); names != nil {
		if len(fields) != f.numbers+len(names) {
			return nil, protocol.InputFault(protocol.CodeBadRecord, "the record has %d fields; the model reads %s",
				len(fields), f.Fields())
		}
		block.Categories.Width = len(names)
		for _, category := range fields[f.numbers:] {
			block.Categories.Values = append(block.Categories.Values, []byte(category))
		}
		if fields = fields[:f.numbers]; f.numbers == 0 {
			return block, nil
		}
	}
	values, err := dataset.Vector(fields, offsets, f.gaps)
	if err != nil {
		return nil, err
	}
	block.Dense = dataset.Dense{Width: len(values), Values: values}
	return block, nil
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
	return fields[0], joinCSV(fields[1:]), nil
}

// joinCSV is the line that splitCSV splits into fields.
func joinCSV(fields []string) string {
	var line strings.Builder
	w := csv.NewWriter(&line)
	if err := w.Write(fields); err != nil {
		panic(err) // a comma separates, and a builder takes all
	}
	w.Flush()
	return strings.TrimSuffix(line.String(), "\n")
}

func splitCSV(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		return nil, fmt.Errorf("an empty line is no vector")
	}
	return csv.NewReader(strings.NewReader(line)).Read()
}

// IsHeader reports whether a line names columns: one that is a vector of numbers is a record.
func IsHeader(line string, form Form) bool {
	if form == Texts || form.names != "" && form.numbers == 0 {
		return true
	}
	_, err := form.Block(line, nil)
	return err != nil
}

// CheckHeader refuses a header whose last columns are not those of the model's categories, in their order: values of
// one column would count as those of another. A column that the spec named by its number may have any name.
func (f Form) CheckHeader(line string) error {
	names := f.categories()
	if names == nil {
		return nil
	}
	fields, err := splitCSV(line)
	if err != nil {
		return err
	}
	matches := len(fields) == f.numbers+len(names)
	for k, name := range names {
		if _, err := strconv.Atoi(name); matches && err != nil {
			matches = strings.TrimSpace(fields[f.numbers+k]) == name
		}
	}
	if !matches {
		return protocol.InputFault(protocol.CodeBadRecord, "the header is %.200q; the model reads %s", line,
			f.Fields()).WithHint("Write the columns in that order.")
	}
	return nil
}
