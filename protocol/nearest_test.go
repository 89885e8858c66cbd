package protocol

import "testing"

func TestNearestNeverSuggestsTheWordItself(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"split", ""}, {"spilt", "split"}, {"Split", "split"}, {"k", ""}, {"K", "k"}, {"C", ""}, {"scal", "scale"},
	} {
		if got := Nearest(c.word, []string{"split", "k", "scale"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}

// The shorter a word, the nearer a candidate must be: any two words of two letters are two edits apart.
func TestNearestAllowsShortWordsFewerEdits(t *testing.T) {
	for _, c := range []struct{ word, candidate, want string }{
		{"a", "b", ""}, {"a", "ab", ""}, {"a", "A", "A"},
		{"ab", "abc", "abc"}, {"ab", "b", "b"}, {"ab", "abcd", ""}, {"ab", "cd", ""},
		{"abc", "abcde", "abcde"}, {"abc", "ade", "ade"}, {"abc", "abcdef", ""},
		{"abcdefghijkl", "abcdefghij", "abcdefghij"}, {"abcdefghijkl", "abcdefghi", ""},
	} {
		if got := Nearest(c.word, []string{c.candidate}); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
	if got := Nearest("abd", []string{"abcdd", "abc", "abe"}); got != "abc" {
		t.Errorf("of several: %q, want the first of the nearest, abc", got)
	}
}

// Levenshtein's distances, worked by hand.
func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"abc", "abc", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
