package terminal

import "testing"

func TestWrap(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"one two\n", "one two\n"},
		{"one two three four\n", "one two\n  three\n  four\n"},
		{"  one two three", "  one two\n    three"},
		{"a  label   two", "a  label\n  two"},
		{"ééééé ééééé", "ééééé\n  ééééé"},
		{"onlyoneverylongword", "onlyoneverylongword"},
		{"averylongword two", "averylongword\n  two"},
		{"aa averylongword\n\nb", "aa\n  averylongword\n\nb"},
		{"           x", "           x"},
	} {
		if got := Wrap(c.in, 9); got != c.want {
			t.Errorf("Wrap(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
