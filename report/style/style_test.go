package style

import "testing"

func TestClock(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0", -1: "0", 0.25: "250 ms", 0.0015: "1.5 ms", 1.5: "1.5 s", 59.99: "59.99 s", 125: "2 m 05 s",
		3600: "1 h 00 m", 11520.5: "3 h 12 m",
	} {
		if got := Clock(seconds); got != want {
			t.Errorf("Clock(%g) = %q, want %q", seconds, got, want)
		}
	}
}
