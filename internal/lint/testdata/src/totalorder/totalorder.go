package totalorder

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

type row struct {
	id    int
	score int
}

func old(rows []row) {
	sort.Slice(rows, func(i, j int) bool { return rows[i].score < rows[j].score }) // want `sort.Slice: use slices.SortFunc`
}

func silent(rows []row) {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.score, b.score) }) // want `which key makes the order total`
}

func stable(rows []row) {
	// by score
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.score, b.score) }) // want `which key makes the order total`
}

func empty(rows []row) {
	// total order:
	slices.SortFunc(rows, byBoth) // want `which key makes the order total`
}

func said(rows []row) {
	// total order: ids are unique
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.id, b.id))
	})
}

func byBoth(a, b row) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.id, b.id)) }

// byID is a total order: ids are unique.
func byID(a, b row) int { return cmp.Compare(a.id, b.id) }

func documented(rows []row) { slices.SortFunc(rows, byID) }

func instantiated(rows []row) { slices.SortFunc[[]row](rows, byBoth) } // want `which key makes the order total`

func values(words []string) {
	slices.SortFunc(words, strings.Compare)
	slices.Sort(words)
}
