package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Category is a column of spec.input.categorical.
type Category struct {
	Column   string  `json:"column"`           // as spec.input.categorical has it
	Name     string  `json:"name,omitempty"`   // in the header, of a column that the spec has by number
	Distinct *int    `json:"distinct"`         // nil beyond 1,000
	Values   []Class `json:"values,omitempty"` // by records, then in byte order

	counts map[string]int64
}

func (s *Survey) addCategories(of dataset.Categories) {
	for k, value := range of.Values {
		if s.Categories == nil {
			for range of.Width {
				s.Categories = append(s.Categories, &Category{counts: map[string]int64{}})
			}
		}
		if c := s.Categories[k%of.Width]; c.counts != nil {
			if c.counts[string(value)]++; len(c.counts) > maxLabels {
				c.counts = nil
			}
		}
	}
}

// end names the column and lists its values.
func (c *Category) end(column protocol.Column) {
	c.Column = column.Name
	if c.Column == "" {
		c.Column = strconv.Itoa(column.Number)
	}
	c.Distinct, c.Values = counted(c.counts), classesOf(c.counts)
}

// classesOf lists labels by their records.
func classesOf(counts map[string]int64) []Class {
	var list []Class
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		shown := label
		if !utf8.ValidString(label) {
			shown = strconv.QuoteToASCII(label)
		}
		list = append(list, Class{shown, counts[label]})
	}
	slices.SortStableFunc(list, func(a, b Class) int { return cmp.Compare(b.Records, a.Records) })
	return list
}

// shownCategories is how many values of a column are printed.
const shownCategories = 3

func (s *Survey) categoryRows(t *terminal.Table) {
	for k, c := range s.Categories {
		what := ""
		if k == 0 {
			what = "categories"
		}
		var most []string
		for _, v := range c.Values[:min(len(c.Values), shownCategories)] {
			most = append(most, fmt.Sprintf("%s (%d)", terminal.Shorten(terminal.Clean(v.Label), 12), v.Records))
		}
		name := strings.TrimRight(c.Column+" "+c.Name, " ")
		text := fmt.Sprintf("%s: %s", terminal.Shorten(terminal.Clean(name), 16), upTo(c.Distinct, maxLabels))
		if len(most) > 0 {
			text += ", most: " + strings.Join(most, ", ")
		}
		t.Row(what, terminal.Shorten(text, 68))
	}
}
