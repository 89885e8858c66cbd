package dataset

import (
	"fmt"

	"github.com/gram-compute/gram/protocol"
)

// columnOf finds a column, counted from 0, by number or by its name in the header; -1 means no column.
func columnOf(c protocol.Column, names [][]byte) (int, error) {
	if c.Name == "" {
		return c.Number - 1, nil
	}
	found := -1
	for i, name := range names {
		switch {
		case string(name) != c.Name:
		case found >= 0:
			return 0, fmt.Errorf("the header names column %q twice", c.Name)
		default:
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("the header has no column %q%s", c.Name, suggest(c.Name, names))
	}
	return found, nil
}

// shownNames is how many names a fault shows where none is near.
const shownNames = 8

// suggest is the end of a sentence about a name that is not there.
func suggest(name string, names [][]byte) string {
	known := make([]string, 0, min(len(names), 1000))
	for _, n := range names[:cap(known)] {
		if len(n) <= 100 {
			known = append(known, string(n))
		}
	}
	if near := protocol.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	switch first := known[:min(len(known), shownNames)]; {
	case len(first) == 0:
		return ""
	case len(first) == len(names):
		return fmt.Sprintf("; the names are %q", first)
	default:
		return fmt.Sprintf("; the first of %d names are %q", len(names), first)
	}
}
