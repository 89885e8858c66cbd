package dataset

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A similar name is suggested if it has at most 100 bytes and is among the first 1000 columns.
func TestSuggestByHand(t *testing.T) {
	header := func(name string, before int) [][]byte {
		names := make([][]byte, before, before+1)
		for i := range names {
			names[i] = []byte("other")
		}
		return append(names, []byte(name))
	}
	for _, c := range []struct {
		name  string
		names [][]byte
		want  bool
	}{
		{"label", header("lable", 0), true},
		{"label", header("lable", 999), true},
		{"label", header("lable", 1000), false},
		{strings.Repeat("x", 99) + "y", header(strings.Repeat("x", 100), 0), true},
		{strings.Repeat("x", 100) + "y", header(strings.Repeat("x", 101), 0), false},
	} {
		_, err := columnOf(protocol.Column{Name: c.name}, c.names)
		if err == nil || strings.Contains(err.Error(), "did you mean") != c.want {
			t.Errorf("%d names, %q wanted: %v; a suggestion: %v", len(c.names), c.name, err, c.want)
		}
	}
}

// Where no name is near, the first eight are shown.
func TestNamesAreShown(t *testing.T) {
	for header, names := range map[string]string{
		"a b":                    `; the names are ["a" "b"]`,
		"a b c d e f g h":        `; the names are ["a" "b" "c" "d" "e" "f" "g" "h"]`,
		"a b c d e f g h i":      `; the first of 9 names are ["a" "b" "c" "d" "e" "f" "g" "h"]`,
		strings.Repeat("x", 101): "",
	} {
		_, err := columnOf(protocol.Column{Name: "class"}, bytes.Fields([]byte(header)))
		if want := `the header has no column "class"` + names; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", header, err, want)
		}
	}
}

// A column without a name is found by its number, from 1; 0 means no column.
func TestColumnByNumber(t *testing.T) {
	for number, want := range map[int]int{0: -1, 1: 0, 7: 6} {
		if i, err := columnOf(protocol.Column{Number: number}, nil); i != want || err != nil {
			t.Errorf("column %d: %d, %v; want %d", number, i, err, want)
		}
	}
}
