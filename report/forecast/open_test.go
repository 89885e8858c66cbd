package forecast

import (
	"math"
	"slices"
	"testing"
	"time"
)

// alike are leases of leaves that took a second each: no tail, and nothing to draw.
func alike(n, leaves int) (list []Lease) {
	for range n {
		list = append(list, Lease{Leaves: leaves, Seconds: float64(leaves)})
	}
	return list
}

// Where all tasks take a second a leaf, all repetitions take as long. By hand: four free leaves on two slots take two
// seconds; three of which one has been at work for 0.4 seconds end at 1.6, the third beginning at 0.6; the rounds
// before took half a second from their last leaf on. A lease that takes longer than any known is copied at once, which
// takes a second.
func TestAnOpenRoundByHand(t *testing.T) {
	running := func(since float64) []Running { return []Running{{Lease: Lease{1, since}}} }
	now := Copies{After: 1.5}
	for _, c := range []struct {
		what string
		open Open
		want float64
	}{
		{"four leaves on two slots", Open{Ended: alike(9, 1), Free: 4, Total: 4, Slots: 2}, 2},
		{"one is at work", Open{Ended: alike(9, 1), Running: running(0.4), Free: 2, Total: 3, Slots: 2}, 1.6},
		{"and a step", Open{Ended: alike(9, 1), Free: 1, Total: 4, Slots: 2, Tails: []float64{0.5, 0.5}}, 1.5},
		{"the step alone", Open{Ended: alike(9, 1), Mapped: true, Since: 0.1, Tails: []float64{0.5, 0.5}}, 0.4},
		{"two leaves in one lease", Open{Ended: alike(9, 4), Running: []Running{{Lease: Lease{2, 0.5}}}, Total: 8,
			Slots: 1}, 1.5},
	} {
		if ends := c.open.Ends(); math.Abs(ends[0]-c.want) > 1e-9 || math.Abs(ends[len(ends)-1]-c.want) > 1e-9 {
			t.Errorf("%s: %v to %v, want %v", c.what, ends[0], ends[len(ends)-1], c.want)
		}
	}
	stuck := Open{Ended: alike(9, 1), Running: running(50), Total: 4, Slots: 2, Copies: now}
	if ends := stuck.Ends(); ends[len(ends)-1] != 1 {
		t.Errorf("with a copy: %v", ends[len(ends)-1])
	}
	stuck.Copies = Copies{}
	// A stall of unknown length that has taken 50 seconds takes as long again with probability 1/2.
	if ends := stuck.Ends(); math.Abs(Quantile(ends, 0.5)-50) > 10 {
		t.Errorf("without: p50 %v, want about 50", Quantile(ends, 0.5))
	}
	stuck.Running[0].Copy, stuck.Running[0].Copied = true, 0.25
	if ends := stuck.Ends(); ends[len(ends)-1] != 0.75 {
		t.Errorf("with a copy at work: %v", ends[len(ends)-1])
	}
}

// Of nine leases of four leaves one stalled for a minute: of one leaf, a lease takes a second or 61.
func TestStallsDoNotGrowWithLeaves(t *testing.T) {
	k := newKnown(append(alike(8, 4), Lease{Leaves: 4, Seconds: 64}))
	var of []float64
	for _, s := range k.times {
		of = append(of, s.of(1))
	}
	slices.Sort(of)
	if want := []float64{1, 1, 1, 1, 1, 1, 1, 1, 61}; !slices.Equal(of, want) || k.leafTime() != time.Second {
		t.Errorf("%v, a leaf in %v", of, k.leafTime())
	}
}

// The next of n alike times exceeds all with chance 1/(n+1), and by a tail of their shape.
func TestWhatNobodySaw(t *testing.T) {
	open := Open{Ended: []Lease{{1, 1}, {1, 2}, {1, 4}}, Running: []Running{{Lease: Lease{1, 0}}}, Total: 1, Slots: 1}
	ends := open.Ends()
	longer := 0
	for _, e := range ends {
		if e > 4 {
			longer++
		}
	}
	if share := float64(longer) / float64(len(ends)); math.Abs(share-0.25) > 0.08 {
		t.Errorf("%v of the times are beyond all", share)
	}
	if !slices.Equal(ends, open.Ends()) {
		t.Error("two forecasts differ")
	}
	// ln(2/2), ln(4/2): their mean.
	if got := shapeOf([]float64{1, 2, 4}); math.Abs(got-math.Ln2/2) > 1e-12 {
		t.Errorf("shape %v", got)
	}
	if got := shapeOf([]float64{3}); got != 1 {
		t.Errorf("shape of one time %v", got)
	}
}

// Five runs took 1 to 5 seconds: a sixth of the times is beyond all of them. One run, or equal ones, are repeated.
func TestMix(t *testing.T) {
	var five []Scenario
	for i := range 5 {
		five = append(five, Scenario{Rest: float64(i + 1)})
	}
	ends := Mix(five, 500, 1)
	beyond := len(ends) - sortedBelow(ends, 5)
	if len(ends) != 600 || beyond < 95 || beyond > 100 || Quantile(ends, 0.5) != 3 ||
		!slices.Equal(ends, Mix(five, 500, 1)) {
		t.Errorf("%d of %d beyond, p50 %v", beyond, len(ends), Quantile(ends, 0.5))
	}
	times, _ := TimesOf([]float64{2})
	one := Scenario{Rounds: []Round{{Tasks: 3, Slots: 1, Times: times}}, Rest: 0.5}
	for _, some := range [][]Scenario{{one}, {one, one, one}} {
		if ends := Mix(some, 90, 1); ends[0] != 6.5 || ends[len(ends)-1] != 6.5 {
			t.Errorf("%d runs: %v to %v", len(some), ends[0], ends[len(ends)-1])
		}
	}
}

// sortedBelow counts the numbers up to a bound.
func sortedBelow(ascending []float64, bound float64) int {
	n, _ := slices.BinarySearch(ascending, math.Nextafter(bound, math.Inf(1)))
	return n
}

// A round on a thousand slots is forecast by a part of it: about as long as the whole, which takes ten times as long to
// forecast.
func TestAPartStandsForALargeRound(t *testing.T) {
	whole := Open{Ended: alike(40, 1), Free: 8000, Total: 10_000, Slots: 1000,
		Copies: Copies{After: 1.5, From: 0.75, Most: 50}}
	for i := range whole.Ended {
		whole.Ended[i].Seconds += 0.01 * float64(i%10)
	}
	for range 1000 {
		whole.Running = append(whole.Running, Running{Lease: Lease{Leaves: 2, Seconds: 0.5}})
	}
	part, all := whole.Ends(), whole.ends()
	if got, want := Quantile(part, 0.5), Quantile(all, 0.5); math.Abs(got-want) > 0.25*want {
		t.Errorf("p50 %v, of the whole %v", got, want)
	}
	if !slices.Equal(part, whole.Ends()) {
		t.Error("two forecasts differ")
	}
	small := whole
	small.Slots = mostSlots
	if !slices.Equal(small.Ends(), small.ends()) {
		t.Error("a round on few slots is not forecast whole")
	}
}
