package fmath

import "math"

// LogSumExp returns log(sum of exp(v[i])) without overflow: m + log(sum of
// exp(v[i]-m)) with m the largest element, the sum taken in ascending index.
//
// It is -Inf for an empty v or one of -Inf only, +Inf if an element is +Inf, and NaN if one
// is NaN. With n elements the sum's relative error is below (n+1) 2^-52, which enters the
// result as an absolute error of that size; the last addition rounds once more.
func LogSumExp(v []float64) float64 {
	m := math.Inf(-1)
	for _, x := range v {
		if x != x {
			return math.NaN()
		}
		if x > m {
			m = x
		}
	}
	if m < -math.MaxFloat64 || m > math.MaxFloat64 {
		return m
	}
	sum := 0.0
	for _, x := range v {
		sum += Exp(x - m)
	}
	return m + Log(sum)
}
