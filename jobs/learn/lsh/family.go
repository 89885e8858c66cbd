package lsh

import (
	"math"

	"github.com/gram-compute/gram/kernelops/fmath"
)

// Family is a family of hash functions.
type Family int

// The families; see the package.
const (
	Bits Family = iota
	Normal
	Cauchy
	Hyperplanes
)

// Wide reports whether the values of a family are numbers of buckets of some width.
func (f Family) Wide() bool { return f == Normal || f == Cauchy }

// Agree is the probability that one function gives two rows at the distance d one value: d as the metric of the family
// has it, for Hyperplanes 1 - cosine. Width is that of the buckets, columns that of the rows, which Bits alone needs.
// The probability falls as d grows, from 1 at 0.
func (f Family) Agree(d, width float64, columns int) float64 {
	if d <= 0 {
		return 1
	}
	switch f {
	case Bits:
		return max(0, 1-d/float64(columns))
	case Normal:
		return agreeNormal(width / d)
	case Cauchy:
		return agreeCauchy(width / d)
	}
	angle := float64(2 * fmath.Asin(math.Sqrt(min(d, 2)/2)))
	return max(0, 1-angle/math.Pi)
}

// small is where the series of the formulas takes over, which are differences of two numbers that are nearly one.
const small = 1e-3

// agreeNormal is formula (1) of Datar et al. for the normal distribution, s the width over the distance:
//
//	erf(s/sqrt(2)) - sqrt(2/pi)/s (1 - exp(-s^2/2)).
func agreeNormal(s float64) float64 {
	if s < small {
		return float64(float64(s/math.Sqrt(2*math.Pi)) * (1 - float64(s*s)/12))
	}
	tail := float64(float64(math.Sqrt(2/math.Pi)/s) * (1 - fmath.Exp(float64(-s*s)/2)))
	return min(1, max(0, erf(s/math.Sqrt2)-float64(tail)))
}

// erf is the error function of x of at least 0, to some 2e-15: 2/sqrt(pi) exp(-x^2) times the sum over n of
// 2^n x^(2n+1) / (1*3*...*(2n+1)), whose terms are positive (Abramowitz and Stegun, 7.1.6).
func erf(x float64) float64 {
	if x >= 6 {
		return 1
	}
	square := float64(2 * float64(x*x))
	sum, term := 0.0, x
	for n := 1; term > sum*0x1p-54; n++ {
		sum += term
		term = float64(term*square) / float64(2*n+1)
	}
	return min(1, float64(float64(2/math.Sqrt(math.Pi)*fmath.Exp(float64(-x*x)))*sum))
}

// agreeCauchy is that for Cauchy's distribution: 2/pi atan(s) - ln(1 + s^2) / (pi s).
func agreeCauchy(s float64) float64 {
	square := float64(s * s)
	if s < small {
		return float64(s*(1-square/6+float64(square*square)/15)) / math.Pi
	}
	if square > math.MaxFloat64 {
		return 1
	}
	root := math.Sqrt(1 + square)
	atan := fmath.Asin(s / root)
	if s > 1 {
		atan = math.Pi/2 - fmath.Asin(1/root)
	}
	return min(1, max(0, float64(2*atan)/math.Pi-fmath.Log(1+square)/float64(math.Pi*s)))
}
