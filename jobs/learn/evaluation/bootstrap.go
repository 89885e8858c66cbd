package evaluation

import (
	"slices"

	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops/philox"
)

// The sums of a replicate.
const (
	replicateWeight = iota
	replicateCorrect
	replicateLogLoss
	replicateBrier
	replicateSums
)

// replicates draw how often a record stands in each replicate of a bootstrap. The counts are Poisson with mean 1, each
// drawn for the identity of the record and the number of the replicate, so no record needs to know of another
// (Chamandy, Muralidharan, Najmi and Naidu, "Estimating uncertainty for massive data streams", 2012).
type replicates struct {
	key philox.Key
	n   int
}

func newReplicates(seed uint64, n int) *replicates {
	return &replicates{philox.New(seed, "evaluation/bootstrap"), n}
}

// poisson has, of each count k, 2^32 times the probability that a Poisson number of mean 1 is at most k, rounded down;
// what is beyond the last is less than 2^-32.
var poisson = []uint32{1580030168, 3160060337, 3950075421, 4213413783, 4279248373, 4292415291, 4294609777, 4294923276,
	4294962463, 4294966817, 4294967252, 4294967292}

// count is the number of a 32-bit draw.
func count(draw uint32) int {
	k := 0
	for k < len(poisson) && draw >= poisson[k] {
		k++
	}
	return k
}

// add adds the terms of a record to the sums of each replicate, as often as it stands there; number is what
// MistakeDraws draws for the identity of the record.
func (r *replicates) add(to *sums.Exact, number uint64, terms [replicateSums]float64) {
	for first := 0; first < r.n; first += 4 {
		a, b := r.key.Block(number, uint64(first/4))
		for i, draw := range [4]uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)} {
			times := float64(count(draw))
			if first+i >= r.n || times == 0 {
				continue
			}
			for j, v := range terms {
				if v != 0 {
					to.Add((first+i)*replicateSums+j, float64(times*v))
				}
			}
		}
	}
}

// Interval is a confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// intervalOf is the percentile interval of a mean: between the values of replicates that leave out as many at either
// end as the probability says (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3). Replicates
// without weight do not count; nil where there is no other.
func intervalOf(replicates *sums.Exact, sum int, confidence float64) *Interval {
	var values []float64
	for at := 0; at < replicates.Len(); at += replicateSums {
		if w := replicates.Float(at + replicateWeight); w > 0 {
			values = append(values, bounded(replicates.Float(at+sum)/w))
		}
	}
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := int(float64((1 - confidence) / 2 * float64(len(values)))) //lint:checked fewer than half
	return &Interval{values[out], values[len(values)-1-out]}
}
