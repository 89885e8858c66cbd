package evaluation

import (
	"fmt"
	"iter"
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

// add adds the terms of a record to the sums of each replicate, as often as it stands there; number is what
// MistakeDraws draws for the identity of the record.
func (r *replicates) add(to *sums.Exact, number uint64, terms [replicateSums]float64) {
	for replicate, times := range r.counts(number) {
		for j, v := range terms {
			if v != 0 {
				to.Add(replicate*replicateSums+j, float64(float64(times)*v))
			}
		}
	}
}

// counts yields the replicates in which a record stands, and how often it does.
func (r *replicates) counts(number uint64) iter.Seq2[int, int] {
	return func(yield func(replicate, times int) bool) {
		for first := 0; first < r.n; first += 4 {
			a, b := r.key.Block(number, uint64(first/4))
			for i, draw := range [4]uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)} {
				if times := count(draw); first+i < r.n && times != 0 && !yield(first+i, times) {
					return
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

// cell is the interval in a table, with its ends in that format; empty for none.
func (i *Interval) cell(format string) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(format+" to "+format, i.Low, i.High)
}

func intervalsCaption(confidence float64, replicates int) string {
	return fmt.Sprintf("Intervals at %s, from %d bootstrap replicates.", percent(confidence), replicates)
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
	return percentiles(values, confidence)
}

// percentiles is the interval of the values of replicates, which it sorts; nil without any.
func percentiles(values []float64, confidence float64) *Interval {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := int(float64((1 - confidence) / 2 * float64(len(values)))) //lint:checked fewer than half
	return &Interval{values[out], values[len(values)-1-out]}
}
