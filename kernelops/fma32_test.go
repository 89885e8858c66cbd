package kernelops

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA32ByHand holds the cases where rounding to float64 first goes wrong, each worked out
// beside it.
func TestFMA32ByHand(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	const maxFloat, denorm = math.MaxFloat32, math.SmallestNonzeroFloat32
	for _, c := range []struct{ a, b, c, want float32 }{
		{2, 3, 4, 10},
		{0.1, 10, -1, 0x1p-26}, // the float32 0.1 is 13421773 * 2^-27: exact product minus 1 is 2 * 2^-27
		// 1 + 2^-24 - 2^-70: below the tie, so 1; float64 rounds it onto the tie, then away for an odd c.
		{1 + 0x1p-23, 0x1p-24, 1, 1 + 0x1p-23}, // 1 + 2^-24 + 2^-47: above the tie
		// the product is 2^-24(1 - 2^-46): below the tie
		{(1 + 0x1p-23) * 0x1p-24, 1 - 0x1p-23, 1 + 0x1p-23, 1 + 0x1p-23},
		{(1 + 0x1p-22) * 0x1p-24, 1 - 0x1p-22, 1 + 3*0x1p-23, 1 + 3*0x1p-23}, // the same with 2^-44
		{-(1 + 0x1p-23) * 0x1p-24, 1 - 0x1p-23, -1 - 0x1p-23, -1 - 0x1p-23},  // and negative
		{0x1p24 + 2, 1, 0x1p-100, 0x1p24 + 2},                                // exact float32 with a tiny addend
		// 33558527 is odd, needs 25 bits: tie, and a tiny addend above it
		{4097, 8191, 0x1p-60, 33558528},
		{4097, 8191, -0x1p-60, 33558526}, // and below it
		// 2^-150: half the smallest subnormal, ties to even
		{0x1p-75, 0x1p-75, 0, 0},
		{0x1p-75, 0x1p-75 + 0x1p-98, 0, denorm},                                // a little above it
		{0x1p-75, 0x1p-75, denorm, 2 * denorm},                                 // 1.5 of the smallest, ties to even
		{0x1p-100, 0x1p-100, denorm, denorm},                                   // far below
		{maxFloat, 2, -maxFloat, maxFloat},                                     // no overflow inside
		{maxFloat, 1, 0x1p102, maxFloat},                                       // below the tie with 2^128
		{maxFloat, 1, 0x1p103, inf},                                            // on it: away from the odd significand
		{0, -1, 0, 0}, {0, 1, float32(math.Copysign(0, -1)), 0}, {1, 1, -1, 0}, // zeros are +0 unless both terms are -0
		{inf, 1, 1, inf}, {inf, 0, 1, nan}, {inf, 1, -inf, nan}, {1, 1, -inf, -inf}, {nan, 1, 1, nan},
	} {
		got := fma32(c.a, c.b, c.c)
		if !sameFloat32(got, c.want) {
			t.Errorf("fma32(%g, %g, %g) = %g, want %g", c.a, c.b, c.c, got, c.want)
		}
	}
	negative := float32(math.Copysign(0, -1))
	if got := fma32(0, -1, negative); !math.Signbit(float64(got)) {
		t.Errorf("fma32(0, -1, -0) = %g, want -0", got)
	}
}

// TestFMA32Exact compares with math/big on arguments chosen to make ties, subnormals,
// cancellation and overflow, and counts how often rounding twice would have been wrong:
// a test set without such cases proves nothing.
func TestFMA32Exact(t *testing.T) {
	n := 1_200_000
	if testing.Short() {
		n = 60_000
	}
	r := rand.New(rand.NewPCG(3, 0))
	naive := 0
	for i := range n {
		a, b, c := adversary(r, i)
		want := exactFMA32(a, b, c)
		if got := fma32(a, b, c); !sameFloat32(got, want) {
			t.Fatalf("fma32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
		if twice := float32(float64(float64(a)*float64(b)) + float64(c)); !sameFloat32(twice, want) {
			naive++
		}
	}
	t.Logf("%d cases; rounding twice is wrong in %d", n, naive)
	if naive < n/50 {
		t.Errorf("rounding twice is wrong in %d of %d cases only: the cases are too easy", naive, n)
	}
}

// adversary returns the i-th case: each residue is one way to be difficult.
func adversary(r *rand.Rand, i int) (a, b, c float32) {
	sign := func(x float64) float32 { return float32(math.Copysign(x, r.Float64()-0.5)) }
	switch i % 6 {
	case 0: // product = 2^-24 (1 - i^2 2^-46), c odd near 1
		j := float64(1 + r.IntN(1000))
		return sign((1 + j*0x1p-23) * 0x1p-24), float32(1 - j*0x1p-23), sign(1 + float64(r.IntN(1<<23))*0x1p-23)
	case 1: // odd 25-bit integer and a tiny addend
		p := 1 + 2*r.IntN(1<<11)
		q := (1<<24+r.IntN(1<<24))/p | 1
		return sign(float64(p)), float32(q), sign(math.Ldexp(1, -60-r.IntN(60)))
	case 2: // about the smallest subnormal
		return sign(math.Ldexp(1+r.Float64(), -60-r.IntN(30))), sign(math.Ldexp(1+r.Float64(), -60-r.IntN(30))),
			sign(float64(math.Float32frombits(r.Uint32() >> (8 + r.UintN(22)))))
	case 3: // short significands, wide exponents: ties with sticky bits
		return sign(math.Ldexp(float64(r.IntN(1<<13)), r.IntN(60)-30)),
			sign(math.Ldexp(float64(r.IntN(1<<13)), r.IntN(60)-30)),
			sign(math.Ldexp(float64(r.IntN(1<<13)), r.IntN(60)-30))
	case 4: // about the largest
		return sign(math.Ldexp(1+r.Float64(), 63)), sign(math.Ldexp(1+r.Float64(), 63)),
			sign(math.Ldexp(1+r.Float64(), 126))
	}
	return float32FromBits(r), float32FromBits(r), float32FromBits(r)
}

// float32FromBits draws any float32 but NaN and the infinities.
func float32FromBits(r *rand.Rand) float32 {
	for {
		x := math.Float32frombits(r.Uint32())
		if x-x == 0 {
			return x
		}
	}
}

// exactFMA32 is a*b + c of finite arguments, computed without error and rounded once.
func exactFMA32(a, b, c float32) float32 {
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(700).SetFloat64(float64(x)) }
	sum := new(big.Float).SetPrec(700).Mul(exact(a), exact(b))
	sum.Add(sum, exact(c))
	got, _ := sum.Float32()
	return got
}

// sameFloat32 compares numbers bit by bit, but lets exact zero differ in sign (math/big has
// other rules) and any NaN equal any.
func sameFloat32(x, y float32) bool {
	return x == y && (x == 0 || math.Float32bits(x) == math.Float32bits(y)) || x != x && y != y
}

// FuzzFMA32 compares with math/big on any bits.
func FuzzFMA32(f *testing.F) {
	f.Add(uint32(0x33800001), uint32(0x3f7ffffe), uint32(0x3f800001))
	f.Add(uint32(0x1a000000), uint32(0x1a000000), uint32(1))
	f.Fuzz(func(t *testing.T, x, y, z uint32) {
		a, b, c := math.Float32frombits(x), math.Float32frombits(y), math.Float32frombits(z)
		if (a-a)+(b-b)+(c-c) != 0 {
			t.Skip("not finite")
		}
		if got, want := fma32(a, b, c), exactFMA32(a, b, c); !sameFloat32(got, want) {
			t.Fatalf("fma32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	})
}
