package lint_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

// Tics and British spellings are found in documents and in Go; the change log, data and results stay as they are.
func TestWords(t *testing.T) {
	line := func(path, text string) *lint.File {
		return &lint.File{Path: path, Text: []byte("# Title\n\n" + text + "\n")}
	}
	for text, want := range map[string]string{
		"A reader is held against the oracle.": "held against",
		"There are so many of them.":           "so many",
		"Whoever asks is told.":                "Whoever",
		"A key that is none.":                  "that is none",
		"It waits for ever.":                   "for ever",
		"One after the other.":                 "One after the other",
		"The colour of the centre.":            "centre",
		"It is normalised.":                    "normalised",
		"There is none, and scale is none.":    "",
		"It holds forever.":                    "",
	} {
		found := lint.Words(lint.Tree{line("docs/a.md", text)})
		told := len(found) > 0 && strings.HasPrefix(found[0].String(), `docs/a.md:3: "`+want)
		if told != (want != "") {
			t.Errorf("%q: %v, want %q", text, found, want)
		}
	}
	kept := lint.Tree{line("CHANGELOG.md", "for ever"), line("testdata/a.md", "for ever"),
		line("benchmarks/results/a.md", "for ever")}
	if found := lint.Words(kept); len(found) != 0 {
		t.Errorf("%v", found)
	}
}
