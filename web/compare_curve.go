package web

import (
	"fmt"
	"math"
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Where the points of a curve lie, in units of its picture's view box: 440 x 170.
const (
	curveLeft   = 80
	curveRight  = 432
	curveTop    = 12
	curveBottom = 140
)

// drawnCurve is a curve of two jobs, ready to be drawn.
type drawnCurve struct {
	*pb.ComparedCurve
	Left, Right   string // points of SVG polylines
	LeftN, RightN int    // rounds that each job has
	Low, High     string // of the values
	First, Last   uint32 // rounds
	Label         string // says what is drawn
}

// draw places the points of a curve.
func draw(c *pb.ComparedCurve) drawnCurve {
	d := drawnCurve{ComparedCurve: c}
	points := c.GetPoints()
	if len(points) == 0 {
		return d
	}
	d.First, d.Last = points[0].GetRound(), points[len(points)-1].GetRound()
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		for _, v := range []*float64{p.Left, p.Right} {
			if v != nil {
				low, high = min(low, *v), max(high, *v)
			}
		}
	}
	d.Low, d.High = rough(low), rough(high)
	x := scale(float64(d.First), float64(d.Last), curveLeft, curveRight)
	y := scale(low, high, curveBottom, curveTop)
	d.Left, d.LeftN = polyline(points, x, y, func(p *pb.ComparedPoint) *float64 { return p.Left })
	d.Right, d.RightN = polyline(points, x, y, func(p *pb.ComparedPoint) *float64 { return p.Right })
	d.Label = fmt.Sprintf("%s by round, from %s to %s; the left job has %s, the right one %d", c.GetName(), d.Low,
		d.High, protocol.Counted(d.LeftN, "round"), d.RightN)
	return d
}

// missing is how many of the two jobs lack the curve.
func (d drawnCurve) missing() int {
	if d.LeftN == 0 || d.RightN == 0 {
		return 1
	}
	return 0
}

// scale maps values from low to high to lengths from a to b. Where all values are one, it is in the middle.
func scale(low, high, a, b float64) func(float64) float64 {
	return func(v float64) float64 {
		if high == low {
			return (a + b) / 2
		}
		return a + (b-a)*((v/2-low/2)/(high/2-low/2)) // halves, for the difference of two large values may overflow
	}
}

// polyline joins the points that a job has.
func polyline(
	points []*pb.ComparedPoint, x, y func(float64) float64, of func(*pb.ComparedPoint) *float64,
) (line string, n int) {
	var at []string
	for _, p := range points {
		if v := of(p); v != nil {
			at = append(at, fmt.Sprintf("%.1f,%.1f", x(float64(p.GetRound())), y(*v)))
		}
	}
	if len(at) == 1 {
		return at[0] + " " + at[0], 1 // a dot, by the round ends of its line
	}
	return strings.Join(at, " "), len(at)
}
