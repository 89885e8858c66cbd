package knn

import (
	"math"

	"github.com/gram-compute/gram/kernelops/fmath"
)

// power is the p of minkowski: see doc.go, Distances.
type power float64

// wholePowers are computed by multiplication up to this one.
const wholePowers = 8

// of is ratio^p, of a ratio from 0 to 1.
func (p power) of(ratio float64) float64 {
	switch {
	case ratio == 0 || ratio == 1:
		return ratio
	case p <= wholePowers && math.Floor(float64(p)) == float64(p):
		y := ratio
		for range int(p) - 1 { //lint:checked from 1 to 8
			y = float64(y * ratio)
		}
		return y
	}
	return fmath.Exp(float64(float64(p) * fmath.Log(ratio)))
}

// root is the p-th root of a sum of powers of which one is 1.
func (p power) root(sum float64) float64 {
	switch p {
	case 1:
		return sum
	case 2:
		return math.Sqrt(sum)
	}
	return max(1, fmath.Exp(fmath.Log(sum)/float64(p)))
}

// distance is that of x and y. It is at least that of linf, since the root is at least 1.
func (p power) distance(x, y []float32) float64 {
	most := chebyshev64(x, y)
	if most == 0 {
		return 0
	}
	var lane [lanes]float64
	y = y[:len(x)]
	for i := range x {
		if t := math.Abs(float64(x[i]) - float64(y[i])); t != 0 {
			lane[i%lanes] += p.of(t / most)
		}
	}
	return float64(most * p.root(sum(&lane)))
}

// along is the distance of two rows by their differences in columns that ascend; in all others both are 0.
func (p power) along(steps []step) float64 {
	most := linf.along(steps)
	if most == 0 {
		return 0
	}
	var lane [lanes]float64
	for _, s := range steps {
		if s.t != 0 {
			lane[s.lane] += p.of(math.Abs(s.t) / most)
		}
	}
	return float64(most * p.root(sum(&lane)))
}
