package naivebayes

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
)

// leafCounts are the counts of one leaf.
type leafCounts struct {
	dictionary *vocabulary.Dictionary
	bagger     *vocabulary.Bagger
	class      map[string]int64
	records    int64
	documents  []int64  // of each class
	words      *tally   // nil before the first text
	columns    *tally   // nil before the first vector
	places     []int32  // the column of each term
	once       bool     // a term counts once a document
	unknown    *unknown // nil where records have no missing counts
	gone       *tally   // missing counts; nil before the first
}

func newLeafCounts(labels jobs.Strings, tokenizer *text.Tokenizer, dictionary *vocabulary.Dictionary) *leafCounts {
	return &leafCounts{dictionary: dictionary, bagger: vocabulary.NewBagger(tokenizer, dictionary),
		class: classNumbers(labels), documents: make([]int64, labels.Len())}
}

// classNumbers are the numbers of labels.
func classNumbers(labels jobs.Strings) map[string]int64 {
	class := make(map[string]int64, labels.Len())
	for y := range labels.Len() {
		class[string(labels.At(y))] = int64(y)
	}
	return class
}

// add counts one training document.
func (c *leafCounts) add(block *dataset.Block, i int) error {
	y, ok := c.class[string(block.Labels[i])]
	if !ok {
		return jobs.Malformed("a training record has the label %q, which the first phase did not see", block.Labels[i])
	}
	c.documents[y]++
	if block.Texts == nil {
		return c.addVector(y, block, i)
	}
	if c.words == nil {
		c.words = newTally(c.dictionary.Len(), len(c.documents))
	}
	if c.once {
		for _, term := range c.bagger.BagIn(block, i).Terms {
			c.words.add(y, term, 1)
		}
		return nil
	}
	c.words.addTerms(y, c.bagger.FoundIn(block, i))
	return nil
}

// addVector counts a document whose words were counted before.
func (c *leafCounts) addVector(y int64, block *dataset.Block, i int) error {
	if c.columns == nil {
		columns, err := c.dictionary.Columns()
		if err != nil {
			return err
		}
		c.places = columns.Places(c.dictionary.Len())
		c.columns = newColumnTally(len(columns.Terms()), len(c.documents))
		if c.unknown != nil {
			c.gone = newTally(len(columns.Terms()), len(c.documents))
		}
	}
	index, values := block.Sparse.Row(i)
	if c.once {
		values = present(values)
	}
	if !c.columns.addVector(y, index, values) {
		return vocabulary.OccurrencesFault(block.IDs[i], index, values)
	}
	return nil
}

// present has a 1 for each count above 0; what is no count stays as it is.
func present(values []float32) []float32 {
	ones := slices.Clone(values)
	for p, value := range ones {
		if n, ok := vocabulary.Occurrences(value); ok {
			ones[p] = float32(min(n, 1))
		}
	}
	return ones
}

// close ends the tallies.
func (c *leafCounts) close() {
	c.words.close()
	c.columns.close()
	c.gone.close()
}

// partial ends the leaf.
func (c *leafCounts) partial() *partialCounts {
	defer c.close()
	sum := cells{}
	if c.words != nil {
		sum = c.words.cells(nil)
	}
	if c.columns != nil {
		columns := c.columns.cells(c.places)
		if c.words != nil {
			columns = sum.plus(columns)
		}
		sum = columns
	}
	if c.unknown != nil && c.gone != nil {
		c.unknown.cells = c.gone.cells(c.places)
	}
	return &partialCounts{c.records, c.documents, sum, c.unknown}
}

// cells is a sparse matrix of counts: entry i stands at cell at[i] = term*classes+class,
// cells ascending, counts above 0.
type cells struct {
	at    []int64
	count []int64
}

// sortedCells orders the counts of a leaf.
func sortedCells(counts map[int64]int64) cells {
	c := cells{at: slices.Sorted(maps.Keys(counts)), count: make([]int64, len(counts))}
	for i, at := range c.at {
		c.count[i] = counts[at]
	}
	return c
}

// plus adds two matrices: linear in their entries.
func (c cells) plus(d cells) cells {
	sum := cells{make([]int64, 0, len(c.at)+len(d.at)), make([]int64, 0, len(c.at)+len(d.at))}
	i, j := 0, 0
	for i < len(c.at) || j < len(d.at) {
		switch {
		case j == len(d.at) || i < len(c.at) && c.at[i] < d.at[j]:
			sum.add(c.at[i], c.count[i])
			i++
		case i == len(c.at) || d.at[j] < c.at[i]:
			sum.add(d.at[j], d.count[j])
			j++
		default:
			sum.add(c.at[i], c.count[i]+d.count[j])
			i++
			j++
		}
	}
	return sum
}

func (c *cells) add(at, count int64) {
	c.at, c.count = append(c.at, at), append(c.count, count)
}

// Fields lists the cells, which must ascend.
func (c *cells) Fields(f *jobs.Fields) { c.fields(f, "cells") }

// fields lists them by a name.
func (c *cells) fields(f *jobs.Fields, name string) {
	jobs.List(f, name+".at", &c.at)
	jobs.List(f, name+".count", &c.count, len(c.at))
	f.Check(func() error {
		for i := range c.at {
			if i > 0 && c.at[i] <= c.at[i-1] {
				return jobs.Malformed("array %q does not ascend at %d", name+".at", i)
			}
		}
		return nil
	})
}

// within refuses counts outside of a matrix of terms and classes.
func (c cells) within(terms, classes int) error {
	if n := len(c.at); n > 0 && (c.at[0] < 0 || c.at[n-1] >= int64(terms)*int64(classes)) {
		return jobs.Malformed("a count lies outside of %d terms and %d classes", terms, classes)
	}
	return nil
}
