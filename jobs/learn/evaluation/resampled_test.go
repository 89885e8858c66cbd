package evaluation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Draws of a mean have that mean and that variance, within five of their own deviations.
func TestPoissonNumbers(t *testing.T) {
	const draws = 4000
	for _, mean := range []int64{0, 1, 7, 31, 32, 1000, 1<<20 + 5, 1<<31 + 77} {
		s := stream{key: philox.New(1, "test"), a: uint64(mean)}
		sum, squares := 0.0, 0.0
		for range draws {
			d := float64(s.poisson(mean) - mean)
			sum, squares = sum+d, squares+d*d
		}
		m := float64(mean)
		if off := math.Abs(sum / draws); off > 5*math.Sqrt(m/draws) {
			t.Errorf("mean %d: %v off", mean, off)
		}
		// The fourth central moment of a Poisson number is m (1 + 3 m).
		if off := math.Abs(squares/draws - m); off > 5*math.Sqrt((m*(1+3*m)-m*m)/draws) {
			t.Errorf("mean %d: variance off by %v", mean, off)
		}
	}
}

// A table has the distribution: of mean 32, 25 and less have a probability of 0.12536 (summed in 40 digits).
func TestPoissonTable(t *testing.T) {
	table := newPoissonTable(32)
	want, p := 0.0, math.Exp(-32)
	for k := range 26 {
		want += p
		p *= 32 / float64(k+1)
	}
	if got := float64(table.below[25-table.first]) * 0x1p-64; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, not %v", got, want)
	}
	if got := table.number(0); got != table.first {
		t.Error("the least draw gives", got)
	}
	if got := table.number(math.MaxUint64); got > 32+12*6+40 {
		t.Error("the greatest draw gives", got)
	}
}

// Three records by hand. Of each replicate, the AUC is what the counts of its places say.
func TestResampledByHand(t *testing.T) {
	c := scoredCase{Scale: "probability", Labels: []string{"a", "b"}, Truth: []int{1, 0, 1},
		Weights: []float32{1, 1, 1}, Scores: [][]float64{{0.1, 0.9}, {0.4, 0.6}, {0.8, 0.2}}}
	s := scoringOf(50)
	judged := tallyOf(t, c, s, 0, 3)
	state, err := (&Ranks{Scoring: s}).begin(judged)
	if err != nil || state.take(judged.scores.rankings, s) {
		t.Fatal("there is one round", err)
	}
	drawn := func(score float64, side uint64) (counts []float64) {
		draws := stream{key: resampleKey(s.seed, 0), a: keyOf(score), b: uint64(one)<<32 | side<<31}
		for range 50 {
			counts = append(counts, float64(draws.poisson(1)))
		}
		return counts
	}
	first, middle, last := drawn(0.9, 1), drawn(0.6, 0), drawn(0.2, 1)
	got := state.sweeps[0].replicates
	for i := range 50 {
		sums := got.sums[i*resampledSums:]
		if sums[pairMass] != 2*first[i]*middle[i] || sums[aboveMass] != middle[i] ||
			sums[aboveMass+1] != first[i]+last[i] {
			t.Errorf("replicate %d of %v, %v and %v records: %v", i, first[i], middle[i], last[i], sums[:resampledSums])
		}
		want := first[i]
		if last[i] > 0 {
			want += last[i] * ((first[i] + last[i]) / (first[i] + middle[i] + last[i]))
		}
		if math.Abs(sums[precisionMass]-want) > 1e-14 {
			t.Errorf("replicate %d: precision %v, not %v", i, sums[precisionMass], want)
		}
	}
}

// The interval of the AUC is as wide as the deviation of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988) says,
// and those of the average precision and the AUC as a bootstrap of records has it, with weights and ties.
func TestIntervalsOfRankings(t *testing.T) {
	const n, replicates = 600, 1000
	r := rand.New(rand.NewPCG(4, 1))
	c := scoredCase{Scale: "margin", Labels: []string{"a", "b"}}
	for i := range n {
		y := i % 3 / 2
		score := math.Round(20*(r.NormFloat64()+float64(y))) / 20
		c.Truth, c.Weights = append(c.Truth, y), append(c.Weights, 1+float32(i%2))
		c.Scores = append(c.Scores, []float64{0, score})
	}
	s := scoringOf(replicates)
	s.seed = 9
	_, ranks, _ := judgedScores(t, tallyOf(t, c, s, 0, n), s)
	var areas, precisions []float64
	for range replicates {
		counts := make([]float64, n)
		for i := range counts {
			counts[i] = float64(count(r.Uint32())) * float64(c.Weights[i])
		}
		area, precision := c.ranked(counts)
		areas, precisions = append(areas, area), append(precisions, precision)
	}
	for name, pair := range map[string][2]*Interval{
		"AUC":               {ranks.Classes[0].AUCInterval, percentiles(areas, 0.95)},
		"average precision": {ranks.Classes[0].AverageInterval, percentiles(precisions, 0.95)},
	} {
		got, want := pair[0], pair[1]
		width := want.High - want.Low
		if math.Abs(got.Low-want.Low) > 0.12*width || math.Abs(got.High-want.High) > 0.12*width {
			t.Errorf("%s: %v, of records %v", name, *got, *want)
		}
	}
	half := 1.96 * c.deLong()
	got := ranks.Classes[0].AUCInterval
	if width := (got.High - got.Low) / 2; math.Abs(width-half) > 0.12*half {
		t.Errorf("the AUC is within %v, by DeLong %v", width, half)
	}
}

