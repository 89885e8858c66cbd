package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
)

// The census is what counting anew gives, whatever registers, is heard of, falls silent or is forgotten meanwhile.
func TestTheCensusIsACount(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := NewBoard(DefaultConfig(), 1, state.New(), 0)
	now, view := time.Duration(0), state.New()
	for step := range 4000 {
		id := fmt.Sprint("w", random.IntN(9))
		switch random.IntN(4) {
		case 0:
			b.Register(view, Worker{ID: id, Slots: 1 + random.IntN(5)}, nil, now)
		case 1:
			b.Known(id, now)
		case 2:
			b.Expire(now)
		default:
			now += time.Duration(random.Int64N(int64(20 * time.Second)))
			if step%100 == 0 {
				now += 400 * time.Second
			}
		}
		slots, before := 0, map[string]int{}
		for w := range b.Roster.live(now) {
			before[w.ID] = slots
			slots += w.Slots
		}
		if got := b.Roster.slots(now); got != max(slots, 1) {
			t.Fatalf("step %d: %d slots, want %d", step, got, slots)
		}
		for w := range b.Roster.live(now) {
			if got, want := b.Roster.place(w.ID, slots, now), before[w.ID]; got != want {
				t.Fatalf("step %d: %s begins at %d, want %d", step, w.ID, got, want)
			}
		}
	}
}

// A lease is sized by what its worker spent on it, at most what it took; without a word by what it took.
func TestThePaceIsWhatWorkersSpend(t *testing.T) {
	for _, c := range []struct{ took, spent, leaf time.Duration }{
		{400, 0, 100}, {400, 40, 10}, {400, 4000, 100}, {400, 1, 1},
	} {
		var p pace
		if p.saw(4, c.took, c.spent); p.leaf != c.leaf || p.maps.median() != 100 {
			t.Errorf("took %d, spent %d: the pace is %d, the median %d", c.took, c.spent, p.leaf, p.maps.median())
		}
	}
}

// What one worker tells of a task says nothing of the time that another spent on it.
func TestTheSpentTimeOfAnother(t *testing.T) {
	won := &lease{worker: "w"}
	if spentBy(won, "w", time.Second) != time.Second || spentBy(won, "v", time.Second) != 0 {
		t.Error("the time that another spent is the winner's")
	}
}

// Forecasts are in order of their rounds, in whatever order they become known.
func TestForecastsInOrder(t *testing.T) {
	course := newTimeline(0)
	for _, round := range []uint32{2, 5, 3, 1, 4} {
		course.foretold(round, time.Second, []float64{1, 2, 3})
	}
	for i, f := range course.Forecasts {
		if f.Round != uint32(i+1) || f.P50 != 3*time.Second || f.P90 != 4*time.Second {
			t.Errorf("forecast %d: %+v", i, f)
		}
	}
}
