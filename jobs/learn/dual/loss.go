package dual

import "math"

// Loss is what a record costs whose score is short of its target: by short, target - y <w, x>. See the package.
type Loss struct {
	Form
	Epsilon float64 // half the width of the tube; 0 of forms without one
}

// Form is that of a loss.
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

// Classifies reports whether the loss is one of classes.
func (f Form) Classifies() bool { return f <= Squared || f == Logistic }

// Regresses reports whether the loss is one of numbers.
func (f Form) Regresses() bool { return f >= Squared && f < Logistic }

// Tube reports whether what is off by no more than an epsilon costs nothing.
func (f Form) Tube() bool { return f == EpsilonInsensitive || f == SquaredEpsilonInsensitive }

// Smooth reports whether the loss has a slope everywhere that bends. Then its dual is curved, and Near needs no center.
func (f Form) Smooth() bool { return f != Hinge && f != EpsilonInsensitive }

// squares reports whether the loss is a square of what is beyond a margin or a tube.
func (f Form) squares() bool { return f.Smooth() && f != Logistic }

// Assumed reports whether the certificate assumes how exact exp and log are, which was measured and not proved.
func (f Form) Assumed() bool { return f == Logistic }

// Target is what y <w, x> of a class falls short of.
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

// beyond is the part that costs something: squared, the loss is squared on both sides; in a tube there is none.
func (l Loss) beyond(short float64) float64 {
	switch {
	case l.Form == Squared:
		return short
	case l.Tube():
		return max(0, math.Abs(short)-l.Epsilon)
	}
	return max(0, short)
}

// slope bounds the derivative of Of between what a record is short and others near it: of those that are off by e, the
// loss is off by at most slope*e + bend*e^2. The distance to a tube is rounded by up to e = epsilon*unit as well, so
// that its bend has room for what this adds to the slope.
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

// Ascend returns the coefficient at which the dual is greatest while all others stay: of a record of some cost above 0,
// whose row has that square |x|^2, at weights at which it is short by so much.
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

// top is where a parabola of that slope at alpha and that curve is greatest; of none, where it ends.
func top(alpha, slope, curve float64) float64 {
	switch {
	case curve > 0:
		return alpha + slope/curve
	case slope != 0: // of a row of zeros, the dual grows without an end but the bound
		return math.Copysign(math.Inf(1), slope)
	}
	return alpha
}

// ascendTube is top where the slope at alpha falls at 0, by 2 epsilon: up is what it is as a coefficient above 0, down
// as one below.
func ascendTube(alpha, up, down, curve float64) float64 {
	if best := top(alpha, up, curve); best > 0 {
		return best
	}
	return min(0, top(alpha, down, curve))
}

// within moves a coefficient to the nearest that is allowed.
func (l Loss) within(alpha, cost float64) float64 {
	return min(max(alpha, l.lower(cost)), l.Upper(cost))
}

// Moved returns a coefficient after a step along a direction.
func (l Loss) Moved(alpha, change, step, cost float64) float64 {
	return l.within(alpha+float64(step*change), cost)
}

// Violation is by how much a coefficient fails the conditions of an optimum (Karush, Kuhn and Tucker): the slope of the
// dual in the directions in which the coefficient may move; 0 at an optimum. Of the logistic loss, see there.
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

// Rests reports whether a coefficient is at a bound and would stay there if its row's score changed by any less than
// slack: of the losses of classes whose coefficients have bounds that they reach.
func (l Loss) Rests(alpha, short, cost, slack float64) bool {
	if !l.Classifies() || l.Form == Logistic {
		return false
	}
	return alpha == l.lower(cost) && short <= -slack || alpha == l.Upper(cost) && short >= slack
}
