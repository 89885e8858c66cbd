package calibration

import (
	"math"

	"github.com/gram-compute/gram/kernelops/fmath"
)

// Sigmoid gives the probability 1 / (1 + exp(A f + B)) of the side +1 at a decision f.
type Sigmoid struct{ A, B float64 }

// Probabilities are those of the sides -1 and +1.
func (s Sigmoid) Probabilities(f float64) (minus, plus float64) {
	return halves(float64(s.A*f) + s.B)
}

// halves are 1/(1+exp(-t)) and 1/(1+exp(t)), without a difference that cancels.
func halves(t float64) (minus, plus float64) {
	e := fmath.Exp(-math.Abs(t))
	if t >= 0 {
		return 1 / (1 + e), e / (1 + e)
	}
	return e / (1 + e), 1 / (1 + e)
}

// Sums is how many sums a fit needs of all decisions.
const Sums = 6

// Numbers is how many numbers a Fit is.
const Numbers = 10

// Fit finds the sigmoid that makes known sides most likely, by Newton's method with backtracking (Lin, Lin and Weng, "A
// note on Platt's probabilistic outputs for support vector machines", Machine Learning 68, 2007, algorithm 1). It goes
// in rounds: Terms of all decisions, added up, and Next. The zero value begins.
type Fit struct {
	Sigmoid          // the best so far
	trial    Sigmoid // of which the sums are asked
	plus     float64 // weight of the decisions of +1
	minus    float64
	value    float64 // of the best
	slope    float64 // along the step
	length   float64 // of the step, a power of 1/2
	stepA    float64
	stepB    float64
	progress float64 // rounds; -1 of a fit that is done
}

// List returns the numbers of a fit.
func (f Fit) List() [Numbers]float64 {
	return [...]float64{f.A, f.B, f.plus, f.minus, f.value, f.slope, f.length, f.stepA, f.stepB, f.progress}
}

// FitOf is the inverse of List.
func FitOf(v [Numbers]float64) Fit {
	f := Fit{Sigmoid: Sigmoid{v[0], v[1]}, plus: v[2], minus: v[3], value: v[4], slope: v[5], length: v[6],
		stepA: v[7], stepB: v[8], progress: v[9]}
	f.try()
	return f
}

// Done reports whether the sigmoid is found.
func (f Fit) Done() bool { return f.progress < 0 }

// Terms are what a decision of a known side, and a weight, adds to the sums: in the first round the weight to that of
// its side; then the negative log likelihood with its gradient and its Hessian, by A and B. Targets are not 1 and 0 but
// (n+1)/(n+2) and 1/(n+2), with n the weight of the side.
func (f Fit) Terms(decision, y, weight float64) (t [Sums]float64) {
	if f.progress == 0 {
		if y > 0 {
			t[0] = weight
		} else {
			t[1] = weight
		}
		return t
	}
	target := 1 / (f.minus + 2)
	if y > 0 {
		target = (f.plus + 1) / (f.plus + 2)
	}
	at := float64(f.trial.A*decision) + f.trial.B
	minus, plus := halves(at)
	value := fmath.Log(1 + fmath.Exp(-math.Abs(at)))
	if at >= 0 {
		value += float64(target * at)
	} else {
		value += float64((target - 1) * at)
	}
	slope, bend := target-plus, float64(plus*minus)
	for i, v := range [Sums]float64{value, float64(decision * slope), slope,
		float64(float64(decision*decision) * bend), float64(decision * bend), bend} {
		t[i] = float64(weight * v)
	}
	return t
}

// MostRounds bounds how often Next is called until a fit is done.
const MostRounds = mostSteps + 1

// Limits of the method, those of the paper.
const (
	mostSteps    = 200
	leastStep    = 1e-10
	ridge        = 1e-12
	flat         = 1e-5
	sufficiently = 1e-4
)

// Next takes the sums of all terms.
func (f Fit) Next(s [Sums]float64) Fit {
	f.progress++
	switch {
	case f.progress == 1:
		f.plus, f.minus = s[0], s[1]
		f.B = fmath.Log((f.minus + 1) / (f.plus + 1))
		f.value, f.length = math.MaxFloat64, 1
	case f.progress == 2 || s[0] < f.value+float64(float64(sufficiently*f.length)*f.slope):
		f.Sigmoid, f.value = f.trial, s[0]
		f.turn(s)
	case f.length/2 < leastStep:
		f.progress = -1
	default:
		f.length /= 2
	}
	if f.progress > mostSteps {
		f.progress = -1
	}
	f.try()
	return f
}

// turn takes the direction of Newton's method from the best point, or ends.
func (f *Fit) turn(s [Sums]float64) {
	g1, g2, h11, h21, h22 := s[1], s[2], s[3]+ridge, s[4], s[5]+ridge
	determinant := float64(h11*h22) - float64(h21*h21)
	if math.Abs(g1) < flat && math.Abs(g2) < flat || !(determinant > 0) {
		f.progress, f.stepA, f.stepB = -1, 0, 0
		return
	}
	f.stepA = -(float64(h22*g1) - float64(h21*g2)) / determinant
	f.stepB = -(float64(h11*g2) - float64(h21*g1)) / determinant
	f.slope = float64(g1*f.stepA) + float64(g2*f.stepB)
	f.length = 1
}

// try sets the next point.
func (f *Fit) try() {
	f.trial = Sigmoid{f.A + float64(f.length*f.stepA), f.B + float64(f.length*f.stepB)}
}
