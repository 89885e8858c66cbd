package evaluation

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
)

// spreadOf sweeps over scores, positive ones and others, of weight 1.
func spreadOf(negative, positive []float64) *spread {
	r := NewRankingInParts(maxRanked, place{})
	for i, list := range [][]float64{negative, positive} {
		for _, v := range list {
			r.Add(v, i == 1)
		}
	}
	mass := func(n int) *big.Int { return new(big.Int).Mul(big.NewInt(int64(n)), massOf(one)) }
	s := newSweep(mass(len(negative)), mass(len(positive)), 0)
	s.spread = newSpread()
	s.take(r)
	s.end()
	return s.spread
}

// Scores from -1.3 to 1.7, 33 of each side to a bin of 1/16 at most: worked by hand, with a score on an edge, and both
// sides in one bin.
func TestSpreadByHand(t *testing.T) {
	r := spreadOf([]float64{-1.3, -0.05, 0, 0.01}, []float64{0.01, 0.01, 1.7}).report()
	// With bins of 1/16: floor(1.7*16) = 27, floor(-1.3*16) = -21: 49 bins are one more than there may be. So 1/8.
	if r.Width != 0.125 || r.From != -1.375 || len(r.Negative) != 25 || len(r.Positive) != 25 {
		t.Fatalf("%+v", r)
	}
	for bin, want := range map[int][2]float64{0: {1, 0}, 10: {1, 0}, 11: {2, 2}, 24: {0, 1}, 5: {}} {
		if got := [2]float64{r.Negative[bin], r.Positive[bin]}; got != want {
			t.Errorf("bin %d has %v, not %v", bin, got, want)
		}
	}
}

// Of 1,000 records, 5 at either end do not widen the bins, and are counted in the outer ones.
func TestSpreadOfTails(t *testing.T) {
	var list []float64
	for i := range 990 {
		list = append(list, float64(i)/990)
	}
	for i := range 5 {
		list = append(list, 1e9+float64(i), -1e12-float64(i))
	}
	r := spreadOf(list, nil).report()
	if r.Width != 1./32 || r.From != 0 || len(r.Negative) != 32 || r.Negative[0] != 31+5 || r.Negative[31] != 30+5 {
		t.Errorf("%+v", r)
	}
	if r := spreadOf(append(list, 2e9), nil).report(); r.Width < 1e7 {
		t.Errorf("6 records beyond are within bins of %v", r.Width)
	}
}

// Where there is nothing to tell apart there is no spread: no records, one score, scores beyond bounds.
func TestNoSpread(t *testing.T) {
	for name, list := range map[string][]float64{"no record": nil, "one score": {3, 3, 3}, "zeros": {0, 0},
		"beyond": {-math.MaxFloat64, math.MaxFloat64}, "least": {5e-324, 0}} {
		if r := spreadOf(list, nil).report(); r != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	var none *spread
	if none.take(1, [2]*big.Int{}, nil, nil); none.report() != nil {
		t.Error("a spread that nobody asked for")
	}
}

// A second method: sort, cut the tails off, take the least power of two, count.
func TestSpreadAgreesWithCounting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 900).Draw(rt, "n")
		size := math.Ldexp(1, rapid.IntRange(-30, 30).Draw(rt, "size"))
		seed := rapid.Uint64().Draw(rt, "seed")
		steps := rapid.SampledFrom([]float64{3, 50, 1e6}).Draw(rt, "steps")
		r := rand.New(rand.NewPCG(seed, 1))
		var all, negative, positive []float64
		for range n {
			v := math.Round(r.NormFloat64()*steps) / steps * size
			if all = append(all, v); r.IntN(3) == 0 {
				positive = append(positive, v)
			} else {
				negative = append(negative, v)
			}
		}
		slices.Sort(all)
		tail := n / spreadTail
		high, low := all[n-1-tail], all[tail]
		got := spreadOf(negative, positive).report()
		_, exponent := math.Frexp(high)
		exponent -= spreadBits
		bin := func(v float64) float64 { return math.Floor(math.Ldexp(min(max(v, low), high), -exponent)) }
		for bin(high)-bin(low) >= spreadBins {
			exponent++
		}
		if bin(high) == bin(low) {
			if got != nil {
				rt.Fatalf("%+v of one bin", got)
			}
			return
		}
		want := make([][]float64, 2)
		for side, list := range [][]float64{negative, positive} {
			want[side] = make([]float64, int(bin(high)-bin(low))+1)
			for _, v := range list {
				want[side][int(bin(v)-bin(low))]++
			}
		}
		if got == nil || got.Width != math.Ldexp(1, exponent) || got.From != bin(low)*got.Width ||
			!slices.Equal(got.Negative, want[0]) || !slices.Equal(got.Positive, want[1]) {
			rt.Fatalf("%+v\nnot bins of %v from %v: %v", got, math.Ldexp(1, exponent), bin(low), want)
		}
	})
}

// storedSpread makes a spread arrays.
type storedSpread struct{ of *spread }

func (s *storedSpread) Fields(f *jobs.Fields) { spreadField(f, "x", &s.of) }

// What is read is what was written, also before the first bin; hostile arrays are refused.
func TestSpreadIsRead(t *testing.T) {
	begun := spreadOf([]float64{-3, 0, 4}, []float64{1, 2})
	for _, s := range []*spread{nil, newSpread(), begun} {
		a := jobs.ArraysOf(&storedSpread{s})
		read, err := jobs.Read(a, new(storedSpread))
		if err != nil || jobstest.Digest(jobs.ArraysOf(read)) != jobstest.Digest(a) {
			t.Errorf("%+v is read as %+v, %v", s, read.of, err)
		}
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"no bins":    func(a jobs.Arrays) { jobs.Put(a, "x", []int64{}, 0) },
		"rising":     func(a jobs.Arrays) { jobs.Put(a, "x", []int64{1, 2}, 2) },
		"far":        func(a jobs.Arrays) { jobs.Put(a, "x", []int64{1 << 62, 0}, 2) },
		"apart":      func(a jobs.Arrays) { jobs.Put(a, "x", []int64{100, 0}, 2) },
		"exponent":   func(a jobs.Arrays) { jobs.PutScalar(a, "x.exponent", int64(1<<20)) },
		"a mass":     func(a jobs.Arrays) { delete(a, "x.0.1") },
		"not begun":  func(a jobs.Arrays) { jobs.PutScalar(a, "x.begun", int32(0)) },
		"too many":   func(a jobs.Arrays) { jobs.Put(a, "x", make([]int64, spreadBins+1), spreadBins+1) },
		"half a bit": func(a jobs.Arrays) { jobs.PutScalar(a, "x.begun", int32(2)) },
	} {
		a := jobs.ArraysOf(&storedSpread{begun})
		spoil(a)
		if _, err := jobs.Read(a, new(storedSpread)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
