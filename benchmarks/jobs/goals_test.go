package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

func samples(milliseconds ...int) (all []measure.Sample) {
	for _, ms := range milliseconds {
		all = append(all, measure.Sample{Wall: time.Hour, CPU: time.Duration(ms) * time.Millisecond, Checksum: 10})
	}
	return all
}

// A ratio is formed within each round; of the three the middle one counts.
func TestRatiosAreThoseOfTheRounds(t *testing.T) {
	r := result{workload: workload{id: "w", threads: 1},
		entries: []entry{{ours, samples(10, 20, 10)}, {sklearn, samples(50, 40, 30)}}}
	for bound, met := range map[float64]bool{2.9: true, 3: true, 3.1: false} {
		v := goal{workload: "w", against: sklearn, bound: bound}.judge([]result{r})
		if v.measured.Median != 3 || v.met() != met {
			t.Errorf("at least %v: %+v, met %v", bound, v.measured, v.met())
		}
	}
	r.threads = 2
	if got := r.seconds(r.entries[0])[0]; got != 3600 {
		t.Errorf("on two threads the clock on the wall counts, not %v s", got)
	}
}

func TestTimesAreAtMostTheirBound(t *testing.T) {
	r := result{workload: workload{id: "w", threads: 1}, entries: []entry{{ours, samples(14, 15, 16)}}}
	for bound, met := range map[float64]bool{14.9: false, 15: true} {
		if v := (goal{workload: "w", bound: bound}).judge([]result{r}); v.met() != met {
			t.Errorf("at most %v ms: %+v, met %v", bound, v.measured, v.met())
		}
	}
}

func TestWhatDidNotRunIsNotMet(t *testing.T) {
	alone := result{workload: workload{id: "w", threads: 1}, entries: []entry{{ours, samples(1)}}}
	for _, results := range [][]result{nil, {alone}} {
		if v := (goal{workload: "w", against: sklearn}).judge(results); v.met() || v.missing == "" {
			t.Errorf("%+v", v)
		}
	}
}

func TestContendersMustAgree(t *testing.T) {
	r := result{workload: workload{tolerance: 0.01}, entries: []entry{{ours, samples(1, 1)}, {sklearn, samples(1, 1)}}}
	r.entries[1].samples[1].Checksum = 10.1
	if err := r.agree(); err != nil {
		t.Error(err)
	}
	r.entries[1].samples[1].Checksum = 10.2
	if err := r.agree(); err == nil || !strings.Contains(err.Error(), "different things") {
		t.Errorf("%v", err)
	}
}

// Every goal is about a workload that there is.
func TestGoalsHaveWorkloads(t *testing.T) {
	known := map[string]bool{}
	for _, w := range workloads() {
		known[w.id] = true
	}
	for _, g := range goals() {
		if !known[g.workload] {
			t.Errorf("goal %s: no workload %q", g.id, g.workload)
		}
	}
}

func TestLimitsNameGoals(t *testing.T) {
	if _, err := readLimits("limits.md", "none"); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "limits.md")
	if err := os.WriteFile(file, []byte("## here\n* `round`: disk\n* `no-goal`: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readLimits(file, "here"); err == nil || !strings.Contains(err.Error(), "no-goal") {
		t.Errorf("%v", err)
	}
}
