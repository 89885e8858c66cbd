package evaluation

import (
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/sums"
)

// The counts have the probabilities of a Poisson number of mean 1.
func TestPoisson(t *testing.T) {
	below, p := 0.0, math.Exp(-1)
	for k, limit := range poisson {
		if below += p; int64(limit) != int64(below*(1<<32)) {
			t.Errorf("%d draws are up to %d, not %v", limit, k, below*(1<<32))
		}
		p /= float64(k + 1)
	}
	for draw, want := range map[uint32]int{0: 0, 1580030167: 0, 1580030168: 1, 4213413783: 4, math.MaxUint32: 12} {
		if got := count(draw); got != want {
			t.Errorf("%d gives %d, not %d", draw, got, want)
		}
	}
}

// The interval of an accuracy has the width of its binomial deviation, and holds the accuracy.
func TestBootstrapInterval(t *testing.T) {
	const records, replicates = 400, 1000
	r, to := newReplicates(3, replicates), sums.NewExact(replicates*replicateSums)
	for i := range records {
		right := 0.0
		if i%4 != 0 {
			right = 1
		}
		r.add(to, uint64(i)*0x9e3779b97f4a7c15, [replicateSums]float64{1, right})
	}
	got := intervalOf(to, replicateCorrect, 0.95)
	half := 1.96 * math.Sqrt(0.75*0.25/records)
	if math.Abs(got.Low-(0.75-half)) > 0.01 || math.Abs(got.High-(0.75+half)) > 0.01 {
		t.Errorf("%+v, not 0.75 and %v less and more", got, half)
	}
	if intervalOf(sums.NewExact(8), replicateCorrect, 0.5) != nil {
		t.Error("an interval without records")
	}
}
