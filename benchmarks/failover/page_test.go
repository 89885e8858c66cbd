package main

import (
	"strings"
	"testing"
	"time"
)

func TestQuantilesAreByNearestRank(t *testing.T) {
	p := page{}
	for _, ms := range []int{400, 100, 300, 200} {
		p.kills = append(p.kills, kill{leader: "c1", took: time.Duration(ms) * time.Millisecond})
	}
	for share, want := range map[float64]int64{0: 100, 0.25: 100, 0.5: 200, 0.51: 300, 0.99: 400, 1: 400} {
		if got := p.quantile(share).Milliseconds(); got != want {
			t.Errorf("quantile %v is %d ms, want %d", share, got, want)
		}
	}
	if text := string(p.markdown()); !strings.Contains(text, "| p50 | at most 3000 ms | 200 ms | yes |") {
		t.Error(text)
	}
}

// Only a write that began after the kill counts: one before it may have been committed already.
func TestTheWriteMustBeginAfterTheKill(t *testing.T) {
	w, kill := &writer{}, time.Now()
	accepted := w.after(kill)
	w.note(kill.Add(-time.Millisecond), kill.Add(time.Second))
	w.note(kill.Add(time.Second), kill.Add(2*time.Second))
	w.note(kill.Add(3*time.Second), kill.Add(4*time.Second))
	if got := (<-accepted).Sub(kill); got != 2*time.Second || w.count() != 3 {
		t.Errorf("accepted after %v; %d writes", got, w.count())
	}
}
