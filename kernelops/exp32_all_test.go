package kernelops

import (
	"flag"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/gram-compute/gram/kernelops/fmath"
)

var allExp32 = flag.Bool("exp32", false, "TestExp32All goes over all values, not over one in 997; minutes")

// expRow is how many values a routine is asked for at once: whole vectors of every set.
const expRow = 1 << 12

// expWorst is the largest error that a part of the values has.
type expWorst struct {
	ulps float64
	at   float32
}

// TestExp32All measures exp32 at all 2^31 float32 values with the sign bit, -0, the infinity and every NaN among them,
// against fmath.Exp, whose error is below 2^-26 ulp of float32; without the flag, at every 997th block of them. The
// vector routines give the bits of the Go loop. No other values are asked for: distances are not below 0.
func TestExp32All(t *testing.T) {
	const blocks = 1 << 31 / expRow
	step := uint32(997)
	if *allExp32 {
		step = 1
	}
	workers := runtime.GOMAXPROCS(0)
	worst := make([]expWorst, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for block := uint32(w) * step; block < blocks; block += uint32(workers) * step {
				if !worst[w].add(t, block*expRow) {
					return
				}
			}
		})
	}
	wait.Wait()
	all := worst[0]
	for _, w := range worst[1:] {
		if w.ulps > all.ulps || w.ulps == all.ulps && w.at > all.at {
			all.ulps, all.at = w.ulps, w.at
		}
	}
	t.Logf("largest error %.4f ulp, at %g (%#x)", all.ulps, all.at, math.Float32bits(all.at))
	if !(all.ulps <= 1) {
		t.Errorf("exp32(%g) is off by %.4f ulp, at most 1", all.at, all.ulps)
	}
}

// add goes over a row of values, the first of which has those bits but for its sign.
func (w *expWorst) add(t *testing.T, first uint32) bool {
	var z, want, got, zeros [expRow]float32
	for i := range z {
		z[i] = math.Float32frombits(first + uint32(i))
		want[i] = exp32(-z[i])
		w.judge(-z[i], want[i])
	}
	for _, s := range All() {
		m := s.matrix
		if m == nil {
			continue
		}
		var one [1]float32 // scale -1 of a distance of z + 0 is -z
		m.epilogues[gaussian](&got[0], expRow, &zeros[0], &one[0], &z[0], 1, expRow/m.lanes, -1, 0, 0, false)
		for i := range got {
			if !sameFloat32(got[i], want[i]) {
				t.Errorf("%s: exp32(%g) = %g, want %g", s.Name, -z[i], got[i], want[i])
				return false
			}
		}
	}
	return true
}

// judge compares one value. What underflows is 0, and no result is below the least normal float32.
func (w *expWorst) judge(z, got float32) {
	switch {
	case z != z:
		if got == got {
			w.ulps, w.at = math.Inf(1), z
		}
		return
	case z < expLowest:
		if got != 0 {
			w.ulps, w.at = math.Inf(1), z
		}
		return
	}
	if u := ulps(got, fmath.Exp(float64(z))); u > w.ulps || u == w.ulps && z > w.at {
		w.ulps, w.at = u, z
	}
}
