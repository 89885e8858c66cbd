package nemesis_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/chaos/nemesis"
)

func TestAPlanFollowsFromItsSeed(t *testing.T) {
	text := func(seed uint64) string {
		out, err := json.Marshal(nemesis.Draw(seed, 10*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	once := text(1)
	if again := text(1); again != once {
		t.Error("one seed makes two plans")
	}
	if once == text(2) {
		t.Error("two seeds make one plan")
	}
}

// TestPlans: every kind is drawn at some time, a round has one or two faults, and a plan fills its time.
func TestPlans(t *testing.T) {
	drawn := make(map[nemesis.Kind]int)
	two := 0
	for seed := range uint64(50) {
		used := time.Duration(0)
		for _, round := range nemesis.Draw(seed, 5*time.Minute) {
			used += round.Last()
			if len(round.Faults) == 2 {
				two++
			}
			if len(round.Faults) < 1 || len(round.Faults) > 2 || round.Pause < time.Second {
				t.Fatalf("seed %d: %+v", seed, round)
			}
			for _, f := range round.Faults {
				drawn[f.Kind]++
				if f.For < 0 || f.For > 40*time.Second {
					t.Errorf("seed %d: %v", seed, f)
				}
			}
		}
		if used > 5*time.Minute || used < 4*time.Minute {
			t.Errorf("seed %d: the plan takes %v of 5m", seed, used)
		}
	}
	for _, kind := range nemesis.Kinds() {
		if drawn[kind] == 0 {
			t.Errorf("%q was never drawn", kind)
		}
	}
	if two == 0 {
		t.Error("no round has two faults")
	}
}

// TestTenMinutesHoldEveryKind: a run of ten minutes leaves no kind to chance.
func TestTenMinutesHoldEveryKind(t *testing.T) {
	for seed := range uint64(50) {
		drawn := make(map[nemesis.Kind]bool)
		for _, round := range nemesis.Draw(seed, 10*time.Minute) {
			for _, f := range round.Faults {
				drawn[f.Kind] = true
			}
		}
		for _, kind := range nemesis.Kinds() {
			if !drawn[kind] {
				t.Errorf("seed %d: %q is not in a plan of ten minutes", seed, kind)
			}
		}
	}
}

func TestSomeKindsOnly(t *testing.T) {
	for _, round := range nemesis.Draw(3, time.Minute, nemesis.KillAll, nemesis.KillWorker) {
		for _, f := range round.Faults {
			if !slices.Contains([]nemesis.Kind{nemesis.KillAll, nemesis.KillWorker}, f.Kind) {
				t.Errorf("drawn: %v", f)
			}
		}
	}
}

// An hour of lasting kinds has all of them, and ends no process.
func TestLastingKindsEndNoProcess(t *testing.T) {
	drawn := make(map[nemesis.Kind]bool)
	for _, round := range nemesis.Draw(3, time.Hour, nemesis.Lasting()...) {
		for _, f := range round.Faults {
			drawn[f.Kind] = true
		}
	}
	for _, kind := range nemesis.Kinds() {
		text := string(kind)
		ends := slices.ContainsFunc([]string{"kill", "SIGTERM", "member replaced", "log", "snapshot", "EIO", "lying"},
			func(part string) bool { return strings.HasPrefix(text, part) })
		if drawn[kind] == ends {
			t.Errorf("%s: drawn %v, ends a process %v", kind, drawn[kind], ends)
		}
	}
}
