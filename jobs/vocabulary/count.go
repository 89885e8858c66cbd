package vocabulary

import (
	"github.com/gram-compute/gram/jobs"
)

// counter counts terms and the documents that hold them.
type counter struct {
	number map[string]int32 // of each key, in order of appearance
	keys   jobs.Strings
	count  []int64
	inDocs []int64
	last   []int64 // the last document that held the term
	doc    int64   // the present document, from 1
}

func newCounter() *counter { return &counter{number: map[string]int32{}} }

// add counts one occurrence in the present document.
func (c *counter) add(key []byte) {
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

// table returns the keys in byte order with the columns count and documents.
func (c *counter) table() table {
	return table{keys: c.keys, columns: [][]int64{c.count, c.inDocs}}.sorted()
}
