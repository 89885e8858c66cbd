package report

import (
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Worked by hand: an area from 0 to 16 padded by 1, of one scale across and down; the line x = y goes from corner to
// corner of the smaller side, an upright and a level one from side to side, and one beyond is not drawn.
func TestStraightLinesByHand(t *testing.T) {
	a := areaOf([]jobs.PointGroup{{X: []float64{0, 16}, Y: []float64{0, 16}}}, 0, 180, 0, 180)
	if a.x.low != -1 || a.x.high != 17 || a.y.low != -1 || a.y.high != 17 {
		t.Fatalf("%+v", a)
	}
	for want, l := range map[string]jobs.StraightLine{
		`<line x1="0" y1="180" x2="180" y2="0" class="rule"/>`:                        {A: 1, B: -1},
		`<line x1="90" y1="180" x2="90" y2="0" class="rule" stroke-dasharray="6 4"/>`: {A: 2, C: -16, Dashed: true},
		`<line x1="0" y1="90" x2="180" y2="90" class="rule"/>`:                        {B: -3, C: 24},
		"": {A: 1, B: 1, C: 100},
	} {
		s := newPicture(chartClass, 180, 180, "", "")
		head := s.Len()
		a.straight(s, l)
		if got := strings.TrimSpace(string(s.Bytes()[head:])); got != want {
			t.Errorf("%+v: %s, not %s", l, got, want)
		}
	}
}

// Right angles stay right where the picture is not squeezed by that; points alone have an area too.
func TestAreas(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		one  bool // scale
	}{
		{[]float64{0, 2}, []float64{0, 1}, true}, {[]float64{-1e6, 1e6}, []float64{0, 1}, false},
		{[]float64{0, 1}, []float64{5, 7}, true}, {[]float64{3}, []float64{4}, true}, {nil, nil, true},
	} {
		a := areaOf([]jobs.PointGroup{{X: c.x, Y: c.y}}, 0, 400, 0, 300)
		across, down := (a.x.high-a.x.low)/400, (a.y.high-a.y.low)/300
		if one := math.Abs(across-down) < 1e-12*across; one != c.one {
			t.Errorf("%+v: %v across, %v down", c, across, down)
		}
		for i := range c.x {
			if x, y := a.x.at(c.x[i]), a.y.at(c.y[i]); x < 0 || x > 400 || y < 0 || y > 300 {
				t.Errorf("%+v: a point at %v, %v", c, x, y)
			}
		}
	}
}

// Landmarks are crosses, without the color and the mark of a group.
func TestLandmarks(t *testing.T) {
	a := areaOf([]jobs.PointGroup{{X: []float64{0, 16}, Y: []float64{0, 16}}}, 0, 180, 0, 180)
	s := newPicture(chartClass, 180, 180, "", "")
	head := s.Len()
	a.points(s, 1, jobs.PointGroup{X: []float64{8}, Y: []float64{8}, Marked: []bool{false}, Landmark: true})
	want := `<path d="M90 90m-7 0h14m-7 -7v14" class="landmark behind"/>
<path d="M90 90m-7 0h14m-7 -7v14" class="landmark"/>`
	if got := strings.TrimSpace(string(s.Bytes()[head:])); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestScatterFaults(t *testing.T) {
	for name, g := range map[string]jobs.PointGroup{
		"no y": {X: []float64{1}, Marked: []bool{false}}, "no marks": {X: []float64{1}, Y: []float64{1}},
		"NaN": {X: []float64{math.NaN()}, Y: []float64{1}, Marked: []bool{true}},
	} {
		if _, err := draw(jobs.Figure{Scatter: &jobs.ScatterPlot{Groups: []jobs.PointGroup{g}}}); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
}

// Worked by hand: over an area from -1 to 17, the curve from 0, 0 by 8, 8 to 100, 8 goes on beyond the area, where an
// element of its own cuts it off.
func TestCurvesByHand(t *testing.T) {
	a := areaOf([]jobs.PointGroup{{X: []float64{0, 16}, Y: []float64{0, 16}}}, 0, 180, 0, 180)
	s := newPicture(chartClass, 180, 180, "", "")
	head := s.Len()
	a.curves(s, []jobs.Curve{{Name: "margin", X: []float64{0, 8, 100}, Y: []float64{0, 8, 8}, Dashed: true}})
	want := `<svg x="0" y="0" width="180" height="180" viewBox="0 0 180 180">
<polyline points="10,170 90,90 1010,90" fill="none" class="rule" stroke-dasharray="6 4"/>
</svg>`
	if got := strings.TrimSpace(string(s.Bytes()[head:])); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for name, c := range map[string]jobs.Curve{"no y": {X: []float64{1}}, "infinite": {X: []float64{1},
		Y: []float64{math.Inf(1)}}} {
		if _, err := draw(jobs.Figure{Scatter: &jobs.ScatterPlot{Curves: []jobs.Curve{c}}}); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
	plot := &jobs.ScatterPlot{Curves: []jobs.Curve{{Name: "boundary"}, {Name: "margin"}, {Name: "margin"}}}
	if list := scatterLegend(plot); len(list) != 2 {
		t.Errorf("%d entries of the legend", len(list))
	}
}