// ranked are the AUC and the average precision of records that count so often, pair by pair.
func (c scoredCase) ranked(counts []float64) (auc, precision float64) {
	pairs, right, positives := 0.0, 0.0, 0.0
	for i, v := range c.Scores {
		if c.Truth[i] == 0 {
			continue
		}
		above, found := 0.0, 0.0
		for j, u := range c.Scores {
			if u[1] >= v[1] {
				above += counts[j]
				found += counts[j] * float64(c.Truth[j])
			}
			if c.Truth[j] == 0 {
				pairs += counts[i] * counts[j]
				right += counts[i] * counts[j] * higher(v[1], u[1])
			}
		}
		if positives += counts[i]; counts[i] > 0 {
			precision += counts[i] * found / above
		}
	}
	return right / pairs, precision / positives
}

// higher is 1 for a score that is above another, and 1/2 for one that is equal.
func higher(v, u float64) float64 {
	switch {
	case v > u:
		return 1
	case v == u:
		return 0.5
	}
	return 0
}

// deLong is the deviation of the AUC by the mean of each record's pairs.
func (c scoredCase) deLong() float64 {
	weight := make([]float64, len(c.Truth))
	for i, w := range c.Weights {
		weight[i] = float64(w)
	}
	auc, _ := c.ranked(weight)
	variance := 0.0
	for side := range 2 {
		all, squares := 0.0, 0.0
		for i, v := range c.Scores {
			if c.Truth[i] != side {
				continue
			}
			mean, others := 0.0, 0.0
			for j, u := range c.Scores {
				if c.Truth[j] != side {
					h := higher(v[1], u[1])
					if side == 0 {
						h = 1 - h
					}
					mean, others = mean+weight[j]*h, others+weight[j]
				}
			}
			d := weight[i] * (mean/others - auc)
			all, squares = all+weight[i], squares+d*d
		}
		variance += squares / (all * all)
	}
	return math.Sqrt(variance)
}

// A class without others has no AUC in any replicate, and more than 16 classes have no intervals.
func TestIntervalsThatAreNone(t *testing.T) {
	c := scoredCase{Scale: "probability", Labels: []string{"a", "b"}, Truth: []int{1, 1}, Weights: []float32{1, 1},
		Scores: [][]float64{{0.1, 0.9}, {0.4, 0.6}}}
	s := scoringOf(20)
	if _, ranks, _ := judgedScores(t, tallyOf(t, c, s, 0, 2), s); ranks.Classes[0].AUCInterval != nil ||
		ranks.Classes[0].AverageInterval == nil {
		t.Errorf("one class: %+v", ranks.Classes[0])
	}
	many := scoredCase{Scale: "probability", Truth: []int{0, 1}, Weights: []float32{1, 1}}
	for y := range maxCurveClasses + 1 {
		many.Labels = append(many.Labels, string(rune('a'+y)))
	}
	for range 2 {
		many.Scores = append(many.Scores, make([]float64, len(many.Labels)))
	}
	if _, ranks, _ := judgedScores(t, tallyOf(t, many, s, 0, 2), s); ranks.Classes[0].AverageInterval != nil {
		t.Errorf("17 classes: %+v", ranks.Classes[0])
	}
}

// Sums that no replicate leaves are refused as corrupt.
func TestResampledHostile(t *testing.T) {
	s := newSweep(massOf(one), massOf(one), 0)
	s.replicates = newResampled(20)
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		s.replicates.sums[3] = bad
		a := make(jobs.Arrays)
		jobs.Add(a, &ranksState{classes: jobs.StringsOf[string](), sweeps: []*sweep{s}, below: make([]place, 1),
			done: make([]uint8, 1)})
		if _, err := jobs.Read(a, new(ranksState)); err == nil {
			t.Errorf("a sum of %v was read", bad)
		}
	}
}
