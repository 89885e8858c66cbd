package terminal

import (
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "ｱ": 1, "Ａ": 2, "한": 2,
		"\u1112\u1161\u11ab": 2, "😀": 2, "日本 x": 6} {
		if got := TextWidth(text); got != want {
			t.Errorf("TextWidth(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestShortenByColumns(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"漢字漢字", 8, "漢字漢字"}, {"漢字漢字漢", 8, "漢字..."}, {"漢字漢字漢", 9, "漢字漢..."}, {"漢字", 3, "漢"}, {"abcdef", 5, "ab..."},
		{"abcd", 3, "abc"}, {"abcd", 0, ""}, {"漢", 1, ""}, {"e\u0301e\u0301", 2, "e\u0301e\u0301"},
	} {
		if got := Shorten(c.text, c.columns); got != c.want || TextWidth(got) > c.columns {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestTableOfWideCharacters(t *testing.T) {
	var table Table
	table.Row("漢字", "x")
	table.Row("abc", "y")
	var out strings.Builder
	table.Write(&out)
	if got, want := out.String(), "漢字  x\nabc   y\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Wrap("漢字 漢字 漢字", 9), "漢字 漢字\n  漢字"; got != want {
		t.Errorf("wrapped %q, want %q", got, want)
	}
}
