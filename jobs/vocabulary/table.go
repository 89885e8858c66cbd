package vocabulary

import (
	"bytes"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// table is a list of keys with integer columns beside them.
type table struct {
	keys    jobs.Strings
	columns [][]int64
}

// appendRow adds a key with row i of the columns of another table.
func (t *table) appendRow(key []byte, columns [][]int64, i int) {
	t.keys.Append(key)
	for c := range t.columns {
		t.columns[c] = append(t.columns[c], columns[c][i])
	}
}

// merge adds two tables whose keys are in byte order.
func merge(a, b table) table {
	sum := table{columns: make([][]int64, len(a.columns))}
	i, j := 0, 0
	for i < a.keys.Len() && j < b.keys.Len() {
		switch order := bytes.Compare(a.keys.At(i), b.keys.At(j)); {
		case order < 0:
			sum.appendRow(a.keys.At(i), a.columns, i)
			i++
		case order > 0:
			sum.appendRow(b.keys.At(j), b.columns, j)
			j++
		default:
			sum.appendRow(a.keys.At(i), a.columns, i)
			for c := range sum.columns {
				sum.columns[c][sum.keys.Len()-1] += b.columns[c][j]
			}
			i++
			j++
		}
	}
	for ; i < a.keys.Len(); i++ {
		sum.appendRow(a.keys.At(i), a.columns, i)
	}
	for ; j < b.keys.Len(); j++ {
		sum.appendRow(b.keys.At(j), b.columns, j)
	}
	return sum
}

// pick returns the rows of the given numbers in their order.
func (t table) pick(rows []int32) table {
	picked := table{columns: make([][]int64, len(t.columns))}
	for _, i := range rows {
		picked.appendRow(t.keys.At(int(i)), t.columns, int(i))
	}
	return picked
}

// sorted returns the rows in byte order of their keys.
func (t table) sorted() table {
	rows := make([]int32, t.keys.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	// total order: keys are distinct
	slices.SortFunc(rows, func(i, j int32) int { return bytes.Compare(t.keys.At(int(i)), t.keys.At(int(j))) })
	return t.pick(rows)
}

// put stores the table as a list of strings and one array for each named column.
func (t table) put(a jobs.Arrays, name string, columns ...string) {
	a.PutStrings(name, t.keys)
	for c, column := range columns {
		jobs.Put(a, name+"."+column, t.columns[c])
	}
}

// getTable reads what put stored; its keys must be in byte order.
func getTable(a jobs.Arrays, name string, columns ...string) (table, error) {
	keys, err := a.Strings(name)
	if err != nil {
		return table{}, err
	}
	if !keys.StrictlyAscending() {
		return table{}, jobs.Malformed("the strings %q are not in byte order", name)
	}
	t := table{keys: keys}
	for _, column := range columns {
		values, err := jobs.Get[int64](a, name+"."+column, keys.Len())
		if err != nil {
			return table{}, err
		}
		t.columns = append(t.columns, values)
	}
	return t, nil
}
