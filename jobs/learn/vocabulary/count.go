package vocabulary

import (
	"github.com/gram-compute/gram/jobs"
)

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
