package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

func TestSpreadIsTheMedianAndLinearQuartiles(t *testing.T) {
	if got := measure.SpreadOf([]float64{4, 1, 3, 2}); got != (measure.Spread{Median: 2.5, Low: 1.75, High: 3.25}) {
		t.Errorf("%+v", got)
	}
	if got := measure.SpreadOf([]float64{7}); got != (measure.Spread{Median: 7, Low: 7, High: 7}) {
		t.Errorf("%+v", got)
	}
	if got := measure.SpreadOf(nil); !math.IsNaN(got.Median) {
		t.Errorf("%+v", got)
	}
}

// ran is an entry with one run of each length, in nanoseconds.
func ran(name string, amount float64, bound bool, nanoseconds ...int) entry {
	e := entry{contender: contender{name: name, amount: amount, bound: bound}}
	for _, n := range nanoseconds {
		e.samples = append(e.samples, measure.Sample{CPU: time.Duration(n), Wall: 1, Times: 1})
	}
	return e
}

func TestJudgeTakesTheMedianOfTheRatiosOfRounds(t *testing.T) {
	r := result{workload: workload{id: "w", amount: 1}, threads: 1, entries: []entry{
		ran(wide, 0, false, 10, 10, 10),
		ran("faiss", 0, false, 15, 30, 40),   // ratios 1.5, 3, 4
		ran("sklearn", 0, false, 50, 20, 30), // the better one in rounds 2 and 3: 2, 3
		ran(zmm, 2, true, 16, 16, 16),        // twice the work: 80 %
	}}
	all := []goal{
		{id: "both", workload: "w", subject: wide, against: best, least: 2},
		{id: "peak", workload: "w", subject: wide, against: []string{zmm}, least: 0.85},
		{id: "rate", workload: "w", subject: wide, least: 0.1},
		{id: "absent", workload: "w", subject: wide, against: []string{"openblas"}, least: 1},
		{id: "elsewhere", workload: "v", subject: wide, least: 1},
	}
	verdicts := judge([]result{r, {workload: workload{id: "v"}, threads: 2}}, all)
	for i, want := range []struct {
		median  float64
		met     bool
		missing string
	}{
		{2, true, ""}, {0.8, false, ""}, {0.1, true, ""}, {0, false, "no contender openblas"},
		{0, false, "v was not run"},
	} {
		v := verdicts[i]
		if math.Abs(v.measured.Median-want.median) > 1e-12 || v.met() != want.met || v.missing != want.missing {
			t.Errorf("%s: measured %+v, met %v, missing %q; want %+v", v.id, v.measured, v.met(), v.missing, want)
		}
	}
}

func TestLimitIsThePeakOfTheOwnInstructionsElseTheHighest(t *testing.T) {
	r := result{threads: 1, entries: []entry{
		ran(ymm, 10, true, 1), ran(zmm, 20, true, 1), ran(narrow, 1, false, 1), ran("openblas", 1, false, 1),
	}}
	for _, c := range []struct {
		of   int
		want string
	}{{2, ymm}, {3, zmm}} {
		if l, ok := r.limitOf(r.entries[c.of]); !ok || l.name != c.want {
			t.Errorf("limit of %s: %s, want %s", r.entries[c.of].name, l.name, c.want)
		}
	}
}

// TestGoalsNameWhatIsRun: a goal of a workload that nobody runs could not be met.
func TestGoalsNameWhatIsRun(t *testing.T) {
	var ids, seen []string
	for _, w := range workloads() {
		ids = append(ids, w.id)
	}
	for _, g := range goals() {
		if !slices.Contains(ids, g.workload) {
			t.Errorf("goal %s is about %s, which is not run", g.id, g.workload)
		}
		if slices.Contains(seen, g.id) {
			t.Errorf("two goals are called %s", g.id)
		}
		seen = append(seen, g.id)
	}
}

func TestLimitsAreThoseOfTheMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "limits.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# About\n    * `example`: indented\n## here\n* `generic`: one port.\n## there\n* `sparse-dot`: other.\n")
	why, err := readLimits(file, "here")
	if err != nil || len(why) != 1 || why["generic"] != "one port." {
		t.Errorf("%v, %v", why, err)
	}
	write("## there\n* `no-such-goal`: x\n")
	if _, err := readLimits(file, "here"); err == nil || !strings.Contains(err.Error(), "no-such-goal") {
		t.Errorf("error %v, want one that names the goal", err)
	}
	if _, err := readLimits("limits.md", "here"); err != nil {
		t.Error(err)
	}
}
