package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/internal/seeded"
)

//go:embed bugs/*.diff
var diffs embed.FS

// change replaces one place of a file.
type change struct {
	bug  seeded.Bug
	file string // slash-separated, relative to the module's root
	was  string // whole lines, found exactly once; "" makes a new file
	is   string
}

// enable makes seeded.Enabled true: a build that has the tag but not the overlay is known by it.
var enable = change{
	file: "internal/seeded/seeded.go", was: "const Enabled = false\n", is: "const Enabled = true\n",
}

// readAll returns the changes of every bug.
func readAll() ([]change, error) {
	changes := []change{enable}
	for _, bug := range seeded.All() {
		text, err := diffs.ReadFile(diffOf(bug))
		if err != nil {
			return nil, fmt.Errorf("bug %s: %w", bug, err)
		}
		of, err := parse(bug, string(text))
		if err != nil {
			return nil, err
		}
		changes = append(changes, of...)
	}
	return changes, nil
}

func diffOf(bug seeded.Bug) string { return "bugs/" + string(bug) + ".diff" }

// parse reads the changes of a bug: a diff without line numbers, after a sentence that says what the bug is.
//
//	--- FILE          the next hunks change this file
//	@@ anything       begins a hunk
//	 line             stands before and after
//	-line             is replaced
//	+line             is planted; a hunk of such lines alone is a new file
func parse(bug seeded.Bug, text string) ([]change, error) {
	var changes []change
	var hunk *change
	file := ""
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		name, names := strings.CutPrefix(line, "--- ")
		switch {
		case names:
			file, hunk = name, nil
		case file == "": // the sentence
		case strings.HasPrefix(line, "@@"):
			changes = append(changes, change{bug: bug, file: file})
			hunk = &changes[len(changes)-1]
		case hunk == nil || !hunk.add(line):
			return nil, fmt.Errorf("%s:%d: want @@, or a line of a hunk that begins with a space, - or +",
				diffOf(bug), i+1)
		}
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("%s changes nothing", diffOf(bug))
	}
	return changes, nil
}

// add takes a line of a hunk, and reports whether it is one.
func (c *change) add(line string) bool {
	mark, body := " ", "\n"
	if line != "" {
		mark, body = line[:1], line[1:]+"\n"
	}
	switch mark {
	case "-":
		c.was += body
	case "+":
		c.is += body
	case " ":
		c.was, c.is = c.was+body, c.is+body
	default:
		return false
	}
	return true
}
