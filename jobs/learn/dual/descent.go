package dual

import "math"

// Descent is the state of the search for the weights w that are best while each coefficient is held near its center:
// those at which
//
//	|w|^2/2 + sum of the values that Near returns
//
// is least. It takes Newton's steps, and shortens one that was too long. Then the coefficients become the centers of
// the next search, whose pull is weaker. With a smooth loss there is no pull, and one search finds the best weights.
type Descent struct {
	Pull  float64
	Loose float64 // factor by which the next pull is weaker
	Value float64 // of the objective where the last step began; the largest number before the first step
	Slope float64 // of the objective there, along the step
	Backs int64   // steps of the search that were too long
}

// WarmPull is a pull to coefficients of 0, at weights that are near the best: found by trial on 2,000 x 12 and
// 1,500 x 500, from weights of 9 in 10 records.
const WarmPull = 1

// Bounds of a search, found by trial on 50,000 x 54 over costs of 1e-4 to 100.
const (
	firstPull  = 10
	firstLoose = 5
	leastPull  = 1e-12 // a pull below it has no effect
	mostBacks  = 8
	arrived    = 0.01  // length of the gradient, as a part of that of the weights, at which centers move
	precision  = 1e-11 // relative, of values of the objective
)

// NewDescent begins a search.
func NewDescent(f Form) Descent {
	d := Descent{Pull: firstPull, Loose: firstLoose, Value: math.MaxFloat64}
	if f.Smooth() {
		d.Pull = 0
	}
	return d
}

// Warm begins from weights that are near the best: with a weaker pull to coefficients of 0, which keeps them near.
func (d Descent) Warm() Descent {
	d.Pull = min(d.Pull, WarmPull)
	return d
}

// Next takes one step from the weights now. There, Near found coefficients whose weights W(alpha) are of, and values
// and bends whose sums are value and triangle; gap is the gap. Next changes now, sets origin to where the step begins,
// and overwrites triangle. moves reports whether the coefficients become the centers, ended whether no step would
// change anything any more.
func (d *Descent) Next(origin, now, of, triangle []float64, value, gap float64) (moves, ended bool) {
	gradient := make([]float64, len(now))
	for j, v := range now {
		gradient[j] = v - of[j]
	}
	value += SquareOf(now) / 2
	if value-d.Value > precision*(math.Abs(value)+math.Abs(d.Value)) {
		d.back(origin, now, gradient)
		return false, false
	}
	size := norm(gradient)
	moves = d.Pull > 0 && size <= arrived*norm(now) && size*size <= 0.1*gap
	step := Newton(triangle, gradient)
	copy(origin, now)
	d.Value, d.Slope = value, dot(gradient, step)
	for j, v := range step {
		now[j] += v
	}
	if moves {
		d.loosen()
		return true, d.Pull < leastPull
	}
	return false, d.Pull == 0 && norm(step) <= 4*unit*norm(now)
}

// back shortens the last step to where the objective is least by the slopes at both ends.
func (d *Descent) back(origin, now, gradient []float64) {
	slope := 0.0
	for j, v := range now {
		slope += float64((v - origin[j]) * gradient[j])
	}
	part := 0.5
	if slope > 0 {
		part = min(0.7, max(0.1, d.Slope/(d.Slope-slope)))
	}
	for j, v := range now {
		now[j] = origin[j] + float64(part*(v-origin[j]))
	}
	d.Slope = float64(d.Slope * part)
	if d.Backs++; d.Backs > mostBacks && d.Pull > 0 {
		copy(now, origin) // the pull is too weak for steps to hold: again from there with a stronger one
		d.Pull, d.Loose = float64(d.Pull*firstLoose), min(d.Loose, 1.5)
		d.Backs, d.Value = 0, math.MaxFloat64
	}
}

// loosen begins the search for the next centers: with a weaker pull, unless steps of the last search were too long.
func (d *Descent) loosen() {
	if d.Backs > 0 {
		d.Loose = math.Sqrt(d.Loose)
	} else {
		d.Pull /= d.Loose
	}
	d.Backs, d.Value = 0, math.MaxFloat64
}
