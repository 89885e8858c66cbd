package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
)

// at tells how far worker w is with its tasks, and returns what it has lost.
func (d *desk) at(progress uint64, grants ...schedule.Grant) []schedule.Task {
	var held []schedule.Held
	for _, g := range grants {
		h := heldOf(g)
		h.Progress = progress
		held = append(held, h)
	}
	return d.board.Heartbeat(d.view, "w", held, d.now)
}

// still lets the task stand still, heartbeat by heartbeat, and returns after how long it was taken away.
func (d *desk) still(progress uint64, g schedule.Grant, limit time.Duration) time.Duration {
	d.Helper()
	d.at(progress, g)
	for began := d.now; d.now-began <= limit; {
		d.now += d.cfg.LeaseTTL / 3
		d.board.Known("other", d.now)
		if len(d.at(progress, g)) > 0 {
			return d.now - began
		}
	}
	d.Fatalf("not taken away after %v", limit)
	return 0
}

// A node that stands still is taken away from its worker and goes to another: after half an hour where nothing is known
// of what such a node takes, after a minute where others took less than a fifth of it, and after twice that the next
// time. One that gets on is not, however long it takes, nor one that does not tell.
func TestANodeThatStandsStill(t *testing.T) {
	d := newDesk(t, 64, 64)
	g := d.lease("w", 1)[0]
	if took := d.still(7, g, time.Hour); took < 30*time.Minute || took > 31*time.Minute {
		t.Errorf("taken away after %v, with nothing known", took)
	}
	for range 10 {
		done := d.lease("w", 1)[0]
		d.now += 200 * ms
		d.commit(done.Task.Node)
	}
	g = d.lease("w", 1)[0]
	for progress := range uint64(100) {
		if lost := d.at(progress+1, g); len(lost) > 0 {
			t.Fatalf("lost at progress %d", progress)
		}
		d.now += 50 * time.Second / 2
	}
	for range 100 { // an old release does not tell
		if lost := d.at(0, g); len(lost) > 0 {
			t.Fatal("lost without a word of its progress")
		}
		d.now += d.cfg.LeaseTTL / 3
	}
	if took := d.still(3, g, time.Hour); took < time.Minute || took > 2*time.Minute {
		t.Errorf("taken away after %v", took)
	}
	d.register("other", 1)
	d.now += d.cfg.RetryDelay
	for _, other := range d.lease("w", 1) {
		if other.Task == g.Task {
			t.Error("leased to the same worker again, with another there")
		}
	}
	again := schedule.Grant{}
	for range 64 {
		for _, other := range d.lease("other", 1) {
			if other.Task == g.Task {
				again = other
			}
		}
	}
	if again.Task != g.Task {
		t.Fatal("not leased to the other worker")
	}
	if tries, last := d.board.Jobs.Trouble(jobOf(d.view, "a")); tries < 1 || last == "" {
		t.Errorf("%d tries, the last: %q", tries, last)
	}
}

// The timeline shows a lease that was taken away, and its place among the worker's tasks is free again.
func TestTimelineOfANodeThatStandsStill(t *testing.T) {
	d := newDesk(t, 1, 64)
	began := d.now
	d.still(7, d.lease("w", 1)[0], time.Hour)
	taken := d.now
	d.now += d.cfg.RetryDelay
	again := d.lease("w", 1)
	if len(again) != 1 {
		t.Fatalf("the only worker was granted %v", again)
	}
	from := d.now
	d.now += 200 * ms
	d.commit(again[0].Task.Node)
	marks, events := d.story()
	want := []string{fmt.Sprintf("w/0 %v-%v 2 4", began, taken), fmt.Sprintf("w/0 %v-%v 2 1", from, d.now)}
	if !slices.Equal(marks, want) || len(events) != 1 {
		t.Errorf("marks %q, want %q; events %q", marks, want, events)
	}
}
