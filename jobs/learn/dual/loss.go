package dual

import "math"

// Loss is what a record costs that is not on its side of the margin; see the package.
type Loss int32

// The losses.
const (
	Hinge Loss = iota
	SquaredHinge
	Squared
)

// Names of the losses in a spec and in a model, by Loss.
var Names = []string{"hinge", "squared_hinge", "squared"}

// String is the loss's name.
func (l Loss) String() string { return Names[l] }

// Of returns the loss of a record of a margin y <w, x>, before its cost.
func (l Loss) Of(margin float64) float64 {
	short := l.short(margin)
	if l.Smooth() {
		return float64(short * short)
	}
	return short
}

// short is by how much a margin is below 1; above 1 nothing, unless the loss is squared on both sides.
func (l Loss) short(margin float64) float64 {
	if l == Squared {
		return 1 - margin
	}
	return max(0, 1-margin)
}

// slope bounds the derivative of Of between a margin and others near it: of margins that are off by e, the loss is off
// by at most slope*e + bend*e^2.
func (l Loss) slope(margin float64) (slope, bend float64) {
	if l.Smooth() {
		return float64(2 * math.Abs(l.short(margin))), 1
	}
	return 1, 0
}

// Upper is the greatest coefficient of a record of that cost.
func (l Loss) Upper(cost float64) float64 {
	if l.Smooth() {
		return math.Inf(1)
	}
	return cost
}

// lower is the least coefficient.
func (l Loss) lower() float64 {
	if l == Squared {
		return math.Inf(-1)
	}
	return 0
}

// Smooth reports whether the loss is squared. Then its dual is curved, and Near needs no center.
func (l Loss) Smooth() bool { return l != Hinge }

// curvature is q: the dual loses q alpha^2/2.
func (l Loss) curvature(cost float64) float64 {
	if l.Smooth() {
		return 0.5 / cost
	}
	return 0
}

// Ascend returns the coefficient at which the dual is greatest while all others stay: of a record of some cost above 0,
// whose row has that square |x|^2, at weights that give it that margin.
func (l Loss) Ascend(alpha, margin, square, cost float64) float64 {
	q := l.curvature(cost)
	slope := 1 - margin - float64(q*alpha)
	curve := square + q
	switch {
	case curve > 0:
		return l.within(alpha+slope/curve, cost)
	case slope > 0: // of a row of zeros, the dual grows without an end but the bound
		return cost
	case slope < 0:
		return 0
	}
	return alpha
}

// within moves a coefficient to the nearest that is allowed.
func (l Loss) within(alpha, cost float64) float64 { return min(max(alpha, l.lower()), l.Upper(cost)) }

// Moved returns a coefficient after a step along a direction.
func (l Loss) Moved(alpha, change, step, cost float64) float64 {
	return l.within(alpha+float64(step*change), cost)
}

// Violation is by how much a coefficient fails the conditions of an optimum (Karush, Kuhn and Tucker): the slope of the
// dual in the directions in which the coefficient may move; 0 at an optimum.
func (l Loss) Violation(alpha, margin, cost float64) float64 {
	slope := 1 - margin - float64(l.curvature(cost)*alpha)
	switch {
	case alpha <= l.lower():
		return max(0, slope)
	case alpha >= l.Upper(cost):
		return max(0, -slope)
	}
	return math.Abs(slope)
}
