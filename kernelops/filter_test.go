package kernelops

import (
	"fmt"
	"math"
	"testing"
)

// Bounds in closed form, by hand from the error g = d u/(1 - d u), u = 2^-24, of a chain of d steps:
//
//	2g/(1 - g) + 4u = d/(2^23 - d) + 2^-22
//	h/(1 - h) = n/(2^24 - 2n) of n steps
//
// 2^-146 is 16 times the rounding of the smallest float32.
func fastBound(d float64) float64 { return d/(1<<23-d) + 0x1p-22 }

func directBound(n float64) float64 { return n / (1<<24 - 2*n) }

// about reports whether two numbers agree but for the roundings of float64.
func about(got, want float64) bool { return got == want || math.Abs(got-want) <= 1e-13*math.Abs(want) }

// TestFilterIsTight compares every bound with its closed form: a smaller bound drops a nearest row, a larger one costs
// time for nothing.
func TestFilterIsTight(t *testing.T) {
	for dim, steps := range map[int]float64{1: 12, 3: 12, 31: 12, 32: 13, 63: 13, 64: 14, 784: 36, 100000: 3137} {
		f, d := newFilter(dim), float64(dim)
		for name, c := range map[string][2]float64{
			"relative": {f.relative, fastBound(d)},
			"scan":     {f.scan, fastBound(d) + 6*0x1p-24},
			"direct":   {f.direct, directBound(steps)},
			"absolute": {f.absolute, (d + 8) * 0x1p-146},
		} {
			if !about(c[0], c[1]) {
				t.Errorf("%d columns: %s is %g, want %g", dim, name, c[0], c[1])
			}
		}
	}
}

// TestFilterLastDimension finds the last dimensions with a bound: those of at most a tenth of 2^24 steps.
func TestFilterLastDimension(t *testing.T) {
	const last = 1677721
	const lastDirect = 32*(last-12) + 31
	inf := math.Inf(1)
	for _, c := range []struct {
		dim              int
		relative, direct bool
	}{{last, true, true}, {last + 1, false, true}, {lastDirect, false, true}, {lastDirect + 1, false, false}} {
		f := newFilter(c.dim)
		if (f.relative < 1) != c.relative || (f.scan < 1) != c.relative || (f.direct < 1) != c.direct {
			t.Errorf("%d columns: %+v, want bounds %v and %v", c.dim, f, c.relative, c.direct)
		}
		if low, high := f.bounds(1, 1, 1); math.IsInf(low, -1) == c.relative || math.IsInf(high, 1) == c.relative {
			t.Errorf("%d columns: a distance is between %g and %g", c.dim, low, high)
		}
		if low := f.lowNorms([]float32{7}, []float32{0})[0]; (low == low) != c.relative {
			t.Errorf("%d columns: a low norm of %g", c.dim, low)
		}
		if low, high := f.directBounds(1); math.IsInf(low, -1) == c.direct || math.IsInf(high, 1) == c.direct {
			t.Errorf("%d columns: a direct distance is between %g and %g", c.dim, low, high)
		}
		if limit := f.directLimit(1); (limit < inf) != c.direct {
			t.Errorf("%d columns: limit %g", c.dim, limit)
		}
	}
}

// TestLowNormsByHand takes 3 columns, where a scan errs by a hair more than 16 units of the norm: the next float32
// below 1 less that is 1 - 17u, and below 4, where they are 4u apart, 4 - 68u.
func TestLowNormsByHand(t *testing.T) {
	nan := float32(math.NaN())
	f := newFilter(3)
	above := math.Nextafter32(maxNorm, inf32)
	norms := []float32{0, 1, 4, maxNorm, above, inf32, nan}
	want := []float32{-11 * 0x1p-146, 1 - 17*0x1p-24, 4 - 68*0x1p-24, maxNorm * (1 - 17*0x1p-24), nan, nan, nan}
	for i, low := range f.lowNorms(make([]float32, len(norms)), norms) {
		if low != want[i] && (low == low || want[i] == want[i]) {
			t.Errorf("norm %g: low %g, want %g", norms[i], low, want[i])
		}
	}
}

// TestFilterBoundsByHand has a distance of 5 + 8 - 2*3 = 7, of norms that sum to 13, and the norms at the ends.
func TestFilterBoundsByHand(t *testing.T) {
	above := math.Nextafter32(maxNorm, inf32)
	f := newFilter(3)
	for _, c := range []struct {
		dot, x, y float32
		at, slack float64
	}{
		{3, 5, 8, 7, 13 * fastBound(3)},
		{0, 0, 0, 0, 11 * 0x1p-146},
		{0, maxNorm, 0, maxNorm, maxNorm * fastBound(3)},
		{0, 0, maxNorm, maxNorm, maxNorm * fastBound(3)},
		{0, above, 0, 0, math.Inf(1)},
		{0, 0, above, 0, math.Inf(1)},
	} {
		low, high := f.bounds(c.dot, c.x, c.y)
		checkAround(t, fmt.Sprintf("%+v", c), low, high, c.at, c.slack)
	}
}

func TestDirectBoundsByHand(t *testing.T) {
	const most = math.MaxFloat32
	f := newFilter(40) // 13 steps
	for _, c := range []struct {
		d         float32
		at, slack float64
	}{
		{0, 0, 48 * 0x1p-146},
		{7, 7, 7 * directBound(13)},
		{most, most, most * directBound(13)},
		{inf32, 0, math.Inf(1)},
		{float32(math.NaN()), 0, math.Inf(1)},
	} {
		low, high := f.directBounds(c.d)
		checkAround(t, fmt.Sprintf("%+v", c), low, high, c.at, c.slack)
	}
}

// checkAround demands the bounds at-slack and at+slack.
func checkAround(t *testing.T, where string, low, high, at, slack float64) {
	t.Helper()
	for side, got := range map[string]float64{"below": at - low, "above": high - at} {
		if got != slack && !(math.Abs(got-slack) <= 1e-8*slack) {
			t.Errorf("%s: the bound is %g %s, want %g", where, got, side, slack)
		}
	}
}

// TestDirectLimitByHand: d - d h - a, the lower bound of d, equals limit if d is (limit + a)/(1 - h). One more a and
// 2^-40 of the whole cover the roundings of float64.
func TestDirectLimitByHand(t *testing.T) {
	f := newFilter(40)
	for _, limit := range []float64{0, 7, math.MaxFloat32} {
		want := (limit + 2*48*0x1p-146) * (1<<24 - 26) / (1<<24 - 39) * (1 + 0x1p-40)
		if got := f.directLimit(limit); !about(got, want) {
			t.Errorf("limit of %g: %g, want %g", limit, got, want)
		}
	}
}
