package show

import (
	"testing"

	"github.com/gram-compute/gram/protocol/gramv1"
)

func TestETAText(t *testing.T) {
	for _, c := range []struct {
		eta  *gramv1.Eta
		want string
	}{
		{nil, ""},
		{&gramv1.Eta{}, "unknown yet: no task has ended"},
		{&gramv1.Eta{Bounded: true, RoundsLeft: 7},
			"unknown yet: no task has ended; at most 7 rounds follow this one"},
		{&gramv1.Eta{TimesKnown: 3, P50Ms: 80_000, P90Ms: 125_000, Bounded: true, RoundsLeft: 2},
			"1m20s (p50), 2m05s (p90) for this round; at most 2 rounds follow"},
		{&gramv1.Eta{TimesKnown: 3, P50Ms: 80_000, P90Ms: 125_000, Bounded: true, RoundsLeft: 1},
			"1m20s (p50), 2m05s (p90) for this round; at most 1 round follows"},
		{&gramv1.Eta{TimesKnown: 3, P50Ms: 80_000, P90Ms: 125_000, Bounded: true},
			"1m20s (p50), 2m05s (p90); this is the last round"},
		{&gramv1.Eta{TimesKnown: 1, P50Ms: 400, P90Ms: 1_500},
			"0.4s (p50), 1.5s (p90) for this round; how many follow is not known"},
	} {
		if got := ETAText(c.eta); got != c.want {
			t.Errorf("%v: %q, want %q", c.eta, got, c.want)
		}
	}
}
