package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// scored are records with their scores.
type scored struct {
	score    float64
	positive bool
}

func rankingOf(most int, list []scored) *Ranking {
	r := &Ranking{most: most}
	for _, s := range list {
		r.Add(s.score, s.positive)
	}
	return r
}

// Worked by hand: positives at 3, 2 and -1, negatives at 2, 0, -0 and -5. Of 12 pairs, 4 + 3 are right and 1 ties for
// the first two, and 1 is right for the third: 8.5 of 12. Among the two highest are 3 and one of the two at 2.
func TestRankingByHand(t *testing.T) {
	list := []scored{{3, true}, {2, true}, {-1, true}, {2, false}, {0, false}, {math.Copysign(0, -1), false},
		{-5, false}}
	r := rankingOf(maxRanked, list)
	if auc, within, ok := r.AUC(); auc != 8.5/12 || within != 0 || !ok {
		t.Errorf("AUC %v, within %v", auc, within)
	}
	for k, want := range map[int64]float64{1: 1, 2: 0.75, 3: 2.0 / 3, 4: 2.0 / 4, 7: 3.0 / 7, 99: 3.0 / 7} {
		if got := r.PrecisionAt(k); got != want {
			t.Errorf("precision at %d is %v, not %v", k, got, want)
		}
	}
	want := [][2]float64{{0, 0}, {0, 1. / 3}, {0.25, 2. / 3}, {0.75, 2. / 3}, {0.75, 1}, {1, 1}}
	if got := r.Curve(); !slices.Equal(got, want) {
		t.Errorf("curve %v", got)
	}
	if _, _, ok := rankingOf(maxRanked, list[3:]).AUC(); ok {
		t.Error("an AUC without positives")
	}
}

// Of scores 1 to 19, a share of 0.1 of 20 is 2: the threshold is 18, which 1 of 19 is above. With 9 of them, a share of
// 0.1 of 10 is 1, so it is the highest; 8 are too few for one.
func TestThresholdByHand(t *testing.T) {
	for n, want := range map[int]float64{19: 18, 10: 10, 9: 9, 8: math.NaN(), 0: math.NaN()} {
		r := NewRanking()
		for i := range n {
			r.Add(float64(n-i), false)
		}
		if got, ok := r.Threshold(0.1); ok != (want == want) || ok && got != want {
			t.Errorf("of %d records the threshold is %v, %v", n, got, ok)
		}
	}
}

// drawScores are scores of many sizes and signs, with ties.
func drawScores(r *rand.Rand, n int) []scored {
	list := make([]scored, n)
	for i := range list {
		list[i] = scored{math.Ldexp(r.NormFloat64(), r.IntN(40)-20), r.IntN(3) == 0}
		switch r.IntN(6) {
		case 0:
			list[i].score = float64(r.IntN(5))
		case 1:
			list[i].score = 5e-324 * float64(r.IntN(9)-4)
		}
	}
	return list
}

// The counts of all pairs, and of records sorted by their scores, give the same figures.
func TestRankingAgreesWithPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 50 {
		list := drawScores(r, 1+r.IntN(60))
		twice, pairs := 0, 0
		for _, a := range list {
			for _, b := range list {
				if a.positive && !b.positive {
					pairs += 2
					if a.score > b.score {
						twice += 2
					} else if a.score == b.score {
						twice++
					}
				}
			}
		}
		auc, _, ok := rankingOf(maxRanked, list).AUC()
		if ok != (pairs > 0) || ok && auc != float64(twice)/float64(pairs) {
			t.Fatalf("AUC %v, not %d/%d", auc, twice, pairs)
		}
	}
}

// However records are grouped and ordered, the ranking has the same arrays, also where it has to round their scores;
// what it says then of the AUC is true.
func TestRankingOfAnyGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 30 {
		list := drawScores(r, 300)
		whole := rankingOf(64, list)
		want := fieldsOf(whole)
		exact, _, _ := rankingOf(maxRanked, list).AUC()
		if auc, within, _ := whole.AUC(); math.Abs(auc-exact) > within || within == 0 || whole.drop == 0 {
			t.Fatalf("AUC %v within %v, not %v", auc, within, exact)
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		parts := rankingOf(64, nil)
		for len(list) > 0 {
			n := 1 + r.IntN(len(list))
			parts.Plus(rankingOf(64, list[:n]))
			list = list[n:]
		}
		if got := fieldsOf(parts); got != want {
			t.Fatal("another grouping gives another ranking")
		}
	}
}

func fieldsOf(r *Ranking) string {
	return string(jobs.ArraysOf(jobs.FieldsFunc(func(f *jobs.Fields) { r.Fields(f, "r") })).Encode())
}

// A threshold of rounded scores has no more records above it than that of scores as they are.
func TestThresholdOfRoundedScores(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 30 {
		list := drawScores(r, 400)
		got, ok := rankingOf(32, list).Threshold(0.1)
		above := 0
		for _, s := range list {
			if s.score > got {
				above++
			}
		}
		if !ok || above > 40 {
			t.Fatalf("%d are above %v", above, got)
		}
	}
}

func TestRankingRefuses(t *testing.T) {
	for name, bad := range map[string]*Ranking{
		"order":    {list: []ranked{{place{2, one}, 1, 0}, {place{1, one}, 1, 0}}},
		"no count": {list: []ranked{{place{2, one}, 0, 0}}},
		"negative": {list: []ranked{{place{2, one}, -1, 2}}},
		"bits":     {drop: 2, list: []ranked{{place{1, one}, 1, 0}}},
	} {
		if bad.check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
