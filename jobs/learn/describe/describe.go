// Package describe lays out what the kinds tell people of their models: lines of at most Width columns.
package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/protocol"
)

// Width is how many columns a line has at most.
const Width = 80

// Page is the description of a model, as it is written.
type Page struct {
	strings.Builder
	Names []string // the classes that people ask for; empty for a few
	Top   int      // the things of each class that people ask for; 0 for a few
}

// Of returns a kind's Describe function, made of read, which loads a model, and write, which describes it.
func Of[M any](
	read func(jobs.Arrays) (M, error), write func(M, *Page) error,
) func(jobs.Arrays, jobs.DescribeOptions) (string, error) {
	return func(a jobs.Arrays, opt jobs.DescribeOptions) (string, error) {
		m, err := read(a)
		if err != nil {
			return "", err
		}
		p := &Page{Names: opt.Classes, Top: max(0, opt.Top)}
		if err := write(m, p); err != nil {
			return "", err
		}
		return p.String(), nil
	}
}

// Text writes formatted text.
func (p *Page) Text(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// Fact writes a line with a name and what is known by it, of any length.
func (p *Page) Fact(name, format string, args ...any) {
	p.Text("%-12s %s\n", name, fmt.Sprintf(format, args...))
}

// Line is Fact, cut off at Width.
func (p *Page) Line(name, format string, args ...any) {
	p.Fact(name, "%s", Clip(fmt.Sprintf(format, args...), Width-13))
}

// Few returns how many things of each class to show: the number that people ask for, or else few.
func (p *Page) Few(few int) int { return cmp.Or(p.Top, few) }

// Classes returns the numbers of the labels that people ask for, or the first few of all. Labels are in byte order; a
// name that is not among them is a *protocol.Fault of CodeSpecInvalid.
func (p *Page) Classes(labels []string, few int) ([]int, error) {
	var classes []int
	for _, name := range p.Names {
		y, ok := slices.BinarySearch(labels, name)
		if !ok {
			return nil, protocol.SpecFault("the model has no class %q", name).
				WithHint(fmt.Sprintf("Its classes: %s.", someOf(labels))).Suggest(name, labels)
		}
		classes = append(classes, y)
	}
	for y := 0; len(p.Names) == 0 && y < min(len(labels), few); y++ {
		classes = append(classes, y)
	}
	return classes, nil
}

// Shown writes how many of all things the page shows, if some were left out and people named no classes. The format
// what takes both numbers.
func (p *Page) Shown(what string, shown, all int) {
	if len(p.Names) == 0 && shown < all {
		p.Text("\n"+what+" shown; name others to see them.\n", shown, all)
	}
}

// maxRows bounds the rows of a table.
const maxRows = 20

// Table writes a row for each label, and how many are left out beyond a few.
func (p *Page) Table(labels []string, row func(class int) string) {
	for y, label := range labels[:min(len(labels), maxRows)] {
		p.Text("%-24.24s %s\n", label, row(y))
	}
	if more := len(labels) - maxRows; more > 0 {
		p.Text("and %d more\n", more)
	}
}

// Words writes a list in lines, indented by two, with a comma behind each word but the last.
func (p *Page) Words(words []string) {
	for i := range words {
		words[i] = Clip(words[i], Width-5)
		if i < len(words)-1 {
			words[i] += ","
		}
	}
	p.wrap(words)
}

// Leading names the columns of the greatest weights above 0, with these, the greatest first; top of them at most.
func Leading(columns int, weight func(column int) float64, name func(column int) string, top int) (words []string) {
	for _, j := range rank.Greatest(columns, weight) {
		if len(words) == top || !(weight(j) > 0) {
			break
		}
		words = append(words, fmt.Sprintf("%s %.4g", name(j), weight(j)))
	}
	return words
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

func (p *Page) wrap(words []string) {
	line := " "
	for _, word := range words {
		if len([]rune(line))+1+len([]rune(word)) > Width && line != " " {
			p.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	p.WriteString(line + "\n")
}

// Clip shortens a line to a number of columns, from 3.
func Clip(s string, columns int) string {
	if runes := []rune(s); len(runes) > columns {
		return string(runes[:columns-3]) + "..."
	}
	return s
}
