package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Twice as much after an hour is 100 % an hour. What stays has no trend, and a peak makes none.
func TestTrendByHand(t *testing.T) {
	for name, c := range map[string]struct {
		memory func(hours float64) float64
		want   float64
	}{
		"still":   {func(float64) float64 { return 64 }, 0},
		"growing": {func(h float64) float64 { return 64 * (1 + h) }, 1},
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

// Around a still line of 100, blocks that are 10 above and below by turns leave a slope that is uncertain by
// sqrt(sum of 10^2 / 22 / sum of (h - mean h)^2) / 100 = sqrt(2400 / 22 / (0.0868 * 23)) / 100.
func TestATrendKnowsItsError(t *testing.T) {
	var samples []sample
	for i := range blocks * 10 {
		files := 110.0
		if i/10%2 == 1 {
			files = 90
		}
		samples = append(samples, sample{at: time.Duration(i) * 15 * time.Second, files: files})
	}
	got, ok := trendOf(samples, func(s sample) float64 { return s.files })
	if !ok || math.Abs(got.perHour) > got.plusMinus || math.Abs(got.plusMinus-0.0739) > 0.002 {
		t.Errorf("%+v, want a slope of about 0 and an error of 0.0739", got)
	}
}

// What rises at the beginning and then stays is shown with both slopes.
func TestUsageShowsTheSlopeWithoutTheBeginning(t *testing.T) {
	var samples []sample
	for at := time.Duration(0); at < time.Hour; at += 10 * time.Second {
		samples = append(samples, sample{at: at, memory: 64 + 64*min(at, settled).Hours()})
	}
	var text strings.Builder
	p := &printer{to: &text}
	p.showUsage(usage{"coordinators": samples, "workers": samples[:100]})
	lines := strings.Split(text.String(), "\n")
	if len(lines) < 4 || !strings.HasSuffix(lines[2], "+0.0% ± 0.0%") || strings.Count(lines[2], "+0.0%") != 1 {
		t.Errorf("memory rises for %v only:\n%s", settled, text.String())
	}
	if last := lines[len(lines)-3]; !strings.HasSuffix(last, "not measured") {
		t.Errorf("a run of 17 minutes: %q", last)
	}
}
