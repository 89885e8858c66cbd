package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

// fake is a contender whose every run takes as long as told.
func fake(name string, took time.Duration, checksum float64, order *[]string) contender {
	return contender{name: name, run: func(times int) (measure.Sample, error) {
		*order = append(*order, name)
		all := took * time.Duration(times)
		return measure.Sample{Wall: all, CPU: all, Times: times, Checksum: checksum}, nil
	}}
}

func TestRaceRotatesTheOrderAndRepeatsShortRuns(t *testing.T) {
	var order []string
	contenders := []contender{
		fake("a", time.Millisecond, 5, &order),
		fake("b", time.Second, 5, &order),
		fake("c", 10*time.Millisecond, 5, &order),
	}
	r, err := race(workload{id: "w", amount: 1e6}, 1, contenders,
		pace{minRounds: 4, maxRounds: 4, minSample: 25 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	const want = "abc" + "abc" + "bca" + "cab" + "abc" // the first is the warm-up
	if got := strings.Join(order, ""); got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	for i, times := range []int{25, 1, 3} {
		if s := r.entries[i].samples; len(s) != 4 || s[0].Times != times {
			t.Errorf("%s: samples %+v, want 4 of %d times", r.entries[i].name, s, times)
		}
	}
	if got := r.rates(r.entries[0]); !slices.Equal(got, []float64{1, 1, 1, 1}) {
		t.Errorf("rates %v, want 1e6 a millisecond = 1", got)
	}
	if got := r.ratios(r.entries[0], r.entries[1], r.entries[2]); got[0] != 10 {
		t.Errorf("ratio to the best of the others %v, want 10", got[0])
	}
}

func TestRaceRefusesContendersThatDisagree(t *testing.T) {
	var order []string
	near, far := fake("near", 1, 100.05, &order), fake("far", 1, 101, &order)
	bound := fake("bound", 1, 0, &order)
	bound.bound = true
	ours := fake("ours", 1, 100, &order)
	p := pace{minRounds: 1, maxRounds: 1}
	if _, err := race(workload{id: "w"}, 1, []contender{bound, ours, near}, p); err != nil {
		t.Error(err)
	}
	_, err := race(workload{id: "w"}, 1, []contender{bound, ours, near, far}, p)
	if err == nil || !strings.Contains(err.Error(), "ours and far") {
		t.Errorf("error %v, want one that names ours and far", err)
	}
}

func TestRaceStopsAtAnError(t *testing.T) {
	broken := contender{name: "broken",
		run: func(int) (measure.Sample, error) { return measure.Sample{}, io.ErrUnexpectedEOF }}
	if _, err := race(workload{}, 1, []contender{broken}, pace{minRounds: 1}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

func TestPaceEndsWithTheBudgetButNotBeforeTheLeastRounds(t *testing.T) {
	p := pace{budget: time.Second, minRounds: 3, maxRounds: 10}
	for _, c := range []struct {
		rounds int
		spent  time.Duration
		want   bool
	}{
		{2, time.Minute, true}, {3, time.Minute, false}, {3, 0, true}, {9, 0, true}, {10, 0, false},
	} {
		if got := p.another(c.rounds, c.spent); got != c.want {
			t.Errorf("another after %d rounds and %v: %v", c.rounds, c.spent, got)
		}
	}
}
