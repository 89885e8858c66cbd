package fmath

// veltkamp cuts a float64 into two halves of 26 bits: 2^27 + 1.
const veltkamp = 1<<27 + 1

// fastTwoSum returns s = a+b rounded and its error, s + e = a + b exactly. It
// needs a = 0 or |a| >= |b| (Dekker 1971).
func fastTwoSum(a, b float64) (s, e float64) {
	s = a + b
	return s, b - (s - a)
}

// twoSum is fastTwoSum without a condition (Knuth, TAOCP 2, section 4.2.2, theorem B).
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// split returns x as a sum of two numbers of at most 26 bits each; |x| < 2^996.
func split(x float64) (hi, lo float64) {
	c := float64(veltkamp * x)
	hi = c - (c - x)
	return hi, x - hi
}

// twoProd returns p = x*y rounded and its error, p + e = x*y exactly, as long as
// nothing overflows or underflows: |x|, |y| < 2^996 and |x*y| > 2^-968 or zero.
func twoProd(x, y float64) (p, e float64) {
	p = float64(x * y)
	xh, xl := split(x)
	yh, yl := split(y)
	e = float64(xh*yh) - p
	e += float64(xh * yl)
	e += float64(xl * yh)
	e += float64(xl * yl)
	return p, e
}
