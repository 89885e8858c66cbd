package naivebayes

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Words are added up beyond what a cell holds, in an array of up to 64 classes and of more, and in a map.
func TestTallyOfWordsByHand(t *testing.T) {
	terms := slices.Repeat([]int32{2}, cellLimit)
	for _, size := range [][2]int{{3, 2}, {3, 70}, {3, 1 + denseCells/3}} {
		places, classes := size[0], size[1]
		tally, last := newTally(places, classes), int64(classes-1)
		tally.addTerms(last, terms)
		tally.addTerms(0, terms)
		tally.addTerms(0, []int32{2, 0})
		got := tally.cells(nil)
		at := []int64{0, 2 * int64(classes), 2*int64(classes) + last}
		if want := []int64{1, cellLimit + 1, cellLimit}; !slices.Equal(got.at, at) || !slices.Equal(got.count, want) {
			t.Errorf("%d classes: cells %d have %d, want %d of %d", classes, got.at, got.count, want, at)
		}
		tally.close()
	}
}

// An array and a map count the same, also in an array that a tally before has used.
func TestTalliesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places, classes := rapid.IntRange(1, 9).Draw(t, "places"), rapid.IntRange(1, 140).Draw(t, "classes")
		array, other := newTally(places, classes), &tally{places: places, classes: classes, met: map[int64]int64{}}
		for range rapid.IntRange(0, 20).Draw(t, "documents") {
			class := rapid.Int64Range(0, int64(classes-1)).Draw(t, "class")
			terms := rapid.SliceOfN(rapid.Int32Range(0, int32(places-1)), 0, 9).Draw(t, "terms")
			if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
				terms = slices.Repeat(terms, cellLimit/4)
			}
			array.addTerms(class, terms)
			other.addTerms(class, terms)
		}
		var order []int32
		if rapid.Bool().Draw(t, "places") {
			order = rapid.Permutation(slices.Collect(func(yield func(int32) bool) {
				for i := range int32(places) {
					if !yield(i) {
						return
					}
				}
			})).Draw(t, "order")
		}
		got, want := array.cells(order), other.cells(order)
		if !slices.Equal(got.at, want.at) || !slices.Equal(got.count, want.count) {
			t.Fatalf("an array has %v, a map %v", got, want)
		}
		array.close()
	})
}
