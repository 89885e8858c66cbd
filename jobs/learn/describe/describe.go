// Package describe lays out what the kinds tell people of their models: lines of at most Width columns.
package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Width is how many columns a line has at most.
const Width = 80

// Classes are the numbers of the labels named, or the first few of all. Labels are in byte order; a name that is not
// among them is a *protocol.Fault of CodeSpecInvalid.
func Classes(labels, names []string, few int) ([]int, error) {
	var classes []int
	for _, name := range names {
		y, ok := slices.BinarySearch(labels, name)
		if !ok {
			return nil, protocol.SpecFault("the model has no class %q", name).
				WithHint(fmt.Sprintf("Its classes: %s.", someOf(labels))).Suggest(name, labels)
		}
		classes = append(classes, y)
	}
	for y := 0; len(names) == 0 && y < min(len(labels), few); y++ {
		classes = append(classes, y)
	}
	return classes, nil
}

// maxNamed bounds the classes that an error names.
const maxNamed = 10

func someOf(labels []string) string {
	var named []string
	for _, label := range labels[:min(len(labels), maxNamed)] {
		named = append(named, fmt.Sprintf("%q", label))
	}
	if more := len(labels) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(named, ", ")
}

// Wrap writes words in lines, indented by two.
func Wrap(b *strings.Builder, words []string) {
	line := " "
	for _, word := range words {
		word = Clip(word, Width-4)
		if len([]rune(line))+1+len([]rune(word)) > Width && line != " " {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// Clip shortens a line to a number of columns, from 3.
func Clip(s string, columns int) string {
	if runes := []rune(s); len(runes) > columns {
		return string(runes[:columns-3]) + "..."
	}
	return s
}
