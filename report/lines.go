package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// axis maps values to pixels.
type axis struct{ low, high, from, to float64 }

func (a axis) at(v float64) float64 {
	if a.high == a.low {
		return (a.from + a.to) / 2
	}
	return a.from + (a.to-a.from)*(v-a.low)/(a.high-a.low)
}

// ticks are multiples of 1, 2 or 5 times a power of ten within the axis, at most seven.
func (a axis) ticks() []float64 {
	span := a.high - a.low
	if !(span > 0) {
		return []float64{a.low}
	}
	power := math.Pow(10, math.Floor(math.Log10(span))-1)
	for i := 0; ; i++ {
		step := power * []float64{1, 2, 5}[i%3] * math.Pow(10, float64(i/3))
		if span/step > 6 {
			continue
		}
		var at []float64
		for n := math.Ceil(a.low / step); n*step <= a.high+step/1e9; n++ {
			at = append(at, n*step)
		}
		return at
	}
}

// lineChart draws every series with a mark at each value that is finite.
func lineChart(c *jobs.LineChart) []byte {
	const width, height, left, top, bottom = 720, 320, 82, 14, 268
	right := 700.0
	if len(c.Series) > 1 {
		right = 560
	}
	x, y := axes(c.Series, left, right, bottom, top)
	s := newSVG(width, height)
	for _, v := range y.ticks() {
		s.line(left, y.at(v), right, y.at(v), "grid")
		s.text(left-8, y.at(v)+4, "end", "faint", number(v))
	}
	for _, v := range x.ticks() {
		if v != math.Trunc(v) && wholeX(c.Series) {
			continue // there is no round 1.5
		}
		s.line(x.at(v), bottom, x.at(v), bottom+5, "axis")
		s.text(x.at(v), bottom+20, "middle", "faint", number(v))
	}
	s.line(left, bottom, right, bottom, "axis")
	s.text((left+right)/2, height-8, "middle", "ink", c.X)
	s.vertical(14, (top+bottom)/2, c.Y)
	for i, series := range c.Series {
		color, key := palette[i%len(palette)], 12
		if series.Reference {
			color, key = referenceColor, 4
		}
		drawSeries(s, series, x, y, color)
		if len(c.Series) > 1 {
			fmt.Fprintf(s, `<rect x="%s" y="%d" width="12" height="%d" fill="%s"/>`+"\n", px(right+14),
				top+20*i+(12-key)/2, key, color)
			s.text(right+32, float64(top+20*i+11), "start", "ink", shorten(series.Name, 17))
		}
	}
	return s.end()
}

func wholeX(all []jobs.Series) bool {
	for _, series := range all {
		for _, v := range series.X {
			if v != math.Trunc(v) {
				return false
			}
		}
	}
	return true
}

// axes spans all finite values; the vertical one begins at 0 where that is not far away.
func axes(all []jobs.Series, left, right, bottom, top float64) (x, y axis) {
	x = axis{math.Inf(1), math.Inf(-1), left + 8, right - 8}
	y = axis{math.Inf(1), math.Inf(-1), bottom, top}
	for _, series := range all {
		for i, v := range series.Y {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				x.low, x.high = min(x.low, series.X[i]), max(x.high, series.X[i])
				y.low, y.high = min(y.low, v), max(y.high, v)
			}
		}
	}
	if x.low > x.high {
		return axis{0, 1, left, right}, axis{0, 1, bottom, top}
	}
	if y.low > 0 && y.low < 0.7*y.high {
		y.low = 0
	}
	pad := (y.high - y.low) / 20
	if y.high += pad; y.low != 0 {
		y.low -= pad
	}
	return x, y
}

func drawSeries(s *svg, series jobs.Series, x, y axis, color string) {
	var points []string
	for i, v := range series.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		at := px(x.at(series.X[i])) + "," + px(y.at(v))
		points = append(points, at)
	}
	dashes := ""
	if series.Reference {
		dashes = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n",
		strings.Join(points, " "), color, dashes)
	if len(points) > 60 || series.Reference {
		return // marks would hide the line
	}
	for _, at := range points {
		cx, cy, _ := strings.Cut(at, ",")
		fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", cx, cy, color)
	}
}
