package vocabulary

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// A sparse vector may stand for a text whose words were counted elsewhere: the number of a column, from 0
// and in decimal, is the term, and its value is how often it occurs.

// MaxColumns bounds the width of such vectors: tables by column are not sparse.
const MaxColumns = 1 << 20

// maxOccurrences is the last of the whole numbers that float32 holds all of.
const maxOccurrences = 1 << 24

// CheckDocuments refuses records that are neither texts nor sparse vectors of up to MaxColumns columns.
func CheckDocuments(block *dataset.Block) error {
	switch {
	case len(block.IDs) == 0 || block.Texts != nil:
		return nil
	case block.Sparse.Width == 0:
		return block.IDs[0].Fault("the record is a dense vector, neither a text nor counts of words").
			WithHint("Use an input format of texts or sparse vectors, or a kind that takes dense vectors.")
	case block.Sparse.Width > MaxColumns:
		return protocol.InputFault(protocol.CodeInputLimit,
			"counts of words come in up to %d columns, not %d", MaxColumns, block.Sparse.Width).
			In(block.IDs[0].Object).WithOffset(block.IDs[0].Offset).
			WithHint("Hash the columns into fewer.")
	}
	return nil
}

// Occurrences returns the value of a column as a count; false if it is not a whole number from 0 to 2^24.
func Occurrences(value float32) (int64, bool) {
	if !(value >= 0 && value <= maxOccurrences) {
		return 0, false
	}
	n := int64(value) //lint:checked from 0 to 2^24
	return n, float32(n) == value
}

// OccurrencesFault blames a record for the first of its values that is no count.
func OccurrencesFault(id dataset.Identity, index []int32, values []float32) error {
	for p, j := range index {
		if _, ok := Occurrences(values[p]); !ok {
			return id.Fault("column %d is %v, not a whole number from 0 to 2^24", j+1, values[p]).OfColumn(int(j) + 1).
				WithHint("Give counts, not weights such as tf-idf.")
		}
	}
	return jobs.Malformed("a record is blamed for counts that are whole")
}

// columnCounter is a Counter whose keys are columns: of each its occurrences and the documents that hold it.
type columnCounter struct{ column [][2]int64 }

// add counts the columns of record i, one document.
func (c *columnCounter) add(block *dataset.Block, i int) error {
	index, values := block.Sparse.Row(i)
	if last := len(index) - 1; last >= 0 && int(index[last]) >= len(c.column) {
		c.column = append(c.column, make([][2]int64, int(index[last])+1-len(c.column))...)
	}
	for p, j := range index {
		n, ok := Occurrences(values[p])
		if !ok {
			return OccurrencesFault(block.IDs[i], index, values)
		}
		if n > 0 {
			column := &c.column[j]
			column[0] += n
			column[1]++
		}
	}
	return nil
}

// table is that of a Counter.
func (c *columnCounter) table() Table {
	t := Table{Columns: make([][]int64, 2)}
	var key []byte
	for j, n := range c.column {
		if n[1] > 0 {
			key = strconv.AppendInt(key[:0], int64(j), 10)
			t.Keys.Append(key)
			t.Columns[0], t.Columns[1] = append(t.Columns[0], n[0]), append(t.Columns[1], n[1])
		}
	}
	return t.Sorted()
}

// Columns finds the terms of columns.
type Columns struct {
	term []int32 // of each column; -1 for none
	bag  []entry
	out  Bag
}

type entry struct {
	term  int32
	count int64
}

// Columns returns which column each term is; a dictionary of words is a fault.
func (d *Dictionary) Columns() (*Columns, error) {
	c := &Columns{}
	for i := range d.Len() {
		name := string(d.Terms.At(i))
		j, err := strconv.Atoi(name)
		if err != nil || j < 0 || j >= MaxColumns || strconv.Itoa(j) != name {
			return nil, protocol.InputFault(protocol.CodeBadRecord,
				"the records are vectors, but the terms of the dictionary are words").
				WithHint("Give texts, as in training.")
		}
		for len(c.term) <= j {
			c.term = append(c.term, -1)
		}
		c.term[j] = int32(i)
	}
	return c, nil
}

// Terms returns the number of each column's term, -1 for none; further columns have none.
func (c *Columns) Terms() []int32 { return c.term }

// Places returns the column of each of n terms.
func (c *Columns) Places(terms int) []int32 {
	places := make([]int32, terms)
	for j, term := range c.term {
		if term >= 0 {
			places[term] = int32(j)
		}
	}
	return places
}

// Bag returns the bag of record i, valid until the next call. A value that is no count is a fault.
func (c *Columns) Bag(block *dataset.Block, i int) (Bag, error) {
	index, values := block.Sparse.Row(i)
	c.bag = c.bag[:0]
	for p, j := range index {
		n, ok := Occurrences(values[p])
		if !ok {
			return Bag{}, OccurrencesFault(block.IDs[i], index, values)
		}
		if int(j) < len(c.term) && c.term[j] >= 0 && n > 0 {
			c.bag = append(c.bag, entry{c.term[j], n})
		}
	}
	// total order: a column has one entry
	slices.SortFunc(c.bag, func(a, b entry) int { return cmp.Compare(a.term, b.term) })
	c.out = Bag{Terms: c.out.Terms[:0], Counts: c.out.Counts[:0]}
	for _, e := range c.bag {
		c.out.Terms, c.out.Counts = append(c.out.Terms, e.term), append(c.out.Counts, e.count)
	}
	return c.out, nil
}
