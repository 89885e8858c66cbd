package dual

import "math"

// Descent is how far the search is for the weights w that are best while each coefficient is held near its center:
// those at which
//
//	|w|^2/2 + sum of the values that Near returns
//
// is least. It takes Newton's steps, and a part of one that was too long. Then the coefficients become the centers of
// the next search, whose pull is weaker. Where the loss is smooth there is no pull, and one search finds the best
// weights of all.
type Descent struct {
	Pull  float64
	Loose float64 // by how much the next pull is weaker
	Value float64 // of the objective where the last step began; the largest number where none did
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
	leastPull  = 1e-12 // below it, centers do not hold any more
	mostBacks  = 8
	arrived    = 0.01  // gradient, as a part of the weights, at which centers move on
	precision  = 1e-11 // of values
)

// NewDescent begins.
func NewDescent(f Form) Descent {
	d := Descent{Pull: firstPull, Loose: firstLoose, Value: math.MaxFloat64}
	if f.Smooth() {
		d.Pull = 0
	}
	return d
}

// Warm begins from weights that are near the best: with a weaker pull to coefficients of 0, which leads less far away.
func (d Descent) Warm() Descent {
	d.Pull = min(d.Pull, WarmPull)
	return d
}

// Next goes on from the weights now, at which Near found coefficients of the weights of, values and bends that were
// added up, and a gap: it changes now, and origin to where the step begins. The triangle is lost. It reports whether
// the coefficients are the centers from here on, and whether it is at its end: no step would change anything.
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

// back shortens the last step to where the slopes at its ends say that the objective is least.
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

// loosen begins the search for the next centers: if the last was easy, with a weaker pull.
func (d *Descent) loosen() {
	if d.Backs > 0 {
		d.Loose = math.Sqrt(d.Loose)
	} else {
		d.Pull /= d.Loose
	}
	d.Backs, d.Value = 0, math.MaxFloat64
}
