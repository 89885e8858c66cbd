package naivebayes

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// cells is a sparse matrix of counts: entry i stands at cell at[i] = term*classes+class,
// cells ascending, counts above 0.
type cells struct {
	at    []int64
	count []int64
}

const cellsAt = "cells.at"

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
func (c *cells) Fields(f *jobs.Fields) {
	jobs.List(f, cellsAt, &c.at)
	jobs.List(f, "cells.count", &c.count, len(c.at))
	f.Check(func() error {
		for i := range c.at {
			if i > 0 && c.at[i] <= c.at[i-1] {
				return jobs.Malformed("array %q does not ascend at %d", cellsAt, i)
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
