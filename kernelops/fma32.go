package kernelops

import "math"

// fma32 returns a*b + c rounded once to float32: what the FMA instructions compute, on
// every machine. The product of two float32 is exact in float64, so s below carries the
// only rounding before the one to float32. Rounding twice can differ from rounding once
// only if s lies halfway between two float32, or is a float32 subnormal.
//
// Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
// using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
func fma32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	s := p + float64(c)
	if roundsTwice(s) {
		return roundOnce(p, float64(c), s)
	}
	return float32(s)
}

const (
	tieMask   = 1<<29 - 1     // the bits of a float64 that a normal float32 lacks
	tieBits   = 1 << 28       // they say: halfway
	minNormal = 0x381 << 52   // 2^-126, the smallest normal float32, as float64 bits
	signless  = 1<<63 - 1     // all but the sign
	subnormal = minNormal - 1 // bits b with b-1 below this are subnormal and not zero
)

// roundsTwice reports whether float32(s) may be the wrong rounding of a sum that
// gave s in float64. A zero sum of exact terms is exact.
func roundsTwice(s float64) bool {
	b := math.Float64bits(s)
	return b&tieMask == tieBits || b&signless-1 < subnormal
}

// roundOnce returns p + c rounded to float32, where s is their sum in float64. It rounds
// the sum to odd first: if s is inexact and even, the neighbor towards the
// exact sum is odd, and lies on the right side of every float32 tie.
func roundOnce(p, c, s float64) float32 {
	t := s - p
	e := (p - (s - t)) + (c - t) // s + e is exactly p + c (Knuth's TwoSum)
	b := math.Float64bits(s)
	if e != 0 && e == e && b&1 == 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return float32(math.Float64frombits(b))
}

// chain32 continues the chain of fused multiply-adds from c:
//
//	for k := range x {
//		c = fma32(x[k], y[k], c)
//	}
func chain32(x, y []float32, c float32) float32 {
	y = y[:len(x)]
	for k, v := range x {
		c = fma32(v, y[k], c)
	}
	return c
}
