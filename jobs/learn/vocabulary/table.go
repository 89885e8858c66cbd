package vocabulary

import (
	"bytes"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// Table is a list of keys with integer columns beside them.
type Table struct {
	Keys    jobs.Strings
	Columns [][]int64
}

// appendRow adds a key with row i of the columns of another table.
func (t *Table) appendRow(key []byte, columns [][]int64, i int) {
	t.Keys.Append(key)
	for c := range t.Columns {
		t.Columns[c] = append(t.Columns[c], columns[c][i])
	}
}

// Merge adds two tables whose keys are in byte order.
func Merge(a, b Table) Table {
	sum := Table{Columns: make([][]int64, len(a.Columns))}
	i, j := 0, 0
	for i < a.Keys.Len() && j < b.Keys.Len() {
		switch order := bytes.Compare(a.Keys.At(i), b.Keys.At(j)); {
		case order < 0:
			sum.appendRow(a.Keys.At(i), a.Columns, i)
			i++
		case order > 0:
			sum.appendRow(b.Keys.At(j), b.Columns, j)
			j++
		default:
			sum.appendRow(a.Keys.At(i), a.Columns, i)
			for c := range sum.Columns {
				sum.Columns[c][sum.Keys.Len()-1] += b.Columns[c][j]
			}
			i++
			j++
		}
	}
	for ; i < a.Keys.Len(); i++ {
		sum.appendRow(a.Keys.At(i), a.Columns, i)
	}
	for ; j < b.Keys.Len(); j++ {
		sum.appendRow(b.Keys.At(j), b.Columns, j)
	}
	return sum
}

// pick returns the rows of the given numbers in their order.
func (t Table) pick(rows []int32) Table {
	picked := Table{Columns: make([][]int64, len(t.Columns))}
	for _, i := range rows {
		picked.appendRow(t.Keys.At(int(i)), t.Columns, int(i))
	}
	return picked
}

// Sorted returns the rows in byte order of their keys, which are distinct.
func (t Table) Sorted() Table {
	rows := make([]int32, t.Keys.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	// total order: keys are distinct
	slices.SortFunc(rows, func(i, j int32) int { return bytes.Compare(t.Keys.At(int(i)), t.Keys.At(int(j))) })
	return t.pick(rows)
}

// TableFields lists a table: its keys, which must be in byte order, and one array for each named column.
func TableFields(f *jobs.Fields, name string, t *Table, columns ...string) {
	f.Strings(name, &t.Keys)
	if f.Reading() {
		f.Require(t.Keys.StrictlyAscending(), "the strings %q are not in byte order", name)
		t.Columns = make([][]int64, len(columns))
	}
	for c, column := range columns {
		jobs.List(f, name+"."+column, &t.Columns[c], t.Keys.Len())
	}
}

// Counter counts terms and the documents that hold them.
type Counter struct {
	number map[string]int32 // of each key, in order of appearance
	keys   jobs.Strings
	count  []int64
	inDocs []int64
	last   []int64 // the last document that held the term
	doc    int64   // the present document, from 1; 0 before Next
}

// NewCounter returns an empty counter.
func NewCounter() *Counter { return &Counter{number: map[string]int32{}} }

// Len is the number of keys.
func (c *Counter) Len() int { return len(c.count) }

// Next begins a document.
func (c *Counter) Next() { c.doc++ }

// Add counts one occurrence in the present document.
func (c *Counter) Add(key []byte) {
	i, ok := c.number[string(key)]
	if !ok {
		i = int32(len(c.count))
		c.number[string(key)] = i
		c.keys.Append(key)
		c.count, c.inDocs, c.last = append(c.count, 0), append(c.inDocs, 0), append(c.last, 0)
	}
	c.count[i]++
	if c.last[i] != c.doc {
		c.last[i] = c.doc
		c.inDocs[i]++
	}
}

// Table returns the keys in byte order with the columns count and documents.
func (c *Counter) Table() Table {
	return Table{Keys: c.keys, Columns: [][]int64{c.count, c.inDocs}}.Sorted()
}
