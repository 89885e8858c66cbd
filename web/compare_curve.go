package web

import (
	"html/template"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// comparedCurve is a curve of two jobs, ready to be drawn.
type comparedCurve struct {
	*pb.ComparedCurve
	Picture     template.HTML
	Left, Right int // rounds that each job has
}

// compareCurves draws the curve of both jobs over each other.
func compareCurves(c *pb.ComparedCurve) comparedCurve {
	left, right := series{Name: c.GetName() + ", left"}, series{Name: c.GetName() + ", right"}
	for _, p := range c.GetPoints() {
		left.add(p.GetRound(), p.Left)
		right.add(p.GetRound(), p.Right)
	}
	drawn := comparedCurve{ComparedCurve: c, Left: len(left.Values), Right: len(right.Values)}
	both := curve{Measure: c.GetName(), Series: []series{left, right}}
	if drawn.Left > 0 || drawn.Right > 0 {
		drawn.Picture = drawCurve(both)
	}
	return drawn
}

// add adds a value of a round, if there is one.
func (s *series) add(round uint32, v *float64) {
	if v != nil {
		s.Rounds, s.Values = append(s.Rounds, round), append(s.Values, *v)
	}
}

// missing is 1 if one of the jobs lacks the curve.
func (c comparedCurve) missing() int {
	if c.Left == 0 || c.Right == 0 {
		return 1
	}
	return 0
}
