package margin

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Worked by hand: x - 1/2 over four cells of the square is 0 on an upright line, whose points have y 0, 1/2 and 1; as
// part of a cell a contour is where linear interpolation has it.
func TestContourByHand(t *testing.T) {
	g := &Grid{X1: 1, Y1: 1, steps: 2, values: make([]float64, 9)}
	for i, p := range g.Points() {
		g.Set(i, p[0]-0.25)
	}
	curves := g.Contour("boundary", 0, true)
	if len(curves) != 1 || !slices.Equal(curves[0].X, []float64{0.25, 0.25, 0.25}) || !curves[0].Dashed {
		t.Fatalf("%+v", curves)
	}
	if y := slices.Sorted(slices.Values(curves[0].Y)); !slices.Equal(y, []float64{0, 0.5, 1}) {
		t.Errorf("%v", y)
	}
	if far := g.Contour("boundary", 9, false); far != nil {
		t.Errorf("%+v", far)
	}
}

// A saddle has two curves, which depend on the mean of its corners.
func TestSaddle(t *testing.T) {
	for _, low := range []float64{-1, -3} {
		g := &Grid{X1: 1, Y1: 1, steps: 1, values: []float64{2, low, low, 2}}
		curves := g.Contour("x", 0, false)
		if len(curves) != 2 {
			t.Fatalf("%+v", curves)
		}
		// The corner (0, 0) is high: it is cut off if the middle is low.
		cut := false
		for _, c := range curves {
			cut = cut || c.X[0]+c.Y[0] < 0.9 && c.X[1]+c.Y[1] < 0.9
		}
		if cut != (low == -3) {
			t.Errorf("corners of 2 and %v: %+v", low, curves)
		}
	}
}

// A circle is one closed curve whose points are near it, and lines to the border are open ones; all begin and end where
// they do, however many there are.
func TestContours(t *testing.T) {
	groups := []jobs.PointGroup{{X: []float64{-2, 2}, Y: []float64{-2, 2}}}
	g := GridOf(groups, 64)
	for i, p := range g.Points() {
		g.Set(i, p[0]*p[0]+p[1]*p[1])
	}
	curves := g.Contour("circle", 1, false)
	if len(curves) != 1 || curves[0].X[0] != curves[0].X[len(curves[0].X)-1] {
		t.Fatalf("%d curves, %+v", len(curves), curves)
	}
	for i, x := range curves[0].X {
		if r := math.Hypot(x, curves[0].Y[i]); math.Abs(r-1) > 2e-3 {
			t.Errorf("a point at %v", r)
		}
	}
	for i, p := range g.Points() {
		g.Set(i, math.Sin(2*p[0])*math.Cos(3*p[1]))
	}
	pieces := 0
	for _, level := range []float64{0, 0.3} {
		for _, c := range g.Contour("waves", level, false) {
			pieces++
			last := len(c.X) - 1
			closed := c.X[0] == c.X[last] && c.Y[0] == c.Y[last]
			border := func(i int) bool {
				return c.X[i] == g.X0 || c.X[i] == g.X1 || c.Y[i] == g.Y0 || c.Y[i] == g.Y1
			}
			if !closed && !(border(0) && border(last)) {
				t.Errorf("level %v: a curve from %v, %v to %v, %v", level, c.X[0], c.Y[0], c.X[last], c.Y[last])
			}
			for i, x := range c.X {
				if off := math.Sin(2*x)*math.Cos(3*c.Y[i]) - level; math.Abs(off) > 0.02 {
					t.Errorf("level %v: %v off", level, off)
				}
			}
		}
	}
	if pieces < 8 {
		t.Errorf("%d curves", pieces)
	}
}

// A grid spans its points with room around, more of it where an axis is short, but not if the other is far longer.
func TestGrids(t *testing.T) {
	for _, c := range []struct{ x, y []float64 }{
		{[]float64{0, 8}, []float64{0, 8}}, {[]float64{0, 8}, []float64{0, 4}}, {[]float64{0, 1}, []float64{0, 1e6}},
		{[]float64{3}, []float64{-4}}, {nil, nil}, {[]float64{5, 5}, []float64{0, 2}},
	} {
		g := GridOf([]jobs.PointGroup{{X: c.x, Y: c.y}}, 4)
		if !(g.X1 > g.X0 && g.Y1 > g.Y0) || len(g.Points()) != 25 {
			t.Errorf("%+v: %+v", c, g)
		}
		for i, x := range c.x {
			if x <= g.X0 || x >= g.X1 || c.y[i] <= g.Y0 || c.y[i] >= g.Y1 {
				t.Errorf("%+v: a point is not within %+v", c, g)
			}
		}
	}
	if g := GridOf([]jobs.PointGroup{{X: []float64{0, 1}, Y: []float64{0, 1e6}}}, 4); g.X1-g.X0 > 2 {
		t.Errorf("%+v", g)
	}
}
