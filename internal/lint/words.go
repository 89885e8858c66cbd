package lint

import (
	"bytes"
	"path"
	"regexp"
)

// tics are phrases that read as translated, and spellings that are not American. Code, comments, messages and documents
// avoid them.
var tics = []struct {
	found *regexp.Regexp
	write string
}{
	{regexp.MustCompile(`(?i)\b(hold|holds|held|holding) (\S+ ){0,4}against\b`), "check X against Y, compare, verify"},
	{regexp.MustCompile(`(?i)\b(what|that|which|value) (is|are|was) none\b`), "is not a, has no"},
	{regexp.MustCompile(`(?i)\bso many\b`), "the count, N, the total"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "the caller, the one that"},
	{regexp.MustCompile(`(?i)\bfor ever\b`), "permanently, without end"},
	{regexp.MustCompile(`(?i)\bone after the other\b`), "one at a time, in turn"},
	{regexp.MustCompile(`(?i)\bcentre(s|d)?\b`), "center"},
	{regexp.MustCompile(`(?i)neighbour`), "neighbor"},
	{regexp.MustCompile(`(?i)colour`), "color"},
	{regexp.MustCompile(`(?i)behaviour`), "behavior"},
	{regexp.MustCompile(`(?i)\b(normal|serial|standard|initial)is(e|ed|es|ing|ation)\b`), "-ize"},
	{regexp.MustCompile(`(?i)\blicences?\b`), "license"},
	{regexp.MustCompile(`(?i)\bjudgement`), "judgment"},
	{regexp.MustCompile(`(?i)\bgrey`), "gray"},
}

// Words finds the tics in hand-written code and in documents. The change log stays as it was written.
func Words(tree Tree) []Finding {
	var found []Finding
	for _, f := range tree.prose() {
		for number, line := range bytes.Split(f.Text, []byte("\n")) {
			for _, tic := range tics {
				if word := tic.found.Find(line); word != nil {
					at := Finding{Path: f.Path, Line: number + 1}
					at.What = `"` + string(word) + `": write ` + tic.write
					found = append(found, at)
				}
			}
		}
	}
	return found
}

// prose returns what people wrote to be read.
func (t Tree) prose() []*File {
	var files []*File
	for _, f := range t {
		document := path.Ext(f.Path) == ".md" && f.Path != "CHANGELOG.md"
		if document && !within(f.Path, "testdata") && !within(f.Path, "benchmarks/results") {
			files = append(files, f)
		}
	}
	for _, f := range t.GoFiles() {
		if !within(f.Path, "internal/lint") {
			files = append(files, f)
		}
	}
	return files
}
