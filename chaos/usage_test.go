package main

import (
	"math"
	"testing"
	"time"
)

// Twice as much after an hour is 100 % an hour; what stays, or jumps for a moment, is none.
func TestTrendByHand(t *testing.T) {
	for name, c := range map[string]struct {
		memory func(hours float64) float64
		want   float64
	}{
		"still":   {func(float64) float64 { return 64 }, 0},
		"growing": {func(h float64) float64 { return 64 * (1 + h) }, 1 / 1.125}, // the first quarter's median is at 1/8 of an hour
		"a peak": {func(h float64) float64 {
			if h > 0.9 && h < 0.92 {
				return 1000
			}
			return 64
		}, 0},
	} {
		var samples []sample
		for at := time.Duration(0); at < time.Hour; at += 10 * time.Second {
			samples = append(samples, sample{at: at, memory: c.memory(at.Hours())})
		}
		got, ok := trendOf(samples, func(s sample) float64 { return s.memory })
		if !ok || math.Abs(got.perHour-c.want) > 0.01 {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
	if _, ok := trendOf(make([]sample, 12), func(s sample) float64 { return s.memory }); ok {
		t.Error("a trend of twelve samples of nothing")
	}
}
