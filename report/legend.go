package report

import (
	"fmt"
	"strings"
)

// entry is a sign and what it stands for.
type entry struct {
	label string
	draw  func(s *svg, x, y float64)
}

// The sizes of a legend.
const (
	legendRow  = 22.0
	legendSign = 34
	legendMost = 44 // characters of a label
)

// legend is entries that flow in rows as wide as the picture.
type legend struct {
	entries []entry
	x       []float64
	row     []int
}

// flowing lays entries out.
func flowing(entries []entry, width float64) legend {
	l := legend{entries: entries}
	x, row := 0.0, 0
	for _, e := range entries {
		wide := legendSign + widthOf(shorten(e.label, legendMost)) + 12
		if x > 0 && x+wide > width {
			x, row = 0, row+1
		}
		l.x, l.row = append(l.x, x), append(l.row, row)
		x += wide
	}
	return l
}

// height is what the rows take.
func (l legend) height() float64 {
	if len(l.row) == 0 {
		return 0
	}
	return legendRow * float64(l.row[len(l.row)-1]+1)
}

// draw draws the entries below y.
func (l legend) draw(s *svg, left, y float64) {
	for i, e := range l.entries {
		at := y + legendRow*float64(l.row[i]) + legendRow/2
		e.draw(s, left+l.x[i]+12, at)
		s.text(left+l.x[i]+legendSign-4, at+4, "start", "ink", shorten(e.label, legendMost))
	}
}

// looks is the number of series that color, dash and mark tell apart. The colors are those that the color-blind tell
// apart (Okabe and Ito, "Color Universal Design", 2008), some of them darker on paper and lighter on dark pages; the
// sheet has them as classes s0 to s5.
const looks = 6

// dashOf is how the line of a series is dashed, so that it is told from others without its color.
func dashOf(series int) string {
	dash := [looks]string{"", "8 4", "2 3", "10 3 2 3", "5 2", "12 3 2 3 2 3"}[series%looks]
	if dash == "" {
		return ""
	}
	return ` stroke-dasharray="` + dash + `"`
}

// classOf is the class of the color of a series.
func classOf(series int) string { return fmt.Sprintf("s%d", series%looks) }

// shapes are the marks of series around 0, 0.
var shapes = [looks]string{
	`<circle cx="%[1]s" cy="%[2]s" r="3.5" class="%[3]s"/>`,
	`<path d="M%[1]s %[2]sm-3.3 -3.3h6.6v6.6h-6.6z" class="%[3]s"/>`,
	`<path d="M%[1]s %[2]sm0 -4.4l4.2 7.2h-8.4z" class="%[3]s"/>`,
	`<path d="M%[1]s %[2]sm0 -4.8l4.4 4.8l-4.4 4.8l-4.4 -4.8z" class="%[3]s"/>`,
	`<path d="M%[1]s %[2]sm0 4.4l4.2 -7.2h-8.4z" class="%[3]s"/>`,
	`<path d="M%[1]s %[2]sm-1.4 -4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z" class="%[3]s"/>`,
}

// mark draws the mark of a series; a class is added to that of its color.
func mark(s *svg, series int, x, y float64, class string) {
	fmt.Fprintf(s, shapes[series%looks]+"\n", px(x), px(y), strings.TrimSpace("dot "+classOf(series)+" "+class))
}
