package kernels

import (
	"math"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

const (
	// MaxError is the most that gamma |x-y|^2 may be off, as far as that is proved.
	MaxError = 1e-3
	// typicalError is the most for the proved error over the root of the number of values: rounding errors cancel, and
	// those met are smaller than their bound by about that root. It keeps the errors of few columns as small as those
	// of many.
	typicalError = 2e-5
	// vanishing is a gamma |x-y|^2 from which the kernel is below all normal float32, and 0.
	vanishing = 88
	// faint is a gamma |x-y|^2 from which the kernel is below 1e-6, and only MaxError counts.
	faint = 14
	unit  = 0x1p-24 // half the distance from 1 to the next float32
)

// share is what a row contributes to the error of |x-y|^2, which is at most the sum of the shares of both rows.
type share struct {
	proved  float64
	typical float64 // proved over the root of the number of values that are not 0
}

func (a share) plus(b share) share { return share{a.proved + b.proved, a.typical + b.typical} }

func (a share) max(b share) share {
	return share{max(a.proved, b.proved), max(a.typical, b.typical)}
}

// within reports whether a pair of the shares may be taken from products.
func (f Function) within(pair share) bool {
	return f.error(pair) <= MaxError && (f.legacy || f.coarse || float64(f.gamma()*pair.typical) <= typicalError)
}

// error is the proved error of gamma |x-y|^2 by products.
func (f Function) error(pair share) float64 { return float64(f.gamma() * pair.proved) }

// tolerance is the most for the proved error of gamma |x-y|^2 by differences in float32.
func (f Function) tolerance() float64 {
	return min(MaxError, float64(typicalError*math.Sqrt(float64(f.width))))
}

// shareOf is the share of a row. It is computed from the squared norm of the centered row by Dot, and from the
// number n of its values that are not 0: a 0 moves no sum.
//
// With u = 2^-24 and g = n u / (1 - n u), q = nx + ny - 2c errs by up to g (|x|^2 + |y|^2) for c and as much for the
// norms (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 3.1; 2 |xy| <= x^2 + y^2),
// u for nx + ny, 2u for the last step and 2u for the product with gamma. The rounding of x less the origin, by up
// to u |x| in each column, moves |x-y|^2 by 2u (|x| + |y|)^2 <= 4u (|x|^2 + |y|^2). All that is less than (2g/(1-g)
// + 10u) (|x|^2 + |y|^2). A row without a bound has an infinite share.
func (f Function) shareOf(squared float32, n int) share {
	const widest = 1 << 22
	if !(squared <= 0x1p124) || f.width > widest {
		return share{math.Inf(1), math.Inf(1)}
	}
	norm := float64(squared) / (1 - float64(float64(f.width/32+8)*unit))
	g := float64(float64(n)*unit) / (1 - float64(float64(n)*unit))
	relative := float64(2*g)/(1-g) + 10*unit
	proved := float64(norm*relative) + float64(float64(f.width+16)*0x1p-144) // the last is for underflow
	return share{proved, proved / math.Sqrt(float64(max(1, n)))}
}

// gamma is the scale of the rbf kernel.
func (f Function) gamma() float64 { return float64(f.Scale) }

// differencesError bounds the error of gamma d for a d of SqEuclideanRows, which kernelops states relative to d.
func (f Function) differencesError(d float32) float64 {
	h := float64(float64(f.width/32+12) * unit)
	h /= 1 - h
	return float64(f.gamma() * (float64(float64(d)*h) + float64(float64(f.width+8)*0x1p-146)))
}

// exponential is the value of the kernel for gamma |x-y|^2. It vanishes where that of package kernelops does.
func exponential(t float64) float32 {
	const lowest = 87.3
	if t > lowest {
		return 0
	}
	return float32(fmath.Exp(-t))
}

// ValueError bounds how far a value of the rbf kernel may lie from that of the same rows in exact arithmetic: what
// is proved of gamma |x-y|^2, and the roundings of the exponential and its argument.
func (f Function) ValueError(value float32, x, y *Points, i, j int) float64 {
	const tiny = 0x1p-125
	if f.Kind != kernelops.RBF || value == 0 {
		return tiny
	}
	pair, e := x.shares[i].plus(y.shares[j]), MaxError
	switch {
	case f.within(pair):
		e = f.error(pair)
	case value >= 1e-6: // not faint: by differences
		e = f.tolerance()
	}
	e += float64(unit * (e - fmath.Log(float64(value))))
	return float64(float64(value)*(float64(1.01*e)+4*unit)) + tiny
}
