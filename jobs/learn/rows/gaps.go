package rows

import (
	"math"

	"github.com/gram-compute/gram/jobs"
)

// gapBits are those of every NaN that stands for a missing number in kept rows. Formats of arrays have others, too, and
// a model is of the numbers.
const gapBits = 0x7fc00000

// IsGap reports whether a number is missing.
func IsGap(v float32) bool { return v != v }

// oneGap gives all missing numbers the same bits.
func oneGap(values []float32) {
	for i, v := range values {
		if IsGap(v) {
			values[i] = math.Float32frombits(gapBits)
		}
	}
}

// checkNumbers refuses dense numbers that are not finite, but for those that are missing where they may be.
func (r *Rows) checkNumbers() error {
	if !r.Gaps {
		return finite(r.Dense)
	}
	for i, v := range r.Dense {
		if v-v != 0 && math.Float32bits(v) != gapBits {
			return jobs.Malformed("value %d of the base is %v", i, v)
		}
	}
	return nil
}

// SquaredPresent is |x-y|^2 in float64 over the given columns, in their order; false where y misses one of them.
func SquaredPresent(columns []int, x, y []float32) (squared float64, ok bool) {
	for _, j := range columns {
		if IsGap(y[j]) {
			return 0, false
		}
		d := float64(x[j]) - float64(y[j])
		squared += float64(d * d)
	}
	return squared, true
}
