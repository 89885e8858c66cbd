package terminal

import "strings"

// Columns is the width of what people read.
const Columns = 80

// Wrap breaks the lines of a text that take more columns than there are, at spaces. What follows is indented by
// two more than the line; a word that fits nowhere stays whole.
func Wrap(text string, columns int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		wrapLine(&out, line, columns)
		if end {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func wrapLine(out *strings.Builder, line string, columns int) {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+2)
	for TextWidth(line) > columns {
		at := breakBefore(line, columns)
		if at < 0 {
			break
		}
		out.WriteString(strings.TrimRight(line[:at], " "))
		out.WriteByte('\n')
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	out.WriteString(line)
}

// breakBefore is the last space, after a word, at which what stands before it fits; the first one where
// none does, -1 without any.
func breakBefore(line string, columns int) int {
	word, best, column := false, -1, 0
	for at, r := range line {
		if r != ' ' {
			word = true
		} else if word {
			if column > columns && best >= 0 {
				return best
			}
			best = at
			if column > columns {
				return best
			}
		}
		column += widthOf(r)
	}
	return best
}
