package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// plot is the rectangle of a chart, with its axes.
type plot struct {
	x, y                     scale
	left, right, top, bottom float64
}

// The heights of charts.
const (
	plotTop    = 34
	plotHeight = 250
	unitHeight = 350 // of shares by shares, which have one scale
	plotFoot   = 50  // below: ticks and the name of the axis
)

// plotOf makes room for the texts of the vertical axis.
func plotOf(x, y scale, height float64) plot {
	p := plot{x: x, y: y, right: chartWidth - 14, top: plotTop, bottom: plotTop + height}
	_, texts := y.ticks()
	for _, text := range texts {
		p.left = max(p.left, widthOf(text)+16)
	}
	p.y.from, p.y.to = p.bottom, p.top
	p.x.from, p.x.to = p.left+6, p.right-6
	return p
}

// square gives both axes one scale.
func (p plot) square() plot {
	p.right = min(p.right, p.left+p.bottom-p.top)
	p.x.from, p.x.to = p.left, p.right
	return p
}

// frame draws the axes with their names.
func (p plot) frame(s *svg, xName, yName string) {
	at, texts := p.y.ticks()
	for i, v := range at {
		s.line(p.left, p.y.at(v), p.right, p.y.at(v), "grid")
		s.text(p.left-8, p.y.at(v)+4, "end", "faint", texts[i])
	}
	at, texts = p.x.ticks()
	for i, v := range at {
		s.line(p.x.at(v), p.bottom, p.x.at(v), p.bottom+5, "axis")
		s.text(p.x.at(v), p.bottom+20, "middle", "faint", texts[i])
	}
	s.line(p.left, p.bottom, p.right, p.bottom, "axis")
	s.text(2, 16, "start", "ink", shorten(yName, fitting(chartWidth-2)))
	s.text((p.left+p.right)/2, p.bottom+40, "middle", "ink", shorten(xName, fitting(p.right-p.left)))
}

// lineChart draws every series, with a mark at each value that can be shown where there are few.
func lineChart(title string, c *jobs.LineChart) []byte {
	x, y, note := linesAxes(c)
	height := float64(plotHeight)
	if c.UnitX && c.UnitY {
		height = unitHeight
	}
	p := plotOf(x, y, height)
	if c.UnitX && c.UnitY {
		p = p.square()
	}
	l := flowing(linesLegend(c), chartWidth-p.left)
	s := newPicture(chartClass, chartWidth, p.bottom+plotFoot+l.height(), title, describeLines(c, y))
	p.frame(s, c.X, c.Y+note)
	for _, behind := range []bool{true, false} {
		for i, series := range c.Series {
			if series.Reference == behind {
				p.series(s, i, series)
			}
		}
	}
	l.draw(s, p.left, p.bottom+plotFoot)
	return s.end()
}

func linesLegend(c *jobs.LineChart) (list []entry) {
	if len(c.Series) < 2 {
		return nil
	}
	for i, series := range c.Series {
		list = append(list, entry{series.Name, func(s *svg, x, y float64) {
			if !series.Points {
				fmt.Fprintf(s, `<path d="M%s %sh28" class="%s"%s/>`+"\n", px(x-14), px(y), lineClass(i, series),
					lineDash(i, series))
			}
			if marked(series) {
				mark(s, i, x, y, "")
			}
		}})
	}
	return list
}

func lineClass(i int, series jobs.Series) string {
	switch {
	case series.Reference:
		return "line ref"
	case series.Chosen:
		return "line chosen " + classOf(i)
	}
	return "line " + classOf(i)
}

func lineDash(i int, series jobs.Series) string {
	if series.Reference {
		return ` stroke-dasharray="6 4"`
	}
	return dashOf(i)
}

// marked reports whether the values of a series have marks: more would hide the line.
func marked(series jobs.Series) bool {
	return series.Points || len(series.X) <= 40 && !series.Reference && !series.Steps
}

