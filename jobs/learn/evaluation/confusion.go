package evaluation

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/gram-compute/gram/jobs"
)

// rejected stands in the place of a predicted label's number.
const rejected = -1

// Confusion counts records by true label and decision.
type Confusion struct {
	counts map[decision]int64
}

// decision is what was decided about a record of a true label.
type decision struct {
	truth     string
	predicted string // empty when rejected
	rejected  bool
}

// NewConfusion returns an empty matrix.
func NewConfusion() *Confusion { return &Confusion{counts: map[decision]int64{}} }

// Add counts one record that was given the label predicted.
func (c *Confusion) Add(truth, predicted string) {
	c.counts[decision{truth: truth, predicted: predicted}]++
}

// AddRejected counts one record that was given none.
func (c *Confusion) AddRejected(truth string) { c.counts[decision{truth: truth, rejected: true}]++ }

// Cell is an entry of the matrix: Count records of label Truth were given label
// Predicted. The labels are numbers; a Predicted of -1 means rejected.
type Cell struct {
	Truth, Predicted int32
	Count            int64
}

// Cells returns the labels met, in byte order, and the entries above 0 by truth, then prediction.
func (c *Confusion) Cells() (labels []string, cells []Cell) {
	seen := map[string]bool{}
	for d := range c.counts { //lint:ordered a set
		seen[d.truth] = true
		if !d.rejected {
			seen[d.predicted] = true
		}
	}
	labels = slices.Sorted(maps.Keys(seen))
	number := func(label string) int32 { return int32(sort.SearchStrings(labels, label)) }
	for d, n := range c.counts { //lint:ordered sorted below
		cell := Cell{Truth: number(d.truth), Predicted: rejected, Count: n}
		if !d.rejected {
			cell.Predicted = number(d.predicted)
		}
		cells = append(cells, cell)
	}
	// total order: no pair of labels stands there twice
	slices.SortFunc(cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Truth, b.Truth), cmp.Compare(a.Predicted, b.Predicted))
	})
	return labels, cells
}

// Fields lists the matrix.
func (c *Confusion) Fields(f *jobs.Fields) {
	list, cells := c.Cells()
	labels := jobs.StringsOf(list...)
	truth, predicted, count := make([]int32, len(cells)), make([]int32, len(cells)), make([]int64, len(cells))
	for i, cell := range cells {
		truth[i], predicted[i], count[i] = cell.Truth, cell.Predicted, cell.Count
	}
	f.Strings("labels", &labels)
	jobs.List(f, "cells.truth", &truth)
	jobs.List(f, "cells.predicted", &predicted, len(truth))
	jobs.List(f, "cells.count", &count, len(truth))
	f.Check(func() error {
		c.counts = make(map[decision]int64, len(truth))
		for i := range truth {
			if err := c.read(labels, truth[i], predicted[i], count[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *Confusion) read(labels jobs.Strings, truth, predicted int32, count int64) error {
	if !inRange(truth, 0, labels.Len()) || !inRange(predicted, rejected, labels.Len()) || count < 1 {
		return jobs.Malformed("a cell of a confusion matrix of %d labels is (%d, %d): %d", labels.Len(), truth,
			predicted, count)
	}
	d := decision{truth: string(labels.At(int(truth))), rejected: predicted == rejected}
	if !d.rejected {
		d.predicted = string(labels.At(int(predicted)))
	}
	c.counts[d] += count
	return nil
}

func inRange(i int32, low, end int) bool { return int(i) >= low && int(i) < end }

// Merge adds another matrix.
func (c *Confusion) Merge(other *Confusion) {
	for d, n := range other.counts { //lint:ordered sums of integers
		c.counts[d] += n
	}
}

// Matrix is a confusion matrix as a metric: each cell is [truth, predicted, records],
// labels by number, a predicted of -1 for rejected.
type Matrix struct {
	Labels []string   `json:"labels"`
	Cells  [][3]int64 `json:"cells"`
}

// Matrix returns the metric.
func (c *Confusion) Matrix() Matrix {
	labels, cells := c.Cells()
	m := Matrix{Labels: labels, Cells: make([][3]int64, len(cells))}
	for i, cell := range cells {
		m.Cells[i] = [3]int64{int64(cell.Truth), int64(cell.Predicted), cell.Count}
	}
	return m
}
