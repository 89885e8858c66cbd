package kernelops

import (
	"math"
	"testing"
)

// scoreBound is the relative bound in closed form, by hand from g = d u/(1 - d u), u = 2^-24:
//
//	2 (g + 6u)/(1 - g) = (d + 6 - 6 d u)/(2^23 - d)
func scoreBound(d float64) float64 { return (d + 6 - 6*d*0x1p-24) / (1<<23 - d) }

// TestNearestBoundIsTight compares the bound with its closed form: a smaller bound is wrong for some row, a larger one
// computes distances in float64 for nothing. More than a tenth of 2^24 columns have no bound.
func TestNearestBoundIsTight(t *testing.T) {
	for _, d := range []int{1, 3, 32, 784, 100000, 1677721} {
		b := newNearestBound(d)
		if want := scoreBound(float64(d)); !about(b.relative, want) {
			t.Errorf("%d columns: relative bound %g, want %g", d, b.relative, want)
		}
		if want := float64(d+8) * 0x1p-146; b.absolute != want {
			t.Errorf("%d columns: absolute bound %g, want %g", d, b.absolute, want)
		}
	}
	none := newNearestBound(1677722)
	if !math.IsInf(none.relative, 1) || none.lowNorms([]float32{7}, []float32{0}) {
		t.Errorf("%g bounds sums of 1677722 products", none.relative)
	}
}

// TestScoreNormsByHand takes 3 columns, where a score errs by a hair more than 18 units of the norm: the next float32
// below 1 less that is 1 - 19u, and below 4, where they are 4u apart, 4 - 76u.
func TestScoreNormsByHand(t *testing.T) {
	b, low := newNearestBound(3), make([]float32, 1)
	for norm, want := range map[float32]float32{
		0: -11 * 0x1p-146, 1: 1 - 19*0x1p-24, 4: 4 - 76*0x1p-24, maxNorm: maxNorm * (1 - 19*0x1p-24),
	} {
		if ok := b.lowNorms(low, []float32{norm}); !ok || low[0] != want {
			t.Errorf("norm %g: %g, %v, want %g", norm, low[0], ok, want)
		}
	}
	for _, norm := range []float32{math.Nextafter32(maxNorm, inf32), inf32, float32(math.NaN())} {
		if b.lowNorms(make([]float32, 3), []float32{1, norm, 2}) {
			t.Errorf("norm %g has a bound", norm)
		}
	}
}

// TestScoreLimitByHand: the least score is of the center of norm 7, the row's norm is 3, so the limit is 2*7 + 3 times
// the relative bound above it.
func TestScoreLimitByHand(t *testing.T) {
	b, norms := newNearestBound(3), []float32{5, 7, 0}
	if got, want := b.limit(2, 3, norms, 1)-2, 17*scoreBound(3); math.Abs(got-want) > 1e-8*want {
		t.Errorf("the limit is %g above the least score, want %g", got, want)
	}
	if got, want := b.limit(0, 0, norms, 2), 2*11*0x1p-146; got != want {
		t.Errorf("the limit of zeros is %g, want %g", got, want)
	}
	if got, want := b.limit(0, maxNorm, norms, 2), maxNorm*scoreBound(3); !about(got, want) {
		t.Errorf("the limit of the largest norm is %g, want %g", got, want)
	}
	for _, norm := range []float32{math.Nextafter32(maxNorm, inf32), inf32, float32(math.NaN())} {
		if got := b.limit(0, norm, norms, 2); !math.IsInf(got, 1) {
			t.Errorf("row of norm %g: limit %g", norm, got)
		}
	}
}
