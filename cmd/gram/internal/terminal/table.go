package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Table collects rows and writes them in aligned columns, two spaces apart.
type Table struct {
	rows [][]string
	// Paint, when set, colors a cell; row 0 is the first one added.
	Paint func(row, column int, text string) string
}

// Row adds a row. Control characters in the cells are shown as escapes.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Clean(cell)
	}
	t.rows = append(t.rows, row)
}

// Write writes the table.
func (t *Table) Write(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i == len(row)-1 {
				break // it has no neighbor to keep off
			}
			widths[i] = max(widths[i], TextWidth(cell))
		}
	}
	for r, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			padding := widths[i] - TextWidth(cell) + 2
			if t.Paint != nil {
				cell = t.Paint(r, i, cell)
			}
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", padding))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// Clean makes one line of a text that others wrote, in which nothing steers the terminal: what would is shown as an
// escape, and line ends and tabs as spaces.
func Clean(text string) string { return protocol.Visible(oneLine.Replace(text)) }

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")
