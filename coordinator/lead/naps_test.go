package lead

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func TestNaps(t *testing.T) {
	now := time.Unix(1000, 0)
	for wake, want := range map[time.Time]time.Duration{
		{}: longestNap, now.Add(time.Hour): longestNap, now.Add(3 * time.Second): 3 * time.Second,
		now: RetryDelay, now.Add(-time.Hour): RetryDelay,
	} {
		if got := napUntil(wake, now); got != want {
			t.Errorf("until %s: %s, want %s", wake, got, want)
		}
	}
}
