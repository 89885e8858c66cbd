package web

import (
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/report"
)

// Two workers with one slot each over ten seconds, by hand: one maps 4 s, makes a step of 4 s and is idle; the other
// maps 2 s and is idle since.
func TestWhereTheTimeGoes(t *testing.T) {
	line := &report.Timeline{Workers: []report.Worker{{Name: "w1", Slots: 1}, {Name: "w2", Slots: 1}}}
	line.Marks = []report.Mark{
		{Worker: 0, From: 0, To: 4, Work: report.WorkMap, Tasks: 1, Round: 1, Outcome: report.Committed},
		{Worker: 1, From: 2, To: 4, Work: report.WorkMap, Tasks: 1, Round: 1, Outcome: report.Committed},
		{Worker: 0, From: 4, To: 8, Work: report.WorkStep, Tasks: 1, Round: 1, Outcome: report.Committed},
		{Worker: 1, From: 9, To: 10, Work: report.WorkMap, Tasks: 1, Round: 2},
	}
	s := slowOf(line, 1, 2)
	want := map[string]float64{"leaves": 7, "steps": 4, "not at this job": 7} // of 10 + 8 seconds
	for _, p := range s.Parts {
		if p.Seconds != want[p.Name] || math.Abs(p.Percent-100*p.Seconds/18) > 1e-9 {
			t.Errorf("%+v, want %g s", p, want[p.Name])
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
	if !strings.HasPrefix(s.Bound, "Steps took 40 % of the time") {
		t.Error(s.Bound)
	}
	if len(s.Running) != 1 || s.Running[0] != (slowTask{What: "leaves of round 2", Worker: "w2", Seconds: 1}) {
		t.Errorf("%+v", s.Running)
	}
	if len(s.Ended) != 3 || s.Ended[0].Seconds != 4 || s.Ended[2].Seconds != 2 {
		t.Errorf("%+v", s.Ended)
	}
}

func TestBoundBy(t *testing.T) {
	busy := func(leaves, steps, vain, idle float64) []float64 { return []float64{leaves, 0, steps, 0, vain, idle} }
	for _, c := range []struct {
		busy    []float64
		elapsed float64
		slots   int
		leaves  uint64
		want    string
	}{
		{busy(80, 0, 5, 15), 50, 2, 100, "Leaves take 80 %"},
		{busy(40, 2, 30, 28), 50, 2, 100, "30 % of the workers' time went into tasks that failed"},
		{busy(30, 0, 0, 70), 25, 4, 3, "The round has 3 leaves for 4 slots"},
		{busy(30, 0, 0, 70), 25, 4, 4, ""},
		{busy(0, 0, 0, 0), 0, 0, 0, ""},
	} {
		sum := 0.0
		for _, seconds := range c.busy {
			sum += seconds
		}
		if got := boundBy(c.busy, sum, c.elapsed, c.slots, c.leaves); got != c.want &&
			(c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The parts make up the whole, whatever the timeline.
func TestPartsMakeTheWhole(t *testing.T) {
	line := &report.Timeline{Workers: make([]report.Worker, 3)}
	for i := range 60 {
		line.Marks = append(line.Marks, report.Mark{Worker: i % 3, Slot: i % 2, From: float64(i), To: float64(i) + 0.5,
			Work: report.Work(1 + i%6), Outcome: report.Outcome(1 + i%4), Tasks: 1})
	}
	sum := 0.0
	for _, p := range slowOf(line, 0, 10).Parts {
		sum += p.Percent
	}
	if math.Abs(sum-100) > 1e-6 {
		t.Error(sum)
	}
}
