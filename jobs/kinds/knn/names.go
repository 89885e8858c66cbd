package knn

import (
	"cmp"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// names are records of the base, by their ids. They travel beside lists, for the records in these alone; a neighbor is
// then its place among the names in the order of ids, so that ties go by ids.
type names struct {
	numbers []int64 // of the records
	ids     jobs.Strings
	order   []int // the places, as indices of numbers and ids; nil where those are in the order of ids
}

// Fields lists the names, which are in order.
func (n *names) Fields(f *jobs.Fields) {
	jobs.List(f, "names.numbers", &n.numbers)
	f.Strings("names.ids", &n.ids)
	f.Require(n.ids.Len() == len(n.numbers), "%d ids of %d neighbors", n.ids.Len(), len(n.numbers))
	for i, number := range n.numbers {
		f.Require(number >= 0, "a neighbor has the number %d", number)
		f.Require(i == 0 || dataset.CompareIDs(n.ids.At(i-1), n.ids.At(i)) < 0, "the ids of neighbors do not ascend")
	}
}

func (n *names) add(number int64, id []byte) {
	n.numbers = append(n.numbers, number)
	n.ids.Append(id)
}

func (n *names) index(place int) int {
	if n.order == nil {
		return place
	}
	return n.order[place]
}

func (n *names) id(place int) []byte { return n.ids.At(n.index(place)) }

// orderOf is the order of ids as indices of them; nil where they are in it.
func orderOf(ids jobs.Strings) []int {
	order, sorted := every(ids.Len()), true
	for i := 1; i < len(order) && sorted; i++ {
		sorted = dataset.CompareIDs(ids.At(i-1), ids.At(i)) <= 0
	}
	if sorted {
		return nil
	}
	slices.SortFunc(order, func(i, j int) int { // total order: indices differ
		return cmp.Or(dataset.CompareIDs(ids.At(i), ids.At(j)), cmp.Compare(i, j))
	})
	return order
}

// union are the names of two sides, and the places of each among all of them.
type union struct {
	sides  [2]*names
	places [2][]int64
}

func unite(left, right *names) *union {
	u := &union{sides: [2]*names{left, right}}
	n, m := len(left.numbers), len(right.numbers)
	u.places = [2][]int64{make([]int64, 0, n), make([]int64, 0, m)}
	for place, i, j := int64(0), 0, 0; i+j < n+m; place++ {
		if j == m || i < n && dataset.CompareIDs(left.id(i), right.id(j)) < 0 {
			u.places[0] = append(u.places[0], place)
			i++
		} else {
			u.places[1] = append(u.places[1], place)
			j++
		}
	}
	return u
}

// listed returns the names that the lists hold, and makes the neighbors in the lists places among these.
func (u *union) listed(all []*lists) *names {
	places := make([]int64, len(u.places[0])+len(u.places[1]))
	for _, l := range all {
		for _, row := range l.rows {
			for _, at := range row {
				places[at.id] = 1
			}
		}
	}
	kept := &names{}
	var next [2]int
	for place, wanted := range places {
		side := 0
		if i := next[0]; i == len(u.places[0]) || u.places[0][i] != int64(place) {
			side = 1
		}
		from := u.sides[side]
		i := from.index(next[side])
		next[side]++
		if wanted > 0 {
			places[place] = int64(len(kept.numbers))
			kept.add(from.numbers[i], from.ids.At(i))
		}
	}
	for _, l := range all {
		l.renumber(places)
	}
	return kept
}

// namesNeighbors reports whether lists name neighbors by ids. Numbers alone have no place for them.
func (p *plan) namesNeighbors() bool { return p.named && p.params.Lists != parts.NPY }

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
func (o *output) neighborColumn(neighbors []int64, of *names) parts.Column {
	c := parts.Column{Name: "neighbor", Ints: neighbors}
	switch {
	case of == nil:
	case o.namesNeighbors():
		c.Ints, c.Texts = nil, make([]string, len(neighbors))
		for i, place := range neighbors {
			c.Texts[i] = string(of.ids.At(int(place)))
		}
	default:
		c.Ints = make([]int64, len(neighbors))
		for i, place := range neighbors {
			c.Ints[i] = of.numbers[place]
		}
	}
	return c
}
