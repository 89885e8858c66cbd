package evaluation

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
)

// resampled goes through the scores of a ranking from the highest down, as sweep does, for each replicate of a
// bootstrap. Records of one place (score, weight) and side are alike for all figures of a ranking, so that all that
// matters of a replicate is how many of them it has: a sum of Poisson numbers of mean 1, which is a Poisson number. It
// is drawn for the place, so that no records need to be gathered in the order of their scores.
type resampled struct {
	key  philox.Key
	sums []float64 // resampledSums of each replicate
}

// The sums of a replicate; the sums of a side are followed by those of the positive one.
const (
	openMass      = 0 // of the score that is being gathered
	aboveMass     = 2 // of the scores so far
	pairMass      = 4 // twice the mass of the pairs that are ranked right, ties as a half
	precisionMass = 5 // sum of mass times precision
	resampledSums = 6
)

func newResampled(replicates int) *resampled {
	return &resampled{sums: make([]float64, replicates*resampledSums)}
}

// resampleKey is the randomness of a ranking.
func resampleKey(seed uint64, ranking int) philox.Key {
	return philox.New(seed, fmt.Sprint("evaluation/bootstrap/ranking/", ranking))
}

// take takes in the records of a place. O(replicates) for records that are alone, else O(replicates log records).
func (r *resampled) take(v ranked) {
	w := float64(math.Float32frombits(v.weight))
	if r == nil || !(w > 0) {
		return
	}
	for side, mean := range [2]int64{v.negative, v.positive} {
		if mean == 0 {
			continue
		}
		draws := stream{key: r.key, a: v.key, b: uint64(v.weight)<<32 | uint64(side)<<31}
		for at := openMass + side; at < len(r.sums); at += resampledSums {
			if n := draws.poisson(mean); n != 0 {
				r.sums[at] += float64(float64(n) * w)
			}
		}
	}
}

// close counts the open score.
func (r *resampled) close() {
	if r == nil {
		return
	}
	for at := 0; at < len(r.sums); at += resampledSums {
		s := r.sums[at : at+resampledSums : at+resampledSums]
		negative, positive := s[openMass], s[openMass+1]
		if negative == 0 && positive == 0 {
			continue
		}
		s[openMass], s[openMass+1] = 0, 0
		s[pairMass] += float64(negative * (float64(2*s[aboveMass+1]) + positive))
		s[aboveMass] += negative
		s[aboveMass+1] += positive
		if positive > 0 {
			s[precisionMass] += float64(positive * (s[aboveMass+1] / (s[aboveMass] + s[aboveMass+1])))
		}
	}
}

// intervals are those of the AUC and of the average precision. A replicate without positive records does not count; for
// the AUC, neither does one without negative records.
func (r *resampled) intervals(confidence float64) (auc, average *Interval) {
	if r == nil {
		return nil, nil
	}
	var areas, precisions []float64
	for at := 0; at < len(r.sums); at += resampledSums {
		negative, positive := r.sums[at+aboveMass], r.sums[at+aboveMass+1]
		if pairs := float64(negative * positive); pairs > 0 {
			areas = append(areas, bounded(r.sums[at+pairMass]/(2*pairs)))
		}
		if positive > 0 {
			precisions = append(precisions, bounded(r.sums[at+precisionMass]/positive))
		}
	}
	return percentiles(areas, confidence), percentiles(precisions, confidence)
}

// resampledField lists what there is under a name.
func resampledField(f *jobs.Fields, name string, r **resampled) {
	if !f.Has(name, *r != nil) {
		return
	}
	list := &jobs.Make(f, r).sums
	jobs.List(f, name, list, -1, resampledSums)
	f.Check(func() error {
		for i, v := range *list {
			if !(v >= 0) || v > math.MaxFloat64 {
				return jobs.Malformed("a replicate with the sum %v at %d", v, i)
			}
		}
		return nil
	})
}
