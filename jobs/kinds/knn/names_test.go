package knn

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// Names follow the records that are in lists: of two halves of a base, and of what is dropped when these are merged.
func TestNamesByHand(t *testing.T) {
	side := func(first int64, ids ...string) *names {
		n := &names{}
		for i, id := range ids {
			n.add(first+int64(i), []byte(id))
		}
		return n
	}
	left, right := side(3, "c", "d", "e"), side(6, "f", "g")
	found := &lists{rows: [][]neighbor{{{id: 7}, {id: 4}}, {}, {{id: 4}, {id: 3}}}}
	got := left.listed(right, found)
	if !slices.Equal(got.numbers, []int64{3, 4, 7}) || !slices.Equal(got.ids.List(), []string{"c", "d", "g"}) {
		t.Errorf("numbers %v, ids %q", got.numbers, got.ids.List())
	}
	read, err := jobs.Read(jobs.ArraysOf(got), &names{})
	if err != nil || !slices.Equal(read.numbers, got.numbers) {
		t.Errorf("read back: %v, %v", read, err)
	}
	if id, err := read.of(7); err != nil || id != "g" {
		t.Errorf("record 7 is %q, %v", id, err)
	}
	if _, err := read.of(5); err == nil {
		t.Error("record 5 has an id")
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"order": func(a jobs.Arrays) { jobs.Put(a, "names.numbers", []int64{3, 7, 4}) },
		"fewer": func(a jobs.Arrays) { jobs.Put(a, "names.numbers", []int64{3}) },
		"none":  func(a jobs.Arrays) { delete(a, "names.numbers") },
	} {
		a := jobs.ArraysOf(got)
		spoil(a)
		if _, err := jobs.Read(a, &names{}); err == nil {
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