// series draws a line, which breaks where a value cannot be shown.
func (p plot) series(s *svg, i int, series jobs.Series) {
	var path strings.Builder
	var marks [][2]float64
	joined := false
	for j, v := range series.Y {
		if !p.y.shows(v) || !p.x.shows(series.X[j]) {
			joined = false
			continue
		}
		x, y := p.x.at(series.X[j]), p.y.at(v)
		if marked(series) {
			marks = append(marks, [2]float64{x, y})
		}
		switch {
		case !joined:
			fmt.Fprintf(&path, "M%s %s", px(x), px(y))
		case series.Steps:
			fmt.Fprintf(&path, "V%sH%s", px(y), px(x))
		default:
			fmt.Fprintf(&path, "L%s %s", px(x), px(y))
		}
		joined = true
	}
	if path.Len() > 0 && !series.Points {
		fmt.Fprintf(s, `<path d="%s" class="%s"%s/>`+"\n", path.String(), lineClass(i, series), lineDash(i, series))
	}
	for _, m := range marks {
		mark(s, i, m[0], m[1], "")
	}
}

// linesAxes spans all values that can be shown; note says of the vertical axis what may surprise.
func linesAxes(c *jobs.LineChart) (x, y scale, note string) {
	x, y = scale{axis: axis{low: math.Inf(1), high: math.Inf(-1)}, whole: true}, scale{axis: axis{low: math.Inf(1),
		high: math.Inf(-1)}}
	for _, series := range c.Series {
		for i, v := range series.Y {
			if at := series.X[i]; drawable(v) && drawable(at) {
				x.low, x.high = min(x.low, at), max(x.high, at)
				y.low, y.high = min(y.low, v), max(y.high, v)
				x.whole = x.whole && at == math.Trunc(at)
			}
		}
	}
	if x.low > x.high {
		x.low, x.high, y.low, y.high = 0, 1, 0, 1
	}
	if c.UnitX {
		x.low, x.high, x.whole = 0, 1, false
	}
	switch {
	case c.UnitY:
		y.low, y.high = 0, 1
	case c.Decades && y.low > 0 && y.high/y.low >= 100:
		y.log = true
		y.low, y.high = math.Log10(y.low)-0.1, math.Log10(y.high)+0.1
		note = " (logarithmic scale)"
	default:
		if y.axis = y.axis.showing(); y.low > 0 || y.high < 0 {
			note = " (scale without 0)"
		}
	}
	return x, y, note
}

// showing leaves room at both ends, and begins at 0 unless that would press the values into a part of the axis.
func (a axis) showing() axis {
	const part = 0.35
	if a.low == a.high || a.low > 0 && a.low <= part*a.high {
		a.low = min(a.low, 0)
	}
	if a.low == a.high || a.high < 0 && a.high >= part*a.low {
		a.high = max(a.high, 0)
	}
	if a.low == a.high {
		return axis{0, 1, a.from, a.to}
	}
	pad := a.high/20 - a.low/20
	if a.low != 0 {
		a.low -= pad
	}
	if a.high != 0 {
		a.high += pad
	}
	return a
}

// describeLines tells what a chart shows, for those who do not see it.
func describeLines(c *jobs.LineChart, y scale) string {
	const most = 8 // lines
	var text strings.Builder
	fmt.Fprintf(&text, "%s by %s.", c.Y, c.X)
	for i, series := range c.Series {
		if i == most {
			fmt.Fprintf(&text, " And %d more.", len(c.Series)-most)
			break
		}
		first, last := -1, -1
		for j, v := range series.Y {
			if y.shows(v) {
				if last = j; first < 0 {
					first = j
				}
			}
		}
		if first >= 0 {
			fmt.Fprintf(&text, " %s: from %s at %s to %s at %s.", series.Name, brief(series.Y[first]),
				brief(series.X[first]), brief(series.Y[last]), brief(series.X[last]))
		}
	}
	return text.String()
}
