package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// plotArea is the part of a picture that has the points.
type plotArea struct{ x, y axis }

// scatterPlot draws points, and lines as far as they are among them. It is so narrow that a telephone shows it whole.
func scatterPlot(title string, c *jobs.ScatterPlot) []byte {
	const height = 360
	area := areaOf(c.Groups, 62, chartWidth-14, plotTop, plotTop+height)
	p := plotOf(scale{axis: area.x}, scale{axis: area.y}, height) // makes room for the texts
	left, bottom := p.left, p.bottom
	area = areaOf(c.Groups, left, p.right, p.top, bottom)
	p.x.axis, p.y.axis = area.x, area.y
	l := flowing(scatterLegend(c), chartWidth-left)
	s := newPicture(chartClass, chartWidth, bottom+plotFoot+l.height(), title, describeScatter(c))
	p.frame(s, c.X, c.Y)
	for _, line := range c.Lines {
		area.straight(s, line)
	}
	area.curves(s, c.Curves)
	for i, g := range c.Groups {
		area.points(s, i, g)
	}
	l.draw(s, left, bottom+plotFoot)
	return s.end()
}

// describeScatter tells what there is, for those who do not see it.
func describeScatter(c *jobs.ScatterPlot) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Points by %s and %s.", c.X, c.Y)
	for _, g := range c.Groups {
		marked := 0
		for _, m := range g.Marked {
			if m {
				marked++
			}
		}
		fmt.Fprintf(&text, " %s: %d", g.Name, len(g.X))
		if c.Mark != "" {
			fmt.Fprintf(&text, ", of which %d are marked (%s)", marked, c.Mark)
		}
		text.WriteByte('.')
	}
	return text.String()
}

// areaOf spans all points. Both axes have one scale, so that right angles are drawn as such, unless that would squeeze
// the points into less than a third of the picture.
func areaOf(groups []jobs.PointGroup, left, right, top, bottom float64) plotArea {
	x := axis{math.Inf(1), math.Inf(-1), left, right}
	y := axis{math.Inf(1), math.Inf(-1), bottom, top}
	for _, g := range groups {
		for i := range g.X {
			x.low, x.high = min(x.low, g.X[i]), max(x.high, g.X[i])
			y.low, y.high = min(y.low, g.Y[i]), max(y.high, g.Y[i])
		}
	}
	if x.low > x.high {
		x.low, x.high, y.low, y.high = 0, 1, 0, 1
	}
	x, y = x.padded(), y.padded()
	across, down := (x.high-x.low)/(right-left), (y.high-y.low)/(bottom-top)
	const most = 3
	switch {
	case across < down && down < most*across:
		x = x.widened(down * (right - left))
	case down < across && across < most*down:
		y = y.widened(across * (bottom - top))
	}
	return plotArea{x, y}
}

// padded leaves room at both ends.
func (a axis) padded() axis {
	pad := (a.high - a.low) / 16
	if pad == 0 {
		pad = max(1, math.Abs(a.low)/16)
	}
	a.low, a.high = a.low-pad, a.high+pad
	return a
}

// widened has the span, around the same middle.
func (a axis) widened(span float64) axis {
	more := (span - (a.high - a.low)) / 2
	a.low, a.high = a.low-more, a.high+more
	return a
}

// straight draws the part of a line that is in the area.
func (p plotArea) straight(s *svg, l jobs.StraightLine) {
	var ends [][2]float64
	add := func(x, y float64) {
		slack := 1e-9
		if x >= p.x.low-slack*(p.x.high-p.x.low) && x <= p.x.high+slack*(p.x.high-p.x.low) &&
			y >= p.y.low-slack*(p.y.high-p.y.low) && y <= p.y.high+slack*(p.y.high-p.y.low) {
			ends = append(ends, [2]float64{p.x.at(x), p.y.at(y)})
		}
	}
	for _, x := range []float64{p.x.low, p.x.high} {
		add(x, -(l.A*x+l.C)/l.B) // infinite where the line is upright, so outside
	}
	for _, y := range []float64{p.y.low, p.y.high} {
		add(-(l.B*y+l.C)/l.A, y)
	}
	if len(ends) < 2 {
		return
	}
	from, to := ends[0], ends[0]
	for _, e := range ends {
		if math.Hypot(e[0]-from[0], e[1]-from[1]) > math.Hypot(to[0]-from[0], to[1]-from[1]) {
			to = e
		}
	}
	stroke(s, from[0], from[1], to[0], to[1], l.Dashed)
}

