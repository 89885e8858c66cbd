package knn

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// Of two halves of a base the names unite in the order of ids, and those that no list holds any more are dropped.
func TestNamesByHand(t *testing.T) {
	left, right := &names{}, &names{order: []int{2, 0, 1}}
	for i, id := range []string{"c", "e", "dd"} {
		left.add(int64(i+3), []byte(id))
	}
	for i, id := range []string{"d", "g", "b"} {
		right.add(int64(i+6), []byte(id))
	}
	all := unite(left, right) // b, c, d, e, g, dd
	if !slices.Equal(all.places[0], []int64{1, 3, 5}) || !slices.Equal(all.places[1], []int64{0, 2, 4}) {
		t.Errorf("places %v", all.places)
	}
	found, exact := &lists{rows: [][]neighbor{{{id: 4}, {id: 2}}, {}}}, &lists{rows: [][]neighbor{{{id: 5}, {id: 4}}}}
	got := all.listed([]*lists{found, exact})
	if !slices.Equal(got.numbers, []int64{6, 7, 5}) || !slices.Equal(got.ids.List(), []string{"d", "g", "dd"}) {
		t.Errorf("numbers %v, ids %q", got.numbers, got.ids.List())
	}
	if fmt.Sprint(found.rows, exact.rows) != "[[{0 1 0} {0 0 0}] []] [[{0 2 0} {0 1 0}]]" {
		t.Errorf("lists %v and %v", found.rows, exact.rows)
	}
}

// A partial whose neighbors have no names, or whose names are in no order, is refused.
func TestHostileNames(t *testing.T) {
	p := &plan{params: Params{K: new(int)}, named: true}
	whole := p.newPartial()
	whole.found.rows = [][]neighbor{{{id: 1}, {id: 0}}}
	whole.names.add(9, []byte("z"))
	whole.names.add(4, []byte("aa"))
	read, err := jobs.Read(jobs.ArraysOf(whole), p.newPartial())
	if err != nil || !slices.Equal(read.names.numbers, []int64{9, 4}) || read.found.rows[0][0].id != 1 {
		t.Errorf("read back: %v, %v", read, err)
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"order":     func(a jobs.Arrays) { a.PutStrings("names.ids", jobs.StringsOf("aa", "z")) },
		"twice":     func(a jobs.Arrays) { a.PutStrings("names.ids", jobs.StringsOf("z", "z")) },
		"fewer":     func(a jobs.Arrays) { jobs.Put(a, "names.numbers", []int64{3}) },
		"none":      func(a jobs.Arrays) { delete(a, "names.numbers") },
		"below 0":   func(a jobs.Arrays) { jobs.Put(a, "names.numbers", []int64{3, -1}) },
		"no name":   func(a jobs.Arrays) { jobs.Put(a, "found.id", []int64{2, 0}) },
		"no record": func(a jobs.Arrays) { jobs.Put(a, "found.id", []int64{-1, 0}) },
	} {
		a := jobs.ArraysOf(whole)
		spoil(a)
		if _, err := jobs.Read(a, p.newPartial()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Queries are named by ids where they have any and the format holds texts.
func TestQueryColumn(t *testing.T) {
	tree := pairwise.Tree{Queries: []int64{5, 6, 7}, Names: []string{"q", "r", "s"}}
	for _, c := range []struct {
		lists string
		tree  pairwise.Tree
		want  parts.Column
	}{
		{parts.CSV, tree, parts.Column{Name: "query", Texts: []string{"s", "q"}}},
		{parts.NPY, tree, parts.Column{Name: "query", Ints: []int64{7, 5}}},
		{parts.CSV, pairwise.Tree{Queries: tree.Queries}, parts.Column{Name: "query", Ints: []int64{7, 5}}},
	} {
		got := (&output{plan: &plan{params: Params{Lists: c.lists}}}).queryColumn(c.tree, []int{2, 0})
		if got.Name != c.want.Name || !slices.Equal(got.Texts, c.want.Texts) || !slices.Equal(got.Ints, c.want.Ints) {
			t.Errorf("%s: %+v, want %+v", c.lists, got, c.want)
		}
	}
}
