package kernelops

import "math"

// exp(z) = 2^n (1 + r + r^2 P(r)), where n is z/ln 2 rounded to an integer and
// r = z - n ln 2 in two steps. P interpolates (exp(r)-1-r)/r^2 at five Chebyshev nodes of
// |r| <= ln 2/2, which leaves 0.1 ulp.
const (
	log2e     = 0x1.715476p+0   // 1/ln 2
	ln2High   = 0x1.63p-1       // near ln 2, with so few bits that n*ln2High is exact
	ln2Low    = -0x1.bd0106p-13 // ln 2 - ln2High
	expLowest = -87.3           // exp of less is 0; exp of this is the last above the subnormals, nearly
	tanhOne   = 10              // tanh of more is 1
)

// expFactors are the coefficients of P, highest power first.
var expFactors = [...]float32{0x1.6d113cp-10, 0x1.120ba2p-7, 0x1.55551ap-5, 0x1.5554dcp-3, 0x1p-1}

// exp32 returns exp(z) for z that is not positive, within 1 ulp, and 0 below -87.3.
func exp32(z float32) float32 {
	switch {
	case z != z:
		return z
	case z < expLowest:
		return 0
	}
	r, p, field := expParts(z)
	e := fma32(fma32(p, r, 1), r, 1)
	return math.Float32frombits(math.Float32bits(e) + field)
}

// tanh32 returns tanh(t) within 3 ulp: through exp(-2|t|) - 1, which stays exact near 0.
func tanh32(t float32) float32 {
	if t != t {
		return t
	}
	a := min(float32(math.Abs(float64(t))), tanhOne)
	r, p, field := expParts(float32(-2 * a))
	q := fma32(float32(r*r), p, r)
	s := math.Float32frombits(math.Float32bits(1) + field)
	e := fma32(s, q, s-1)
	y := e / (2 + e)
	return math.Float32frombits(math.Float32bits(y)&^(1<<31) | math.Float32bits(t)&(1<<31))
}

// expParts returns r, P(r) and n as an exponent field, n << 23. z is between expLowest and 0.
func expParts(z float32) (r, p float32, field uint32) {
	n := float32(math.RoundToEven(float64(float32(z * log2e))))
	r = fma32(-n, ln2High, z)
	r = fma32(-n, ln2Low, r)
	p = expFactors[0]
	for _, c := range expFactors[1:] {
		p = fma32(p, r, c)
	}
	//lint:checked n is an integer from -126 to 0
	return r, p, uint32(int32(n)) << 23
}
