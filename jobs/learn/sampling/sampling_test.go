package sampling

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

func record(i int) dataset.Identity {
	return dataset.Identity{Object: fmt.Sprint("object-", i%3), Offset: int64(i / 3)}
}

func offsets(draws []Draw) []int64 {
	var list []int64
	for _, d := range draws {
		list = append(list, d.ID.Offset)
	}
	return list
}

func TestSampleByHand(t *testing.T) {
	s := New(3)
	for offset, key := range []float64{5, 2, math.Inf(1), 7, math.NaN(), 2, 1} {
		s.Offer(key, dataset.Identity{Object: "a", Offset: int64(offset)}, []float32{float32(offset)})
	}
	if got := offsets(s.Draws()); !slices.Equal(got, []int64{6, 1, 5}) {
		t.Errorf("drawn %v; want 6 (key 1), then 1 and 5 (key 2, by identity)", got)
	}
	if s.Limit() != 2 {
		t.Errorf("limit %v", s.Limit())
	}
}

// A tie at the limit goes by identity, in any order of arrival.
func TestTieAtTheLimit(t *testing.T) {
	for _, order := range [][]int64{{1, 2}, {2, 1}} {
		s := New(1)
		for _, offset := range order {
			s.Offer(3, dataset.Identity{Object: "a", Offset: offset}, nil)
		}
		if got := offsets(s.Draws()); got[0] != 1 {
			t.Errorf("order %v: drawn %v", order, got)
		}
	}
}

func TestOfferCopies(t *testing.T) {
	s, row := New(1), []float32{4}
	s.Offer(1, record(0), row)
	row[0] = 5
	if got := s.Draws()[0].Row[0]; got != 4 {
		t.Errorf("row %v", got)
	}
}

// However records are ordered, cut into parts and merged, the sample has the same bytes.
func TestCutsAndOrderDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, m := rapid.IntRange(0, 30).Draw(rt, "n"), rapid.IntRange(1, 12).Draw(rt, "m")
		weights := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2.5, 1e-30, 1e30}), n, n).Draw(rt, "weights")
		bytes := func(order []int, parts int) string {
			whole := New(m)
			for p := range parts {
				part, race := New(m), NewRace(7, "test")
				for _, i := range order[p*n/parts : (p+1)*n/parts] {
					part.Offer(race.Time(record(i), weights[i], part.Limit()), record(i), []float32{float32(i), 1})
				}
				a := jobs.Arrays{}
				put(a, part)
				part, err := read(a)
				if err != nil {
					rt.Fatal(err)
				}
				whole.Merge(part)
			}
			a := jobs.Arrays{}
			put(a, whole)
			return string(a.Encode())
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		want := bytes(order, 1)
		if got := bytes(rapid.Permutation(order).Draw(rt, "order"),
			rapid.IntRange(1, 5).Draw(rt, "parts")); got != want {
			rt.Fatal("another order or cut gives another sample")
		}
	})
}

// The limit spares work and never changes a time that counts.
func TestLimitKeepsWhatCounts(t *testing.T) {
	race := NewRace(1, "limit")
	for i := range 20_000 {
		weight := float64(i%7) + 0.25
		limit := 0.001 * float64(i%50)
		full, bounded := race.Time(record(i), weight, math.Inf(1)), race.Time(record(i), weight, limit)
		if again := Arrival(race.Chance(record(i)), weight, limit); again != bounded {
			t.Fatalf("record %d: time %v, by its chance %v", i, bounded, again)
		}
		if bounded != full && !(full > limit && math.IsInf(bounded, 1)) {
			t.Fatalf("record %d: time %v, with limit %v it is %v", i, full, limit, bounded)
		}
	}
}

// First draws follow the weights, second draws the rest of them: the chances of an ordered
// pair (i, j) are w_i/W * w_j/(W-w_i). Chi-squared over the 6 pairs of weights 1, 2 and 5.
func TestChancesFollowWeights(t *testing.T) {
	const runs = 60_000
	weights := []float64{1, 2, 5}
	seen := map[[2]int]int{}
	for run := range runs {
		race, s := NewRace(uint64(run), "chances"), New(2)
		for i, w := range weights {
			s.Offer(race.Time(dataset.Identity{Object: "a", Offset: int64(i)}, w, s.Limit()),
				dataset.Identity{Object: "a", Offset: int64(i)}, nil)
		}
		d := offsets(s.Draws())
		seen[[2]int{int(d[0]), int(d[1])}]++
	}
	chi := 0.0
	for i, w := range weights {
		for j, v := range weights {
			if i != j {
				want := runs * w / 8 * v / (8 - w)
				diff := float64(seen[[2]int{i, j}]) - want
				chi += diff * diff / want
			}
		}
	}
	if chi > 20.5 { // 5 degrees of freedom, p = 0.001
		t.Errorf("chi-squared %v over %v", chi, seen)
	}
}

func TestPurposesAndNumbersDiffer(t *testing.T) {
	a, b := NewRace(1, "a"), NewRace(1, "b")
	if a.Time(record(1), 1, math.Inf(1)) == b.Time(record(1), 1, math.Inf(1)) {
		t.Error("two purposes draw alike")
	}
	if inf := math.Inf(1); a.NumberTime(1, 1, inf) == a.NumberTime(2, 1, inf) ||
		a.NumberTime(1, 1, inf) != 4*a.NumberTime(1, 4, inf) {
		t.Error("numbers draw alike, or not by weight")
	}
	if !math.IsInf(a.NumberTime(1, 0, 1), 1) || !math.IsInf(a.Time(record(1), math.NaN(), 1), 1) {
		t.Error("a weight that is not above 0 arrives")
	}
}

func TestReadRefuses(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"keys":    func(a jobs.Arrays) { jobs.Put(a, "s.keys", []float64{1}) },
		"size":    func(a jobs.Arrays) { jobs.PutScalar(a, "s.size", int64(1)) },
		"NaN":     func(a jobs.Arrays) { jobs.Put(a, "s.keys", []float64{1, math.NaN()}) },
		"offsets": func(a jobs.Arrays) { jobs.Put(a, "s.offsets", []int64{1}) },
		"objects": func(a jobs.Arrays) { a.PutStrings("s.objects", jobs.StringsOf("one")) },
		"rows":    func(a jobs.Arrays) { jobs.Put(a, "s.rows", []float32{1, 2, 3}) },
	} {
		s := New(2)
		s.Offer(1, record(0), []float32{1, 2})
		s.Offer(2, record(1), []float32{3, 4})
		a := jobs.Arrays{}
		put(a, s)
		spoil(a)
		if _, err := read(a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// put stores a sample named "s".
func put(a jobs.Arrays, s *Sample) {
	jobs.Add(a, jobs.FieldsFunc(func(f *jobs.Fields) { Fields(f, "s", &s) }))
}

// read reads what put stored.
func read(a jobs.Arrays) (s *Sample, err error) {
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) { Fields(f, "s", &s) }))
	return s, err
}
