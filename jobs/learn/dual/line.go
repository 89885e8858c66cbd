package dual

import "math"

// Course is the direction that some records propose: sums over the records, as of a Standing, and how far all of them
// may go. A Course of no records goes as far as it likes.
type Course struct {
	Gain   float64 // sum of the changes of target alpha - epsilon |alpha|
	Cross  float64 // of q alpha times the change
	Bend   float64 // of q times its square
	Travel float64 // of its magnitude times |x|
	Room   float64 // the longest step that no bound forbids

	Grid [len(steps)]float64 // of the logistic loss: by how much the entropy rises at each of some steps
}

// NewCourse is the course of no records.
func NewCourse() Course { return Course{Room: math.Inf(1)} }

// Add adds the change of one coefficient, whose row has that square.
//
// In a tube a coefficient is two, of at least 0, whose difference it is: along a change past 0 one falls to 0 while the
// other rises, and epsilon times their sum is linear. It is no less than epsilon times the magnitude of the difference,
// so the dual is no lower than what the course says.
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

// room is how far a coefficient may change.
func (l Loss) room(alpha, change, cost float64) float64 {
	switch {
	case l.Epsilon > 0 && (alpha < 0) != (change < 0) && alpha != 0: // toward 0, or past it
		return max(math.Abs(alpha), math.Abs(change))
	case change > 0:
		return l.Upper(cost) - alpha
	}
	return alpha - l.lower(cost)
}

// Step returns how far to go from w along the course of all records, whose sum of change y x is moves: to where the
// dual is greatest, or to the first bound; of the logistic loss, to the best of some steps. It is 0 where the dual does
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

// Drift bounds how far the weights next, which are w + step*moves as float64 has it, are from those of the coefficients
// after the step, where w was at most drift from those before. All is where the records stood before.
func (c Course) Drift(drift float64, all Standing, next []float64, step float64) float64 {
	// Each coefficient is off by 6 units of what it was and of how far it went; moves are sums over blocks of sums over
	// records; each weight is rounded twice.
	travel := float64(step * c.Travel)
	norm := math.Sqrt(SquareOf(next))
	return drift + float64(slack*(float64((gamma(all.Records+4)+float64(10*unit))*travel)+
		float64(6*unit*all.Reach)+float64(2*unit*norm)+tiny))
}
