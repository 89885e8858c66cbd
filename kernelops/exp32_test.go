package kernelops

import (
	"math"
	"testing"

	"github.com/gram-compute/gram/kernelops/fmath"
)

// ulps is the error of got in units in the last place of a float32 near want.
func ulps(got float32, want float64) float64 {
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

func TestExp32Special(t *testing.T) {
	for _, c := range []struct{ z, want float32 }{
		{0, 1}, {float32(math.Copysign(0, -1)), 1}, {-0x1p-149, 1}, {-87.31, 0}, {-1000, 0},
		{float32(math.Inf(-1)), 0}, {-math.MaxFloat32, 0}, {float32(math.NaN()), float32(math.NaN())},
	} {
		if got := exp32(c.z); !sameFloat32(got, c.want) {
			t.Errorf("exp32(%g) = %g, want %g", c.z, got, c.want)
		}
	}
	if got := exp32(expLowest); got < 0x1p-126 {
		t.Errorf("exp32(%g) = %g, a subnormal", expLowest, got)
	}
}

func TestTanh32(t *testing.T) {
	worst, at := 0.0, float32(0)
	for b := uint32(1); b <= math.Float32bits(12); b += 1009 {
		x := math.Float32frombits(b)
		got := tanh32(x)
		if u := ulps(got, fmath.Tanh(float64(x))); u > worst {
			worst, at = u, x
		}
		if tanh32(-x) != -got {
			t.Fatalf("tanh32(%g) is not odd", x)
		}
	}
	t.Logf("largest error %.3f ulp, at %g", worst, at)
	if worst > 3 {
		t.Errorf("tanh32(%g) is off by %.3f ulp, at most 3", at, worst)
	}
	inf := float32(math.Inf(1))
	if tanh32(inf) != 1 || tanh32(-inf) != -1 || tanh32(11) != 1 ||
		!math.Signbit(float64(tanh32(float32(math.Copysign(0, -1))))) {
		t.Error("tanh32 at infinity or -0")
	}
	if got := tanh32(float32(math.NaN())); got == got {
		t.Errorf("tanh32(NaN) = %g", got)
	}
}
