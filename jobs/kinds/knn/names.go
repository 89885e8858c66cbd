package knn

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// names are the ids of records of the base, by their numbers, which ascend. They travel beside lists, for the records
// in these alone.
type names struct {
	numbers []int64
	ids     jobs.Strings
}

// Fields lists the names.
func (n *names) Fields(f *jobs.Fields) {
	jobs.List(f, "names.numbers", &n.numbers)
	f.Strings("names.ids", &n.ids)
	f.Require(n.ids.Len() == len(n.numbers), "%d ids of %d neighbors", n.ids.Len(), len(n.numbers))
	for i := 1; i < len(n.numbers); i++ {
		f.Require(n.numbers[i-1] < n.numbers[i], "the numbers of neighbors do not ascend")
	}
}

func (n *names) add(number int64, id []byte) {
	n.numbers = append(n.numbers, number)
	n.ids.Append(id)
}

// of returns the id of a record.
func (n *names) of(number int64) (string, error) {
	i, ok := slices.BinarySearch(n.numbers, number)
	if !ok {
		return "", jobs.Malformed("the neighbor %d has no id", number)
	}
	return string(n.ids.At(i)), nil
}

// listed are those of both that lists hold; right has greater numbers.
func (n *names) listed(right *names, found *lists) *names {
	var wanted []int64
	for _, row := range found.rows {
		for _, at := range row {
			wanted = append(wanted, at.id)
		}
	}
	slices.Sort(wanted)
	kept := &names{}
	for _, number := range slices.Compact(wanted) {
		for _, side := range []*names{n, right} {
			if i, ok := slices.BinarySearch(side.numbers, number); ok {
				kept.add(number, side.ids.At(i))
				break
			}
		}
	}
	return kept
}

// namesNeighbors reports whether lists name neighbors by ids. Neither counts nor numbers alone have a place for them.
func (p *plan) namesNeighbors() bool {
	return p.named && !p.params.Counts && p.params.Lists != listsNone && p.params.Lists != parts.NPY
}

// queryColumn names some queries of a tree, or all: by their ids where they have any and the format holds texts, else
// by their numbers.
func (o *output) queryColumn(t pairwise.Tree, of []int) parts.Column {
	if t.Names != nil && o.params.Lists != parts.NPY {
		return parts.Column{Name: "query", Texts: picked(t.Names, of)}
	}
	return parts.Column{Name: "query", Ints: picked(t.Queries, of)}
}

func picked[T any](all []T, of []int) []T {
	some := make([]T, len(of))
	for i, at := range of {
		some[i] = all[at]
	}
	return some
}

// every returns the numbers below n.
func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// neighborColumn names neighbors as queryColumn does queries.
func (o *output) neighborColumn(numbers []int64, ids *names) (parts.Column, error) {
	if ids == nil {
		return parts.Column{Name: "neighbor", Ints: numbers}, nil
	}
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		var err error
		if texts[i], err = ids.of(number); err != nil {
			return parts.Column{}, err
		}
	}
	return parts.Column{Name: "neighbor", Texts: texts}, nil
}
