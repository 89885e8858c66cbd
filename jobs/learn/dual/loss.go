package dual

import "math"

// Loss is the cost of a record whose score is short of its target by short = target - y <w, x>. See the package.
type Loss struct {
	Form
	Epsilon float64 // half the width of the tube; 0 of forms without one
}

// Form is the form of a loss.
type Form int32

// The forms.
const (
	Hinge Form = iota
	SquaredHinge
	Squared
	EpsilonInsensitive
	SquaredEpsilonInsensitive
	Logistic
)

// Names of the losses in a spec and in a model, by Form.
var Names = []string{"hinge", "squared_hinge", "squared", "epsilon_insensitive", "squared_epsilon_insensitive",
	"logistic"}

// String is the loss's name.
func (f Form) String() string { return Names[f] }

// Classifies reports whether the loss is for classes.
func (f Form) Classifies() bool { return f <= Squared || f == Logistic }

// Regresses reports whether the loss is for numbers.
func (f Form) Regresses() bool { return f >= Squared && f < Logistic }

// Tube reports whether an error of at most epsilon costs nothing.
func (f Form) Tube() bool { return f == EpsilonInsensitive || f == SquaredEpsilonInsensitive }

// Smooth reports whether the loss is differentiable. Then its dual is strictly concave, and Near needs no center.
func (f Form) Smooth() bool { return f != Hinge && f != EpsilonInsensitive }

// squares reports whether the loss is the square of a distance.
func (f Form) squares() bool { return f.Smooth() && f != Logistic }

// Assumed reports whether the certificate assumes how exact exp and log are: that was measured, and is not proved.
func (f Form) Assumed() bool { return f == Logistic }

// Target is the target of y <w, x> for classes.
func (f Form) Target() float64 {
	if f == Logistic {
		return 0
	}
	return 1
}

// Of returns the loss, before its cost.
func (l Loss) Of(short float64) float64 {
	if l.Form == Logistic {
		return softplus(short)
	}
	beyond := l.beyond(short)
	if l.squares() {
		return float64(beyond * beyond)
	}
	return beyond
}

// beyond is the part of short that has a cost: all of it with the loss squared, with a tube what exceeds epsilon, with
// other losses what is above 0.
func (l Loss) beyond(short float64) float64 {
	switch {
	case l.Form == Squared:
		return short
	case l.Tube():
		return max(0, math.Abs(short)-l.Epsilon)
	}
	return max(0, short)
}

// slope bounds the error of Of: if short is off by e, the loss is off by at most slope*e + bend*e^2. The distance to a
// tube is itself rounded by up to epsilon*unit, so its bend has room for what this adds to the slope.
func (l Loss) slope(short float64) (slope, bend float64) {
	switch {
	case l.Form == SquaredEpsilonInsensitive:
		return float64(2 * l.beyond(short)), 4
	case l.squares():
		return float64(2 * math.Abs(l.beyond(short))), 1
	}
	return 1, 0
}

// Upper is the greatest coefficient of a record of that cost.
func (l Loss) Upper(cost float64) float64 {
	if l.squares() {
		return math.Inf(1)
	}
	return cost
}

// lower is the least coefficient.
func (l Loss) lower(cost float64) float64 {
	if l.Regresses() {
		return -l.Upper(cost)
	}
	return 0
}

// curvature is q: the dual loses q alpha^2/2.
func (l Loss) curvature(cost float64) float64 {
	if l.squares() {
		return 0.5 / cost
	}
	return 0
}

// Ascend returns the coefficient of a record at which the dual is greatest while all others stay. alpha is its
// coefficient now, short how far it is from its target at the weights now, square is |x|^2 of its row; cost must be
// above 0.
func (l Loss) Ascend(alpha, short, square, cost float64) float64 {
	if l.Form == Logistic {
		return ascendLogistic(alpha, short, square, cost)
	}
	q := l.curvature(cost)
	slope, curve := short-float64(q*alpha), square+q
	if l.Epsilon > 0 {
		return l.within(ascendTube(alpha, slope-l.Epsilon, slope+l.Epsilon, curve), cost)
	}
	return l.within(top(alpha, slope, curve), cost)
}

// top returns where the parabola with a slope at alpha and a curvature is greatest; without a curvature, the end in the
// direction of the slope.
func top(alpha, slope, curve float64) float64 {
	switch {
	case curve > 0:
		return alpha + slope/curve
	case slope != 0: // a row of zeros: the dual rises up to the bound
		return math.Copysign(math.Inf(1), slope)
	}
	return alpha
}

// ascendTube is top for a dual whose slope falls by 2 epsilon where the coefficient is 0: up is the slope at alpha of
// the parabola above 0, down of that below.
func ascendTube(alpha, up, down, curve float64) float64 {
	if best := top(alpha, up, curve); best > 0 {
		return best
	}
	return min(0, top(alpha, down, curve))
}

// within returns the allowed coefficient that is nearest to alpha.
func (l Loss) within(alpha, cost float64) float64 {
	return min(max(alpha, l.lower(cost)), l.Upper(cost))
}

// Moved returns a coefficient after a step along a direction, within its bounds.
func (l Loss) Moved(alpha, change, step, cost float64) float64 {
	return l.within(alpha+float64(step*change), cost)
}

// Violation is by how much a coefficient fails the conditions of an optimum (Karush, Kuhn and Tucker): the slope of the
// dual in the directions in which the coefficient may move; 0 at an optimum. For the logistic loss see
// violationLogistic.
func (l Loss) Violation(alpha, short, cost float64) float64 {
	if l.Form == Logistic {
		return violationLogistic(alpha, short, cost)
	}
	slope := short - float64(l.curvature(cost)*alpha)
	up, down := slope-l.Epsilon, slope-l.Epsilon
	if alpha < 0 {
		up = slope + l.Epsilon
	}
	if alpha <= 0 {
		down = slope + l.Epsilon
	}
	violation := 0.0
	if alpha < l.Upper(cost) {
		violation = max(violation, up)
	}
	if alpha > l.lower(cost) {
		violation = max(violation, -down)
	}
	return violation
}

// Rests reports whether a coefficient is at a bound, and would stay there if its row's score changed by less than
// slack. It is false for the logistic loss and for losses of numbers alone.
func (l Loss) Rests(alpha, short, cost, slack float64) bool {
	if !l.Classifies() || l.Form == Logistic {
		return false
	}
	return alpha == l.lower(cost) && short <= -slack || alpha == l.Upper(cost) && short >= slack
}
