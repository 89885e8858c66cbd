package measure

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Two processors for ten seconds: 2,000 ticks, of which 300 idle, 60 stolen, 1,640 busy. This process had 10 s of them.
func TestActivityByHand(t *testing.T) {
	from := parseTicks("cpu  100 10 50 1000 20 5 5 7 3 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	to := parseTicks("cpu  1500 110 150 1290 30 25 25 67 3 0\n")
	a := between(from, to, 10*time.Second)
	if got, want := a.Steal, 0.03; got != want {
		t.Errorf("steal %v, want %v", got, want)
	}
	if got, want := a.Others, 0.32; got != want {
		t.Errorf("others %v, want %v", got, want)
	}
}

func TestActivityIsNotKnownWithoutCounts(t *testing.T) {
	for _, text := range []string{"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"} {
		if got := parseTicks(text); got.known {
			t.Errorf("%q: %+v", text, got)
		}
	}
	a := between(ticks{}, ticks{busy: 5, known: true}, time.Second)
	if a.Others >= 0 || a.Steal >= 0 {
		t.Errorf("%+v", a)
	}
	a.Load, a.Cores = -1, 2
	if got := a.Warnings(1, 0, ""); got != nil {
		t.Errorf("a system that tells nothing gives warnings: %q", got)
	}
}

func TestWarnings(t *testing.T) {
	quiet := Activity{Others: 0.01, Steal: 0.001, Load: 0.9, Cores: 2}
	change := func(f func(a *Activity)) Activity {
		a := quiet
		f(&a)
		return a
	}
	for _, c := range []struct {
		a             Activity
		share, spread float64
		want          string // "" if none
	}{
		{quiet, 0.995, 0.03, ""},
		{change(func(a *Activity) { a.Others = 0.32 }), 1, 0, "other processes had 32 % of"},
		{change(func(a *Activity) { a.Steal = 0.03 }), 1, 0, "the hypervisor took 3 % of"},
		{change(func(a *Activity) { a.Load = 5.36 }), 1, 0, "the load was 5.4 before it began, on 2 processors"},
		{change(func(a *Activity) { a.Load, a.Cores = 5.36, 64 }), 1, 0, ""},
		{quiet, 0.51, 0, "one thread had a processor for 51 % of the time only"},
		{quiet, 1, 0.25, `the quartiles of "read" are 25 % of its median apart`},
	} {
		got := c.a.Warnings(c.share, c.spread, "read")
		if c.want == "" && got != nil || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%+v, share %v, spread %v: %q, want %q", c.a, c.share, c.spread, got, c.want)
		}
	}
	all := Activity{Others: 1, Steal: 1, Load: 9, Cores: 1}.Warnings(0, 1, "x")
	if len(all) != 5 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 5 {
		t.Errorf("%d warnings: %q", len(all), all)
	}
}

// This process alone, busy for a moment, is no other process.
func TestWatchTakesItsOwnTimeOff(t *testing.T) {
	w := StartWatch()
	for CPUTime()-w.cpu < 50*time.Millisecond {
	}
	if a := w.Activity(); a.Seconds <= 0 || a.Cores < 1 || a.Others > 1 || a.Steal > 1 {
		t.Errorf("%+v", a)
	}
}
