package parts

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
)

// The formats of a part.
const (
	CSV   = "csv"   // RFC 4180 with LF, a header line first
	JSONL = "jsonl" // an object a line
	NPY   = "npy"   // the columns that are numbers, as they are if there is one, else as float64
)

// Table holds the rows of a part by column, all columns of one length.
type Table []Column

// Column is a named column. Exactly one of the slices is set.
type Column struct {
	Name   string
	Texts  []string
	Ints   []int64
	Floats []float64
}

func (c Column) rows() int { return max(len(c.Texts), len(c.Ints), len(c.Floats)) }

// Rows is the number of rows.
func (t Table) Rows() int {
	if len(t) == 0 {
		return 0
	}
	return t[0].rows()
}

// Names lists the columns' names.
func (t Table) Names() []string {
	names := make([]string, len(t))
	for i, c := range t {
		names[i] = c.Name
	}
	return names
}

// Encode writes the table in a format. Numbers have the shortest form that reads back as
// the same float64.
func (t Table) Encode(format string) ([]byte, error) {
	switch format {
	case CSV:
		return t.csv()
	case JSONL:
		return t.jsonl()
	case NPY:
		return t.npy()
	}
	return nil, fmt.Errorf("parts: no format %q", format)
}

func (t Table) csv() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.Write(t.Names()); err != nil {
		return nil, err
	}
	fields := make([]string, len(t))
	for row := range t.Rows() {
		for i, c := range t {
			fields[i] = c.text(row)
		}
		if err := w.Write(fields); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

func (t Table) jsonl() ([]byte, error) {
	var out bytes.Buffer
	names := make([][]byte, len(t))
	for i, c := range t {
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		names[i] = name
	}
	for row := range t.Rows() {
		open := byte('{')
		for i, c := range t {
			value, err := c.json(row)
			if err != nil {
				return nil, fmt.Errorf("parts: column %q, row %d: %w", c.Name, row, err)
			}
			out.WriteByte(open)
			out.Write(names[i])
			out.WriteByte(':')
			out.Write(value)
			open = ','
		}
		out.WriteString("}\n")
	}
	return out.Bytes(), nil
}

// text is a cell as CSV has it.
func (c Column) text(row int) string {
	switch {
	case c.Texts != nil:
		return c.Texts[row]
	case c.Ints != nil:
		return strconv.FormatInt(c.Ints[row], 10)
	}
	return strconv.FormatFloat(c.Floats[row], 'g', -1, 64)
}

func (c Column) json(row int) ([]byte, error) {
	switch {
	case c.Texts != nil:
		return json.Marshal(c.Texts[row])
	case c.Ints != nil:
		return strconv.AppendInt(nil, c.Ints[row], 10), nil
	}
	return json.Marshal(c.Floats[row])
}
