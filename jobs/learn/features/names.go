package features

import (
	"fmt"
	"slices"
	"strconv"
)

// ColumnName names a column of the vectors for people: the term of a text, a category with the column that has it, or
// the number of the column, from 1.
func (s *Space) ColumnName(j int) string {
	if s.dictionary != nil {
		return strconv.QuoteToGraphic(string(s.dictionary.Terms.At(j)))
	}
	if s.encoder != nil && j >= s.Width-s.encoder.width() {
		return s.encoder.columnName(j - (s.Width - s.encoder.width()))
	}
	if m := s.imputer; m != nil && len(m.flagged) > 0 && j >= len(m.fill) {
		return "column " + strconv.Itoa(int(m.flagged[j-len(m.fill)])+1) + " missing"
	}
	return "column " + strconv.Itoa(j+1)
}

// Categorical returns how many numbers a record has, and the names of the columns of categories behind them; nil for
// records without categories. A column that the spec named by its number has that as its name.
func (s *Space) Categorical() (numbers int, names []string) {
	if s.encoder == nil {
		return s.shape().width, nil
	}
	return s.encoder.numeric, slices.Clone(s.encoder.names)
}

// columnName names a column that categories make, counted from the first of them.
func (e *encoder) columnName(j int) string {
	k, found := slices.BinarySearch(e.from, j)
	if !found {
		k--
	}
	name := e.names[k]
	if _, err := strconv.Atoi(name); err == nil {
		name = "input column " + name
	}
	if e.hasher != nil {
		return fmt.Sprintf("%s hash %d of %d", name, j-e.from[k]+1, e.hasher.width())
	}
	category := e.known[k].Terms.At(j - e.from[k])
	if len(category) == 0 {
		return name + " missing"
	}
	return name + "=" + strconv.QuoteToGraphic(string(category))
}
