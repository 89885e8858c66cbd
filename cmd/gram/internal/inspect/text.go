package inspect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of what is printed; JSON has all.
const (
	shownColumns = 20
	shownLabels  = 12
	shownSkips   = 3
)

// Write prints the survey for people, in 80 columns.
func (s *Survey) Write(w io.Writer, size func(int64) string) {
	var t terminal.Table
	t.Row("data set", terminal.Shorten(terminal.Clean(s.URI), 68))
	t.Row("format", s.Format)
	t.Row("objects", fmt.Sprintf("%d, %s, in %s", s.Objects, size(s.Bytes), protocol.Counted(int64(s.Shards), "shard")))
	t.Row("records", fmt.Sprint(s.Records))
	if s.Bad > 0 {
		t.Row("skipped", protocol.Counted(s.Bad, "bad record"))
		for _, skip := range s.Skipped[:min(len(s.Skipped), shownSkips)] {
			t.Row("", terminal.Shorten(terminal.Clean(fmt.Sprintf("%v: %s", skip.ID, skip.Reason)), 68))
		}
	}
	s.labelRows(&t)
	s.categoryRows(&t)
	if s.Groups != nil {
		t.Row("groups", fmt.Sprint(*s.Groups))
	}
	if s.Weights != nil {
		t.Row("weights", s.Weights.text())
	}
	if s.Texts != nil {
		t.Row("words", s.Texts.Words.text())
		t.Row("bytes", s.Texts.Bytes.text())
		t.Row("empty", fmt.Sprintf("%d of the texts", s.Texts.Empty))
	}
	if p := s.Sparse; p != nil {
		t.Row("width", fmt.Sprintf("%s, %s in use", protocol.Counted(s.Width, "column"), upTo(p.Used, 1<<20)))
		t.Row("entries", fmt.Sprintf("%d, %.3g %% of all", p.Total, share(float64(p.Total),
			float64(s.Records)*float64(s.Width))))
		if p.Zeros > 0 {
			t.Row("zeros", fmt.Sprintf("%d written out, beside the entries", p.Zeros))
		}
		t.Row("a record", p.Entries.text())
		t.Row("values", p.Values.text())
	}
	if len(s.Columns) > 0 {
		t.Row("width", protocol.Counted(int64(s.Width), "column"))
	}
	t.Write(w)
	s.writeColumns(w)
	s.writePictures(w)
}

func (s *Survey) labelRows(t *terminal.Table) {
	l := s.Labels
	if l == nil {
		return
	}
	text := upTo(l.Distinct, maxLabels)
	if l.Numbers {
		text += "; " + l.Range.text()
	}
	t.Row("labels", text)
	if l.Numbers && len(l.Classes) > shownLabels {
		return
	}
	for _, c := range l.Classes[:min(len(l.Classes), shownLabels)] {
		t.Row("", fmt.Sprintf("%s %9d  %5.1f %%", terminal.Pad(terminal.Shorten(terminal.Clean(c.Label), 30), 30),
			c.Records, share(float64(c.Records), float64(s.Records))))
	}
	if more := len(l.Classes) - shownLabels; more > 0 {
		t.Row("", fmt.Sprintf("%d more", more))
	}
}

func (s *Survey) writeColumns(w io.Writer) {
	if len(s.Columns) == 0 {
		return
	}
	fmt.Fprintln(w)
	var t terminal.Table
	rows := [][]string{{"column", "type", "min", "mean", "max", "missing", "distinct"}}
	for _, c := range s.Columns[:min(len(s.Columns), shownColumns)] {
		name := strings.TrimRight(fmt.Sprintf("%d %s", c.Column, terminal.Clean(c.Name)), " ")
		rows = append(rows, []string{name, c.kind(), number(c.Min), number(c.Mean), number(c.Max),
			fmt.Sprint(c.Missing), upTo(c.Distinct, maxDistinct)})
	}
	left := leftForNames(rows)
	for _, row := range rows {
		row[0] = terminal.Shorten(row[0], left)
		t.Row(row...)
	}
	t.Write(w)
	if more := s.Width - shownColumns; more > 0 {
		constant := 0
		for _, c := range s.Columns {
			if c.kind() == "constant" {
				constant++
			}
		}
		fmt.Fprintf(w, "%s more; %d of all are constant. -o json has the first %d.\n", protocol.Counted(more, "column"),
			constant, len(s.Columns))
	}
}

