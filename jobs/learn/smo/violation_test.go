package smo

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSides(t *testing.T) {
	for _, c := range []struct {
		alpha, y, cost float64
		up, low        bool
	}{
		{0, 1, 2, true, false}, {1, 1, 2, true, true}, {2, 1, 2, false, true},
		{0, -1, 2, false, true}, {1, -1, 2, true, true}, {2, -1, 2, true, false},
		{0, 1, 0, false, false}, {0, -1, 0, false, false},
	} {
		if up, low := Sides(c.alpha, c.y, c.cost); up != c.up || low != c.low {
			t.Errorf("%+v: %v, %v", c, up, low)
		}
	}
}

func TestExtremes(t *testing.T) {
	e := NewExtremes()
	if !math.IsInf(e.Violation(), -1) || e.Bias() != 0 {
		t.Errorf("%+v", e)
	}
	e.Add(3, true, false)
	if !math.IsInf(e.Violation(), -1) || e.Bias() != 3 {
		t.Errorf("%+v", e)
	}
	o := NewExtremes()
	o.Add(1, false, true)
	if o.Bias() != 1 {
		t.Errorf("%+v", o)
	}
	e.Merge(o)
	if e.Violation() != 2 || e.Bias() != 2 {
		t.Errorf("%+v", e)
	}
	e.Add(9, false, false)
	e.Add(2, true, true)
	if e.Violation() != 2 {
		t.Errorf("%+v", e)
	}
}

func ordinals(list []Candidate[string]) (o []int64) {
	for _, v := range list {
		o = append(o, v.Ordinal)
	}
	return o
}

func TestCandidatesByHand(t *testing.T) {
	c := NewCandidates[string](2)
	c.Add(Candidate[string]{4, 1, "a"}, true, true)
	c.Add(Candidate[string]{3, 1, "b"}, true, false)
	c.Add(Candidate[string]{2, 5, "c"}, true, false)
	c.Add(Candidate[string]{1, 0, "d"}, false, true)
	c.Add(Candidate[string]{0, 7, "e"}, false, false)
	if !slices.Equal(ordinals(c.Up()), []int64{2, 3}) || !slices.Equal(ordinals(c.Low()), []int64{1, 4}) ||
		c.Up()[0].Payload != "c" || c.Extremes() != (Extremes{5, 0}) {
		t.Errorf("%+v", c)
	}
	if got := ordinals(c.Working(3)); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Error(got)
	}
	none := NewCandidates[string](0)
	if none.Add(Candidate[string]{}, true, true); len(none.Working(5)) != 0 || none.Extremes() != NewExtremes() {
		t.Errorf("%+v", none)
	}
}

// However candidates are ordered and grouped, the same are kept: those that a sort of all of them has first.
func TestCandidatesOfAnyOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, most := rapid.IntRange(0, 40).Draw(r, "n"), rapid.IntRange(1, 12).Draw(r, "most")
		draw := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		var all []Candidate[int]
		sides := make([][2]bool, n)
		for i := range n {
			all = append(all, Candidate[int]{int64(i), float64(draw.IntN(9) - 4), i})
			sides[i] = [2]bool{draw.IntN(3) > 0, draw.IntN(3) > 0}
		}
		var trees []*Candidates[int]
		for _, i := range draw.Perm(n) {
			if len(trees) == 0 || draw.IntN(4) == 0 {
				trees = append(trees, NewCandidates[int](most))
			}
			trees[draw.IntN(len(trees))].Add(all[i], sides[i][0], sides[i][1])
		}
		merged := NewCandidates[int](most)
		for len(trees) > 1 { // in any tree of merges
			i := draw.IntN(len(trees) - 1)
			trees[i+1].Merge(trees[i])
			trees = slices.Delete(trees, i, i+1)
		}
		for _, tree := range trees {
			merged.Merge(tree)
		}
		want := NewCandidates[int](most)
		for i, v := range all {
			if sides[i][0] {
				want.up = append(want.up, v)
			}
			if sides[i][1] {
				want.low = append(want.low, v)
			}
		}
		slices.SortFunc(want.up, compareUp[int])
		slices.SortFunc(want.low, compareLow[int])
		want.up, want.low = want.up[:min(most, len(want.up))], want.low[:min(most, len(want.low))]
		if !reflect.DeepEqual(want, merged) {
			r.Fatalf("%+v, not %+v", merged, want)
		}
	})
}
