package dataset

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/kernelops/philox"
)

func TestInTestIsADrawByIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, fraction := rapid.Uint64().Draw(t, "seed"), rapid.Float64Range(0, 1).Draw(t, "fraction")
		s := NewSplit(seed, fraction)
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), 1, 10).Draw(t, "keys") {
			id := Identity{key, rapid.Int64Range(0, 1<<50).Draw(t, "offset")}
			want := philox.New(seed, "split").Float64At(id.Object, id.Offset) < fraction
			if got := s.InTest(id); got != want || InTest(seed, fraction, id) != want {
				t.Fatalf("%v is in test: %v, want %v", id, got, want)
			}
		}
	})
}

// A record is held out where its draw is below the fraction.
func TestInTestBelowTheFraction(t *testing.T) {
	id := Identity{"a", 7}
	draw := philox.New(1, "split").Float64At(id.Object, id.Offset)
	if InTest(1, draw, id) {
		t.Errorf("the draw %v: held out of that share", draw)
	}
	if !InTest(1, math.Nextafter(draw, 1), id) {
		t.Errorf("the draw %v: not held out of a little more", draw)
	}
}

// The share held out is the share asked for, the sides are fixed for good (these counts are
// part of every model trained with a split), and a larger share only adds.
func TestInTestShares(t *testing.T) {
	counts := map[float64]int{}
	fractions := []float64{0, 0.1, 0.2, 0.5}
	for i := range int64(10_000) {
		id, before := Identity{fmt.Sprintf("part-%d.tsv", i%7), 50 * i}, false
		for _, f := range fractions {
			in := InTest(42, f, id)
			if before && !in {
				t.Fatalf("%v is held out of a smaller share only", id)
			}
			if before = in; in {
				counts[f]++
			}
		}
	}
	want := map[float64]int{0: 0, 0.1: 1009, 0.2: 2060, 0.5: 5005} // from a second implementation of the draw
	for _, f := range fractions {
		if counts[f] != want[f] {
			t.Errorf("share %v: %d of 10,000, want %d", f, counts[f], want[f])
		}
	}
}

// Folds have about equal numbers of records, and each record is in one of them.
func TestFolds(t *testing.T) {
	folds, counts := NewFolds(3, 5), map[int]int{}
	for i := range 10_000 {
		counts[folds.Of(ByPlace("o", int64(i)))]++
	}
	for fold := 1; fold <= 5; fold++ {
		if counts[fold] < 1850 || counts[fold] > 2150 { // 2000, and 3.75 deviations of 40
			t.Errorf("fold %d has %d records", fold, counts[fold])
		}
	}
	if len(counts) != 5 {
		t.Errorf("folds %v", counts)
	}
}