// leftForNames is how many columns of a line the other cells of some rows leave to the first ones, at least 8.
func leftForNames(rows [][]string) int {
	left := terminal.Columns
	for cell := 1; cell < len(rows[0]); cell++ {
		widest := 0
		for _, row := range rows {
			widest = max(widest, terminal.TextWidth(row[cell]))
		}
		left -= 2 + widest
	}
	return max(8, min(left, 30))
}

func (c *Column) kind() string {
	switch {
	case c.Min == nil:
		return "missing"
	case *c.Min == *c.Max:
		return "constant"
	case c.Whole:
		return "whole"
	}
	return "real"
}

func (r *Range) text() string {
	if r.Min == nil {
		return "none"
	}
	return fmt.Sprintf("%s to %s, mean %s", number(r.Min), number(r.Max), number(r.Mean))
}

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 5, 64)
}

func upTo(n *int, most int) string {
	if n == nil {
		return fmt.Sprintf("more than %d", most)
	}
	return strconv.Itoa(*n)
}

func share(part, of float64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * part / of
}

// ink has shades from white to black.
const ink = " .:-=+*#%@"

// side of a square picture that a vector may be; 0 for any other vector.
func side(width int) int {
	n := int(math.Sqrt(float64(width))) //lint:checked small
	if n*n != width || n < 4 || n > 64 {
		return 0
	}
	return n
}

// writePictures draws records of dense vectors that may be square pictures, as the report does, in 80 columns.
func (s *Survey) writePictures(w io.Writer) {
	n := side(s.Width)
	if n == 0 || s.Sparse != nil || len(s.Drawn) == 0 {
		return
	}
	wide := n
	if 2*n <= 20 { // a character is twice as high as it is wide
		wide = 2 * n
	}
	row := max(1, min(len(s.Drawn), (terminal.Columns+2)/(wide+2)))
	fmt.Fprintf(w, "\nIf records are pictures of %d x %d, these are some:\n", n, n)
	for first := 0; first < len(s.Drawn); first += row {
		list := s.Drawn[first:min(first+row, len(s.Drawn))]
		var lines []string
		for i, r := range list {
			for y, line := range append(picture(r, n), r.caption(wide)) {
				if i == 0 {
					lines = append(lines, "")
				}
				lines[y] += terminal.Pad(line, wide+2)
			}
		}
		fmt.Fprintln(w)
		for _, line := range lines {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

func (r *Record) caption(columns int) string {
	if r.Label == nil {
		return ""
	}
	return terminal.Shorten(terminal.Clean(*r.Label), columns)
}

// picture draws a record: of up to 10 x 10 two characters for a value, of more one for two values, the lower one below.
func picture(r *Record, n int) (lines []string) {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range r.Values {
		if v == v {
			low, high = min(low, float32(v)), max(high, float32(v))
		}
	}
	shade := func(v float32) byte {
		if !(high > low) || v != v {
			return ink[0]
		}
		at := int((v - low) / (high - low) * float32(len(ink)-1) * 1.0001) //lint:checked within ink
		return ink[max(0, min(len(ink)-1, at))]
	}
	wide, rowsPerLine := 1, 2
	if 2*n <= 20 {
		wide, rowsPerLine = 2, 1
	}
	for y := 0; y < n; y += rowsPerLine {
		var line strings.Builder
		for x := range n {
			v := float32(r.Values[y*n+x])
			if rowsPerLine == 2 && y+1 < n {
				v = (v + float32(r.Values[(y+1)*n+x])) / 2
			}
			line.WriteString(strings.Repeat(string(shade(v)), wide))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// Line prints a record in one line of 80 columns.
func (r *Record) Line() string {
	line := name(r.ID)
	if r.Label != nil {
		line += "  " + terminal.Shorten(terminal.Clean(*r.Label), 24)
	}
	if r.Weight != nil {
		line += fmt.Sprintf("  x %v", *r.Weight)
	}
	var rest strings.Builder
	for _, category := range r.Categories {
		rest.WriteString(terminal.Shorten(terminal.Clean(category), 16) + " ")
	}
	for i, v := range r.Values {
		if rest.Len() > terminal.Columns {
			break
		}
		if r.Indices != nil {
			fmt.Fprintf(&rest, "%d:", r.Indices[i])
		}
		text := strconv.FormatFloat(float64(v), 'g', 5, 32)
		if v != v {
			text = "missing"
		}
		rest.WriteString(text + " ")
	}
	if r.Text != nil {
		rest.WriteString(terminal.Clean(terminal.Shorten(*r.Text, terminal.Columns)))
	}
	return terminal.Shorten(line+"  "+strings.TrimRight(rest.String(), " "), terminal.Columns)
}

func name(id dataset.Identity) string { return terminal.Shorten(terminal.Clean(id.String()), 30) }
