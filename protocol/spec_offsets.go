package protocol

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// ColumnOffset is what is taken off the values of a column.
type ColumnOffset struct {
	Column Column
	Value  float64
}

// Offsets are the entries of Subtract, by column. A key that is a whole number is the column's number, as
// in a list of columns; for libsvm it is an index as the file writes it. Every other key is a name.
func (in Input) Offsets() []ColumnOffset {
	var all []ColumnOffset
	for key, value := range in.Subtract { //lint:ordered sorted below
		c := Column{Name: key}
		if n, err := strconv.Atoi(key); err == nil && strconv.Itoa(n) == key {
			c = Column{Number: n}
		}
		all = append(all, ColumnOffset{c, value})
	}
	// total order: keys differ
	slices.SortFunc(all, func(a, b ColumnOffset) int {
		return cmp.Or(cmp.Compare(a.Column.Number, b.Column.Number), cmp.Compare(a.Column.Name, b.Column.Name))
	})
	return all
}

// vectors reports that records of the format can hold vectors.
func (f formatFields) vectors() bool { return f.features || f.libsvm || f.labelsURI || f.rows }

// checkOffsets holds that the columns of Subtract are named as they can be found.
func (in Input) checkOffsets(field string) error {
	for _, o := range in.Offsets() {
		c, least := o.Column, 1
		if in.Format == "libsvm" && in.IndexBase != nil {
			least = *in.IndexBase
		}
		switch named := c.Name != ""; {
		case math.IsNaN(o.Value) || math.IsInf(o.Value, 0) || math.Abs(o.Value) > math.MaxFloat32:
			return SpecFault(
				"%s.subtract: %v of column %v is no offset; it must lie within the range of float32", field, o.Value, c)
		case !named && (c.Number < least || c.Number > MaxWidth):
			return SpecFault("%s.subtract names column %d; columns count from %d", field, c.Number, least)
		case in.Format == "csv" && named && !in.Header:
			return SpecFault(
				"%s.subtract names the column %v, but %s.header is false; set header: true or use numbers from 1",
				field, c, field)
		case in.Format == "jsonl" && !named:
			return SpecFault(
				"%s.subtract: the values of jsonl have a name or a path (RFC 6901), not the number %v", field, c)
		case in.Format != "csv" && in.Format != "jsonl" && named:
			return SpecFault("%s.subtract: the columns of %s have numbers, not the name %v", field, in.Format, c)
		}
	}
	return nil
}
