package knn

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// levenshtein is the whole table of Wagner and Fischer.
func levenshtein(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		table[i][0] = i
		for j := range table[i] {
			switch {
			case i == 0:
				table[i][j] = j
			case j > 0 && a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			case j > 0:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
		}
	}
	return table[len(a)][len(b)]
}

func TestEditDistanceByHand(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"saturday", "sunday", 3}, {"flaw", "lawn", 2},
		{"äöü", "aou", 3}, {"日本語", "日本", 1}, {"ab", "ba", 2}, {"\xff", "\ufffd", 0}, {"aaaa", "aa", 2},
	} {
		var e editor
		if got := e.distance([]rune(c.a), []rune(c.b), 100); got != c.want {
			t.Errorf("%q, %q: %d, not %d", c.a, c.b, got, c.want)
		}
	}
}

func TestEditDistanceIsTheTable(t *testing.T) {
	text := rapid.SliceOfN(rapid.SampledFrom([]rune("aab语")), 0, 14)
	var e editor // kept, so that what a call leaves behind would show
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := levenshtein(a, b)
		limit := max(0, want+rapid.IntRange(-2, 3).Draw(t, "beyond")) // at the edge of the band
		if got := e.distance(a, b, limit); want <= limit && got != want || want > limit && got <= limit {
			t.Fatalf("%d within %d, not %d", got, limit, want)
		}
	})
}

func TestEditDistanceIsAMetric(t *testing.T) {
	text := rapid.SliceOfN(rapid.RuneFrom([]rune("abc")), 0, 10)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		var e editor
		d := func(x, y []rune) int { return e.distance(x, y, 1000) }
		switch {
		case d(a, b) != d(b, a):
			t.Fatal("not symmetric")
		case (d(a, b) == 0) != (string(a) == string(b)):
			t.Fatal("0 of different texts, or not 0 of equal ones")
		case d(a, c) > d(a, b)+d(b, c):
			t.Fatal("longer than the way round")
		}
	})
}

// Words by their spelling: the nearest of each, then a vote, then prediction by the model.
func TestEditByHand(t *testing.T) {
	base := []jobstest.Record{{Label: "en", Text: "house"}, {Label: "de", Text: "haus"}, {Label: "en", Text: "mouse"},
		{Label: "de", Text: "maus"}}
	queries := []jobstest.Record{{Label: "de", Text: "hausen"}, {Label: "en", Text: "mousey"}}
	r := job{params: `{"metric":"edit","k":2,"mode":"classify","lists":"csv"}`, base: base, queries: queries,
		shards: 2}.mustRun(t)
	wantLines(t, joined(t, r, listsFolder), "0,0,0,2,en", "0,1,1,2,de", "1,0,2,1,en", "1,1,0,2,en")
	wantLines(t, joined(t, r, predictionsFolder), "0,de,0.5", "1,en,1")
	r = job{params: `{"metric":"edit","radius":2}`, base: base, queries: queries, shards: 4}.mustRun(t)
	wantLines(t, joined(t, r, listsFolder), "0,0,0,2", "0,1,1,2", "1,0,2,1", "1,1,0,2")
}
