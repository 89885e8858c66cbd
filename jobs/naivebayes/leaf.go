package naivebayes

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/vocabulary"
)

// leafCounts are the counts of one leaf.
type leafCounts struct {
	dictionary *vocabulary.Dictionary
	bagger     *vocabulary.Bagger
	class      map[string]int64
	kept       []int // training records of the block
	records    int64
	documents  []int64 // of each class
	words      *tally  // nil before the first text
	columns    *tally  // nil before the first vector
	places     []int32 // the column of each term
	ofClass    [][]int // records of the block in each class
}

func newLeafCounts(labels jobs.Strings, tokenizer *text.Tokenizer, dictionary *vocabulary.Dictionary) *leafCounts {
	c := &leafCounts{dictionary: dictionary, bagger: vocabulary.NewBagger(tokenizer, dictionary),
		class: make(map[string]int64, labels.Len()), documents: make([]int64, labels.Len()), ofClass: make([][]int, labels.Len())}
	for y := range labels.Len() {
		c.class[string(labels.At(y))] = int64(y)
	}
	return c
}

// keep notes the training records of a block.
func (c *leafCounts) keep(block *dataset.Block, train func(dataset.Identity) bool) {
	c.kept = c.kept[:0]
	for i, id := range block.IDs {
		if train(id) {
			c.kept = append(c.kept, i)
		}
	}
	c.records += int64(len(block.IDs))
}

// add counts the documents of a block.
func (c *leafCounts) add(block *dataset.Block) error {
	for y := range c.ofClass {
		c.ofClass[y] = c.ofClass[y][:0]
	}
	for _, i := range c.kept {
		y, ok := c.class[string(block.Labels[i])]
		if !ok {
			return jobs.Malformed("a training record has the label %q, which the first phase did not see", block.Labels[i])
		}
		c.documents[y]++
		c.ofClass[y] = append(c.ofClass[y], i)
	}
	if len(c.kept) == 0 {
		return nil
	}
	if block.Texts == nil {
		return c.addVectors(block)
	}
	c.addTexts(block)
	return nil
}

func (c *leafCounts) addTexts(block *dataset.Block) {
	if c.words == nil {
		c.words = newTally(c.dictionary.Len(), len(c.documents))
	}
	for y, documents := range c.ofClass {
		for _, i := range documents {
			for _, term := range c.bagger.Found(block.Texts[i]) {
				c.words.add(int64(y), term, 1)
			}
		}
	}
}

// addVectors counts documents whose words were counted before, class by class: the counts of
// one class are small enough to stay in the cache.
func (c *leafCounts) addVectors(block *dataset.Block) error {
	if c.columns == nil {
		columns, err := c.dictionary.Columns()
		if err != nil {
			return err
		}
		c.places = columns.Places(c.dictionary.Len())
		c.columns = newTally(len(columns.Terms()), len(c.documents))
	}
	for y, documents := range c.ofClass {
		for _, i := range documents {
			index, values := block.Sparse.Row(i)
			if total, ok := occurrences(values); ok && addRow(c.columns.row(int64(y), total), index, values) {
				continue
			}
			if err := c.addSlowly(int64(y), block, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// occurrences adds the values of a vector up; false if one is no count or they are too many for a row of a tally.
func occurrences(values []float32) (total int64, ok bool) {
	for _, v := range values {
		n, ok := vocabulary.Occurrences(v)
		if !ok {
			return 0, false
		}
		total += n
	}
	return total, total <= math.MaxUint32
}

// addRow adds the counts of a vector; false where there is no row, or a column lies beyond those of the dictionary.
func addRow(row []uint32, index []int32, values []float32) bool {
	if n := len(index); n > 0 && int(index[n-1]) >= len(row) {
		return false
	}
	values = values[:len(index)]
	for p, j := range index {
		row[j] += uint32(values[p]) //lint:checked a count, see occurrences
	}
	return true
}

// addSlowly is the same for any vector.
func (c *leafCounts) addSlowly(y int64, block *dataset.Block, i int) error {
	index, values := block.Sparse.Row(i)
	for p, j := range index {
		n, ok := vocabulary.Occurrences(values[p])
		if !ok {
			return vocabulary.OccurrencesFault(block.IDs[i], index, values)
		}
		if n > 0 && int(j) < c.columns.places {
			c.columns.add(y, j, n)
		}
	}
	return nil
}

func (c *leafCounts) partial() jobs.Arrays {
	sum := cells{}
	if c.words != nil {
		sum = c.words.cells(nil)
	}
	if c.columns != nil {
		sum = sum.plus(c.columns.cells(c.places))
	}
	return partialCounts{c.records, c.documents, sum}.arrays()
}
