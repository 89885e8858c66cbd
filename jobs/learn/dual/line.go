package dual

import "math"

// Course measures a direction, the changes of the coefficients of some records: sums over the records, and the longest
// step that the bounds of all of them allow. A Course of no records has no longest step.
type Course struct {
	Gain   float64 // sum of the changes of target alpha - epsilon |alpha|
	Cross  float64 // of q alpha times the change
	Bend   float64 // of q times its square
	Travel float64 // of the magnitude of the change times |x|
	Room   float64 // the longest step that no bound forbids

	Grid [len(steps)]float64 // of the logistic loss: by how much the entropy rises at each of some steps
}

// NewCourse is the course of no records.
func NewCourse() Course { return Course{Room: math.Inf(1)} }

// Add adds the change of one coefficient; square is |x|^2 of its row.
//
// With an epsilon, a coefficient is the difference of two that are at least 0. Along a change past 0 one falls to 0
// while the other rises, and epsilon times their sum is linear. That is no less than epsilon times the magnitude of the
// difference, so the dual is no lower than the course has it.
func (c *Course) Add(l Loss, target, alpha, change, square, cost float64) {
	if change == 0 {
		return
	}
	q := l.curvature(cost)
	c.Gain += float64(target*change) - float64(l.Epsilon*(math.Abs(alpha+change)-math.Abs(alpha)))
	c.Cross += float64(float64(q*alpha) * change)
	c.Bend += float64(float64(q*change) * change)
	c.Travel += float64(math.Abs(change) * math.Sqrt(square))
	if l.Form == Logistic {
		c.addEntropy(alpha, change, cost)
	}
	const shorter = 1 - 0x1p-50 // than the rounding of the quotient
	c.Room = min(c.Room, float64(l.room(alpha, change, cost)/math.Abs(change)*shorter))
}

// room is how far a coefficient may change in the direction of change.
func (l Loss) room(alpha, change, cost float64) float64 {
	switch {
	case l.Epsilon > 0 && (alpha < 0) != (change < 0) && alpha != 0: // toward 0, or past it
		return max(math.Abs(alpha), math.Abs(change))
	case change > 0:
		return l.Upper(cost) - alpha
	}
	return alpha - l.lower(cost)
}

// Step returns how far to go from w along the course of all records, with moves the sum of change y x: to where the
// dual is greatest, or to the first bound; with the logistic loss, to the best of a few steps. It is 0 if the dual does
// not rise.
func (c Course) Step(l Loss, w, moves []float64) float64 {
	cross := 0.0
	for j, v := range moves {
		cross += float64(w[j] * v)
	}
	if l.Form == Logistic {
		return c.best(cross, SquareOf(moves))
	}
	slope, curve := c.Gain-c.Cross-cross, c.Bend+SquareOf(moves)
	switch {
	case !(slope > 0):
		return 0
	case curve > 0:
		return min(slope/curve, c.Room)
	case c.Room < math.Inf(1):
		return c.Room
	}
	return 0
}

// Drift bounds how far the weights next, w + step*moves in float64, are from those of the coefficients after the step,
// if w was at most drift from those of the coefficients before. all has the records before the step.
func (c Course) Drift(drift float64, all Standing, next []float64, step float64) float64 {
	// Each coefficient is off by 6 units of what it was and of how far it went; moves are sums over blocks of sums over
	// records; each weight is rounded twice.
	travel := float64(step * c.Travel)
	norm := math.Sqrt(SquareOf(next))
	return drift + float64(slack*(float64((gamma(all.Records+4)+float64(10*unit))*travel)+
		float64(6*unit*all.Reach)+float64(2*unit*norm)+tiny))
}
