package smo

import "math"

// tau stands for a curvature that is not above 0, of equal points or of a kernel that is not positive semidefinite
// (Chang and Lin, section 4.1.2).
const tau = 1e-12

// Working is the dual over N variables, while all others stay as they are. Solve changes Alpha and Gradient.
type Working struct {
	N        int
	K        []float64 // kernel values [N x N], symmetric
	Y        []float64 // +1 or -1
	Cost     []float64 // upper bounds; at least 0, +Inf allowed
	Alpha    []float64 // within 0 and Cost
	Gradient []float64 // Qa + p, with the products of the other variables
}

// search is the state of Solve.
type search struct {
	*Working
	value    []float64 // -y G
	up, low  []float64 // 0 of a member; else -Inf for I_up and +Inf for I_low, which no comparison with them passes
	diagonal []float64 // of K
}

// Solve makes pairs of coefficients optimal, one pair at a time, until the violation is at most tol, until maxSteps
// pairs have moved, or until rounding hides the next step. It returns the number of steps. Each step takes time O(N)
// and no memory.
//
// The pair is the greatest value over I_up and the partner whose quadratic falls most; ties go to the lowest index
// (Fan, Chen and Lin, "Working set selection using second order information for training support vector machines",
// JMLR 6, 2005, WSS 2). A coefficient that reaches a bound has exactly its value.
func (w *Working) Solve(tol float64, maxSteps int) (steps int) {
	memory := make([]float64, 4*w.N)
	part := func(n int) []float64 { return memory[n*w.N : (n+1)*w.N : (n+1)*w.N] }
	s := search{w, part(0), part(1), part(2), part(3)}
	for i := range w.N {
		s.value[i] = -float64(w.Y[i] * w.Gradient[i])
		s.diagonal[i] = w.K[i*w.N+i]
		s.join(i)
	}
	for steps < maxSteps {
		i, violation := s.first()
		if !(violation > tol) {
			break
		}
		j := s.second(i)
		if j < 0 || !s.move(i, j) {
			break
		}
		steps++
	}
	for i, v := range s.value {
		w.Gradient[i] = -float64(w.Y[i] * v)
	}
	return steps
}

// join sets in which sets variable i is.
func (s *search) join(i int) {
	up, low := Sides(s.Alpha[i], s.Y[i], s.Cost[i])
	s.up[i], s.low[i] = math.Inf(-1), math.Inf(1)
	if up {
		s.up[i] = 0
	}
	if low {
		s.low[i] = 0
	}
}

// first returns the variable of the greatest value over I_up, and the violation.
func (s *search) first() (i int, violation float64) {
	most, least := math.Inf(-1), math.Inf(1)
	up, low := s.up[:len(s.value)], s.low[:len(s.value)]
	for k, v := range s.value {
		if u := v + up[k]; u > most {
			i, most = k, u
		}
		if l := v + low[k]; l < least {
			least = l
		}
	}
	return i, most - least
}

// row returns row i of the kernel matrix.
func (s *search) row(i int) []float64 { return s.K[i*s.N : (i+1)*s.N] }

// curvature is that of the objective along a pair, from both diagonal values and their kernel value.
func curvature(a, b, k float64) float64 {
	if c := a + b - float64(2*k); !(c <= 0) {
		return c
	}
	return tau
}

// second returns the partner of i in I_low with which the objective falls most; -1 if no value is below that of i.
func (s *search) second(i int) (j int) {
	j = -1
	gain, own, most := -1.0, s.diagonal[i], s.value[i]
	row := s.row(i)[:len(s.value)]
	low, diagonal := s.low[:len(s.value)], s.diagonal[:len(s.value)]
	for k, v := range s.value {
		if b := most - (v + low[k]); b > 0 {
			if g := float64(b*b) / curvature(own, diagonal[k], row[k]); g > gain {
				j, gain = k, g
			}
		}
	}
	return j
}

// move raises y a of i and lowers that of j as far as is best for both. It reports whether one of them changed.
func (s *search) move(i, j int) bool {
	step := (s.value[i] - s.value[j]) / curvature(s.diagonal[i], s.diagonal[j], s.K[i*s.N+j])
	step = min(step, s.room(i, s.Y[i]), s.room(j, -s.Y[j]))
	if !(step > 0) { // also of kernel values that are no numbers
		return false
	}
	di, dj := s.change(i, s.Y[i], step), s.change(j, -s.Y[j], step)
	if di == 0 && dj == 0 {
		return false
	}
	s.join(i)
	s.join(j)
	ofI, ofJ := s.row(i)[:len(s.value)], s.row(j)[:len(s.value)]
	for k := range s.value {
		s.value[k] -= float64(ofI[k]*di) + float64(ofJ[k]*dj)
	}
	return true
}

// room is how far coefficient i may go: up if the sign is above 0, else down.
func (s *search) room(i int, sign float64) float64 {
	if sign > 0 {
		return s.Cost[i] - s.Alpha[i]
	}
	return s.Alpha[i]
}

// change moves coefficient i and returns the change of y a.
func (s *search) change(i int, sign, step float64) float64 {
	before, bound := s.Alpha[i], 0.0
	if sign > 0 {
		bound = s.Cost[i]
	}
	if step == s.room(i, sign) {
		s.Alpha[i] = bound
	} else {
		s.Alpha[i] = min(max(before+float64(sign*step), 0), s.Cost[i])
	}
	return float64(s.Y[i] * (s.Alpha[i] - before))
}
