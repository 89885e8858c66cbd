package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

func checkTable(t *jobs.FigureTable) error {
	if t == nil {
		return nil
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d has %d cells for %d columns", i, len(row), len(t.Columns))
		}
	}
	return nil
}

// numericColumns tells which columns hold nothing but numbers, to be set to the right. The first names the
// rows, whatever it holds.
func numericColumns(t *jobs.FigureTable) []bool {
	numeric := make([]bool, len(t.Columns))
	for j := 1; j < len(numeric); j++ {
		numeric[j] = len(t.Rows) > 0
		for _, row := range t.Rows {
			numeric[j] = numeric[j] && isNumber(row[j])
		}
	}
	return numeric
}

// longCell is from how many bytes on a cell is a sentence, or a key that may break anywhere.
const longCell = 32

// cellClass is the class of a cell: numbers are set to the right; long texts wrap, and keep a least width.
func cellClass(numeric bool, cell string) string {
	switch {
	case numeric:
		return "n"
	case len(cell) >= longCell:
		return "long"
	}
	return ""
}

// isNumber accepts percentages and empty cells, too.
func isNumber(cell string) bool {
	cell = strings.TrimSpace(strings.TrimSuffix(cell, "%"))
	_, err := strconv.ParseFloat(cell, 64)
	return cell == "" || err == nil
}
