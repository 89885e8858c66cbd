package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// histogram draws the groups on top of each other, each with an outline of its own.
func histogram(title string, h *jobs.Histogram) []byte {
	x := scale{axis: axis{low: h.Edges[0], high: h.Edges[len(h.Edges)-1]}}
	y := scale{}
	for _, g := range h.Groups {
		for _, v := range g.Values {
			y.high = max(y.high, v)
		}
	}
	if y.high *= 1.05; y.high == 0 {
		y.high = 1
	}
	p := plotOf(x, y, plotHeight)
	var entries []entry
	for i, g := range h.Groups {
		entries = append(entries, entry{g.Name, func(s *svg, x, y float64) {
			fmt.Fprintf(s, `<rect x="%s" y="%s" width="28" height="12" class="area %s"/>`+"\n", px(x-14), px(y-6),
				classOf(i))
			fmt.Fprintf(s, `<path d="M%s %sh28" class="line %s"%s/>`+"\n", px(x-14), px(y-6), classOf(i), dashOf(i))
		}})
	}
	l := flowing(entries, chartWidth-p.left)
	s := newPicture(chartClass, chartWidth, p.bottom+plotFoot+l.height(), title, describeHistogram(h))
	p.frame(s, h.X, h.Y)
	for i, g := range h.Groups {
		var path strings.Builder
		fmt.Fprintf(&path, "M%s %s", px(p.x.at(h.Edges[0])), px(p.bottom))
		for j, v := range g.Values {
			fmt.Fprintf(&path, "V%sH%s", px(p.y.at(v)), px(p.x.at(h.Edges[j+1])))
		}
		fmt.Fprintf(&path, "V%s", px(p.bottom))
		fmt.Fprintf(s, `<path d="%sz" class="area %s"/>`+"\n", path.String(), classOf(i))
		fmt.Fprintf(s, `<path d="%s" class="line %s"%s/>`+"\n", path.String(), classOf(i), dashOf(i))
	}
	if h.Zero && x.low <= 0 && 0 <= x.high {
		s.line(p.x.at(0), p.top, p.x.at(0), p.bottom, "rule")
	}
	l.draw(s, p.left, p.bottom+plotFoot)
	return s.end()
}

// describeHistogram tells where the groups are.
func describeHistogram(h *jobs.Histogram) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s by %s, in %d bins.", h.Y, h.X, len(h.Edges)-1)
	for _, g := range h.Groups {
		most := 0
		for j, v := range g.Values {
			if v > g.Values[most] {
				most = j
			}
		}
		fmt.Fprintf(&text, " %s: most from %s to %s.", g.Name, brief(h.Edges[most]), brief(h.Edges[most+1]))
	}
	return text.String()
}

// checkHistogram refuses what has no area.
func checkHistogram(h *jobs.Histogram) error {
	if len(h.Edges) < 2 {
		return fmt.Errorf("%d edges make no bin", len(h.Edges))
	}
	for i, edge := range h.Edges {
		if edge-edge != 0 || i > 0 && !(edge > h.Edges[i-1]) || math.Abs(edge) > math.MaxFloat64/4 {
			return fmt.Errorf("edge %d is %v", i, edge)
		}
	}
	for _, g := range h.Groups {
		if len(g.Values) != len(h.Edges)-1 {
			return fmt.Errorf("group %q has %d values for %d bins", g.Name, len(g.Values), len(h.Edges)-1)
		}
		for _, v := range g.Values {
			if !(v >= 0 && v <= math.MaxFloat64/4) {
				return fmt.Errorf("group %q has a bin of %v", g.Name, v)
			}
		}
	}
	return nil
}