// curves draws what of curves is in the area: an element of its own cuts off the rest.
func (p plotArea) curves(s *svg, list []jobs.Curve) {
	if len(list) == 0 {
		return
	}
	left, top, width, height := px(p.x.from), px(p.y.to), px(p.x.to-p.x.from), px(p.y.from-p.y.to)
	fmt.Fprintf(s, `<svg x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">`+"\n", left, top, width, height,
		left, top, width, height)
	for _, c := range list {
		s.WriteString(`<polyline points="`)
		for i, x := range c.X {
			if i > 0 {
				s.WriteByte(' ')
			}
			fmt.Fprintf(s, "%s,%s", px(p.x.at(x)), px(p.y.at(c.Y[i])))
		}
		fmt.Fprintf(s, `" fill="none" class="rule"%s/>`+"\n", dashes(c.Dashed))
	}
	s.WriteString("</svg>\n")
}

func dashes(dashed bool) string {
	if dashed {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

func stroke(s *svg, x1, y1, x2, y2 float64, dashed bool) {
	fmt.Fprintf(s, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="rule"%s/>`+"\n", px(x1), px(y1), px(x2), px(y2),
		dashes(dashed))
}

// points draws a group, its marked points above the others.
func (p plotArea) points(s *svg, group int, g jobs.PointGroup) {
	for _, marked := range []bool{false, true} {
		for i := range g.X {
			if g.Marked[i] != marked {
				continue
			}
			x, y := p.x.at(g.X[i]), p.y.at(g.Y[i])
			if g.Landmark {
				landmark(s, x, y)
				continue
			}
			mark(s, group, x, y, "soft")
			if marked {
				ring(s, x, y)
			}
		}
	}
}

// landmark draws a cross in the color of texts.
func landmark(s *svg, x, y float64) {
	for _, class := range []string{"landmark behind", "landmark"} {
		fmt.Fprintf(s, `<path d="M%s %sm-7 0h14m-7 -7v14" class="%s"/>`+"\n", px(x), px(y), class)
	}
}

func ring(s *svg, x, y float64) {
	fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="6.5" fill="none" class="ring"/>`+"\n", px(x), px(y))
}

func scatterLegend(c *jobs.ScatterPlot) (list []entry) {
	for i, g := range c.Groups {
		list = append(list, entry{g.Name, func(s *svg, x, y float64) {
			if g.Landmark {
				landmark(s, x, y)
			} else {
				mark(s, i, x, y, "")
			}
		}})
	}
	if c.Mark != "" {
		list = append(list, entry{c.Mark, func(s *svg, x, y float64) { ring(s, x, y) }})
	}
	seen := map[string]bool{}
	line := func(name string, dashed bool) {
		if !seen[name] {
			list = append(list, entry{name, func(s *svg, x, y float64) { stroke(s, x-10, y, x+10, y, dashed) }})
		}
		seen[name] = true
	}
	for _, l := range c.Lines {
		line(l.Name, l.Dashed)
	}
	for _, l := range c.Curves {
		line(l.Name, l.Dashed)
	}
	return list
}

// checkScatter refuses points without both coordinates.
func checkScatter(c *jobs.ScatterPlot) error {
	for _, g := range c.Groups {
		if len(g.X) != len(g.Y) || len(g.Marked) != len(g.X) {
			return fmt.Errorf("group %q has %d, %d and %d values", g.Name, len(g.X), len(g.Y), len(g.Marked))
		}
		for i := range g.X {
			if v := g.X[i] + g.Y[i]; v-v != 0 {
				return fmt.Errorf("group %q has a point that is not finite", g.Name)
			}
		}
	}
	for _, l := range c.Curves {
		if len(l.X) != len(l.Y) {
			return fmt.Errorf("curve %q has %d and %d values", l.Name, len(l.X), len(l.Y))
		}
		for i, x := range l.X {
			if v := x + l.Y[i]; v-v != 0 {
				return fmt.Errorf("curve %q has a point that is not finite", l.Name)
			}
		}
	}
	return nil
}
