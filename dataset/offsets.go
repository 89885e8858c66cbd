package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// offsetsOf finds the columns of spec.input.subtract in the vectors, and returns what is taken off them, by column;
// nil where nothing is. The flaw names a column that is not there, or that two keys name.
func offsetsOf(in *protocol.Input, find func(key protocol.Column) (col int, ok bool)) ([]Offset, flaw) {
	var offsets []Offset
	for _, o := range in.Offsets() {
		col, ok := find(o.Column)
		if !ok || slices.ContainsFunc(offsets, func(before Offset) bool { return before.Column == col }) {
			return nil, flaw{reason: noSubtract, path: cmp.Or(o.Column.Name, strconv.Itoa(o.Column.Number)),
				final: true}
		}
		offsets = append(offsets, Offset{col, o.Value})
	}
	// total order: columns differ
	slices.SortFunc(offsets, func(a, b Offset) int { return cmp.Compare(a.Column, b.Column) })
	return offsets, flaw{}
}

// Vector reads the fields of a record as csv does, and takes offsets off them before they become float32. With gaps a
// blank field is a missing number, which is NaN.
func Vector(fields []string, offsets []Offset, gaps bool) ([]float32, error) {
	var w watch
	w.begin(nil, offsets)
	values := make([]float32, len(fields))
	for i, field := range fields {
		if gaps && strings.TrimSpace(field) == "" {
			values[i] = float32(math.NaN())
			continue
		}
		x, bad := parseNumber([]byte(field))
		if bad.reason != "" {
			return nil, fmt.Errorf("column %d is %.40q, not a finite number of a vector", i+1, field)
		}
		if values[i] = w.take(i, x); w.over > 0 {
			return nil, fmt.Errorf("column %d is %.40q, and %s", i+1, field, differs32)
		}
	}
	return values, nil
}
