package supportvectormachine

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// table has the rows of some records, each once, however many machines they are in.
type table struct {
	width   int
	ordinal []int64   // of the records, ascending
	rows    []float32 // [records x width], as they were read
}

// add appends a record, whose ordinal is beyond those that are there.
func (t *table) add(ordinal int64, row []float32) {
	t.ordinal, t.rows = append(t.ordinal, ordinal), append(t.rows, row...)
}

// find returns the place of a record.
func (t *table) find(ordinal int64) (place int, found bool) {
	return slices.BinarySearch(t.ordinal, ordinal)
}

// row returns the row at a place.
func (t *table) row(place int) []float32 { return t.rows[place*t.width : (place+1)*t.width] }

// of returns the row of a record; nil if it is not there.
func (t *table) of(ordinal int64) []float32 {
	if place, found := t.find(ordinal); found {
		return t.row(place)
	}
	return nil
}

// tableOf has the rows of those of some records that one of the tables has, and lists the others. Both are ascending.
func tableOf(width int, records map[int64]bool, from ...*table) (t table, others []int64) {
	t.width = width
	t.ordinal, t.rows = make([]int64, 0, len(records)), make([]float32, 0, len(records)*width)
	for _, ordinal := range slices.Sorted(maps.Keys(records)) {
		known := false
		for _, f := range from {
			if row := f.of(ordinal); row != nil || width == 0 {
				t.add(ordinal, row)
				known = true
				break
			}
		}
		if !known {
			others = append(others, ordinal)
		}
	}
	return t, others
}

// Fields lists the table, of rows of a width.
func (t *table) Fields(f *jobs.Fields, name string, width int) {
	t.width = width
	jobs.List(f, name+".ordinal", &t.ordinal)
	jobs.List(f, name, &t.rows, len(t.ordinal), width)
	f.Check(func() error {
		if !ascending(t.ordinal) || !jobs.Finite(t.rows) {
			return jobs.Malformed("%s: records are not in order, or have values that are not finite", name)
		}
		return nil
	})
}

// ascending reports whether each is beyond the one before it.
func ascending(list []int64) bool {
	for i := range list {
		if i > 0 && list[i] <= list[i-1] {
			return false
		}
	}
	return true
}
