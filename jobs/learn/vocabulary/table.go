package vocabulary

import (
	"bytes"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
)

// Table is a list of keys with integer columns beside them.
type Table struct {
	Keys    jobs.Strings
	Columns [][]int64
}

// grow makes room for some more rows, of keys of some bytes together.
func (t *Table) grow(rows, bytes int) {
	t.Keys.Bytes, t.Keys.Offsets = slices.Grow(t.Keys.Bytes, bytes), slices.Grow(t.Keys.Offsets, rows+1)
	for c := range t.Columns {
		t.Columns[c] = slices.Grow(t.Columns[c], rows)
	}
}

// appendRow adds a key with row i of the columns of another table.
func (t *Table) appendRow(key []byte, columns [][]int64, i int) {
	t.Keys.Append(key)
	for c := range t.Columns {
		t.Columns[c] = append(t.Columns[c], columns[c][i])
	}
}

// Merge adds two tables whose keys are in byte order. The sum may share their memory.
func Merge(a, b Table) Table {
	switch {
	case a.Keys.Len() == 0 && b.Keys.Len() > 0:
		return b
	case b.Keys.Len() == 0:
		return a
	}
	sum := Table{Columns: make([][]int64, len(a.Columns))}
	rows, size := max(a.Keys.Len(), b.Keys.Len()), max(len(a.Keys.Bytes), len(b.Keys.Bytes))
	sum.grow(rows+rows/8, size+size/8)
	i, j := 0, 0
	for i < a.Keys.Len() && j < b.Keys.Len() {
		order := bytes.Compare(a.Keys.At(i), b.Keys.At(j))
		if order > 0 {
			sum.appendRow(b.Keys.At(j), b.Columns, j)
			j++
			continue
		}
		sum.appendRow(a.Keys.At(i), a.Columns, i)
		i++
		if order == 0 {
			for c, column := range sum.Columns {
				column[len(column)-1] += b.Columns[c][j]
			}
			j++
		}
	}
	sum.appendRows(&a, i)
	sum.appendRows(&b, j)
	return sum
}

// appendRows adds the rows of another table from one on.
func (t *Table) appendRows(other *Table, from int) {
	for i := from; i < other.Keys.Len(); i++ {
		t.appendRow(other.Keys.At(i), other.Columns, i)
	}
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
	terms   *text.Numbering
	counted []counted // by number; a part of an n-gram that is no term itself is counted 0 times
	doc     int64     // the present document, from 1; 0 before Next
}

type counted struct {
	times, documents int64
	last             int64 // the last document that held the term
}

// NewCounter returns an empty counter.
func NewCounter() *Counter { return &Counter{terms: text.NewNumbering(0)} }

// Len is the number of keys.
func (c *Counter) Len() int { return c.terms.Len() }

// Next begins a document.
func (c *Counter) Next() { c.doc++ }

// Add counts one occurrence in the present document, and returns the key's number.
func (c *Counter) Add(key []byte) int32 {
	number := c.terms.Number(key)
	c.add(number)
	return number
}

// reset makes the counter an empty one, in the memory that it has.
func (c *Counter) reset() {
	c.terms.Reset()
	clear(c.counted)
	c.counted, c.doc = c.counted[:0], 0
}

// addAll counts terms of the present document, by number.
func (c *Counter) addAll(numbers []int32) {
	for _, i := range numbers {
		c.add(i)
	}
}

func (c *Counter) add(number int32) {
	if int(number) >= len(c.counted) {
		c.extend(c.terms.Len())
	}
	k := &c.counted[number]
	k.times++
	other := uint64(k.last ^ c.doc) // 0 in the same document
	k.documents += int64((other | -other) >> 63)
	k.last = c.doc
}

// extend makes room for the counts of some terms; there will be more.
func (c *Counter) extend(terms int) {
	if terms > cap(c.counted) {
		more := make([]counted, len(c.counted), 2*terms)
		copy(more, c.counted)
		c.counted = more
	}
	c.counted = c.counted[:terms]
}

// Table returns the keys in byte order with the columns count and documents.
func (c *Counter) Table() Table {
	t, _ := c.table()
	return t
}

// table is Table, and the numbers of the keys in that order.
func (c *Counter) table() (Table, []int32) {
	order := c.terms.Sorted(func(i int32) bool { return int(i) < len(c.counted) && c.counted[i].times > 0 })
	t := newTable(2, len(order))
	t.Keys.Bytes = make([]byte, 0, 8*len(order))
	for row, i := range order {
		t.Keys.Bytes = c.terms.Append(t.Keys.Bytes, i)
		t.Keys.Offsets = append(t.Keys.Offsets, int64(len(t.Keys.Bytes)))
		t.Columns[0][row], t.Columns[1][row] = c.counted[i].times, c.counted[i].documents
	}
	return t, order
}

// newTable returns a table of zeros without keys, which are to be appended.
func newTable(columns, rows int) Table {
	t := Table{Columns: make([][]int64, columns)}
	if rows == 0 {
		return t
	}
	t.Keys.Offsets = append(make([]int64, 0, rows+1), 0)
	for c := range t.Columns {
		t.Columns[c] = make([]int64, rows)
	}
	return t
}
