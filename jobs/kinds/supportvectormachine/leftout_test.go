package supportvectormachine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/semidefinite"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Worked by hand: a violation of 2 around a bias of 1 has the extremes 0 and 2, so that a coefficient is idle below
// -0.5 where it may grow alone, and above 2.5 where it may fall alone.
func TestIdleByHand(t *testing.T) {
	w := walk{training: &training{model: &model{violation: []float64{2, math.MaxFloat64}, bias: []float64{1, 1}}}}
	for _, c := range []struct {
		machine        int
		y, alpha, cost float64
		value          float64
		want           bool
	}{
		{0, 1, 0, 1, -0.51, true}, {0, 1, 0, 1, -0.5, false}, {0, 1, 0, 1, 9, false},
		{0, 1, 1, 1, 2.51, true}, {0, 1, 1, 1, 2.5, false}, {0, 1, 1, 1, -9, false},
		{0, -1, 0, 1, 2.51, true}, {0, -1, 1, 1, -0.51, true}, {0, -1, 0, 1, -9, false},
		{0, 1, 0.5, 1, -9, false}, {0, 1, 0.5, 1, 9, false}, // between its bounds
		{1, 1, 0, 1, -9, false}, // of a machine that was not measured yet
	} {
		if got := w.idles(c.machine, c.y, c.alpha, c.cost, c.value); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A record is left out after three idle rounds in turn, but not while a working set has it.
func TestLeftOutAfterRoundsInTurn(t *testing.T) {
	m := &model{violation: []float64{2}, bias: []float64{1}, space: twoClasses()}
	w := walk{training: &training{model: m}, tally: &tally{classes: machines{voting.Classes(2), 1}}, shrinks: true,
		after: coefficients{alpha: []float64{0}, f: []float64{0}, idle: []uint8{0}}}
	far, near := 5.0, 0.0 // f of side +1, whose target is 1
	for round, c := range []struct {
		f     float64
		works bool
		want  uint8
	}{
		{far, false, 1}, {far, false, 2}, {near, false, 0}, {far, false, 1}, {far, true, 0}, {far, false, 1},
		{far, false, 2}, {far, false, 3}, {near, false, 3}, // whose decision is not up to date
	} {
		if w.after.f[0] = c.f; c.works {
			w.training.rows = table{ordinal: []int64{4}}
		} else {
			w.training.rows = table{}
		}
		w.noteIdle(record{ordinal: 4}, 1, 1)
		if w.after.idle[0] != c.want || w.leftOut(0) != (c.want == idleRounds) {
			t.Errorf("round %d: idle for %d rounds, not %d", round, w.after.idle[0], c.want)
		}
	}
}

// trainWhole trains with no record left out.
func trainWhole(t *testing.T, params string, records []jobstest.Record) *model {
	t.Helper()
	spec := specOf(params)
	algorithm, err := newOf(spec, semidefinite.MaxOrder, true)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards([][]jobstest.Record{records}, 50),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModel(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// With and without records left out, machines reach tol and the same objective, within what is proved of both.
func TestLeftOutProvesTheSame(t *testing.T) {
	for _, c := range []struct {
		params  string
		records []jobstest.Record
	}{
		{`{"gamma":1,"tol":1e-6,"working_set":32}`, groups(300, 4, 2)},
		{`{"gamma":0.2,"C":100,"tol":1e-6,"working_set":16}`, groups(200, 4, 2)},
		{`{"gamma":1,"tol":1e-6,"working_set":32}`, groups(240, 5, 3)},
		{`{"kernel":"linear","C":0.1,"tol":1e-4,"working_set":8}`, groups(300, 4, 2)},
		{`{"gamma":1,"tol":1e-6,"working_set":8,"mode":"regress"}`, wave(200)},
	} {
		want := trainWhole(t, c.params, c.records)
		for _, blocks := range []int{1, 5} {
			params := fmt.Sprintf(`{"blocks":%d,%s`, blocks, c.params[1:])
			got, _ := train(t, params, c.records)
			for k, p := range got.proofs {
				gap := p.GapUpper + want.proofs[k].GapUpper
				if off := math.Abs(p.Primal - want.proofs[k].Primal); !(off <= gap) || got.violation[k] > 1e-4 {
					t.Errorf("%s: machine %d: primal off by %v, proved to %v; violation %v", params, k, off, gap,
						got.violation[k])
				}
			}
			t.Logf("%s: %d rounds, %d whole", params, got.rounds, want.rounds)
		}
	}
}

// wave are numbers over one column.
func wave(n int) []jobstest.Record {
	records := groups(n, 1, 2)
	for i := range records {
		records[i].Label = fmt.Sprint(math.Sin(float64(2 * records[i].Dense[0])))
	}
	return records
}

// A pass that finds violators among records that were left out goes on with float32 values, and compares the next pass
// with no other.
func TestViolatorsAmongLeftOut(t *testing.T) {
	p, s := &trainPhase{}, &training{model: &model{violation: []float64{0.5}}, settled: []int32{1},
		proved: math.MaxFloat64}
	p.trainOn(s, 0.5, false)
	if s.stage != stageTrain || s.whole != 1 || s.exact != 0 || s.proved != math.MaxFloat64 || s.settled[0] != 0 {
		t.Errorf("after records were left out: %+v", s)
	}
	p.trainOn(s, 0.4, false)
	if s.proved != 0.4 || s.exact != 0 {
		t.Errorf("after a pass of all records: %+v", s)
	}
	if p.trainOn(s, 0.3, true); s.exact != 1 || s.proved != 0.3 {
		t.Errorf("after a pass that did not halve the violation: %+v", s)
	}
}

func TestFaultsOfIdle(t *testing.T) {
	for _, idle := range [][]uint8{{1}, {0, 4}, {0, 0, 0}} {
		w := walk{training: &training{model: &model{space: twoClasses()}}, shrinks: true,
			before: coefficients{alpha: []float64{0, 0}, f: []float64{0, 0}, idle: idle}}
		var fault *protocol.Fault
		if err := w.carryIdle(0, 2); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%v: %v", idle, err)
		}
	}
	w := walk{training: &training{model: &model{space: twoClasses()}}, shrinks: true}
	if err := w.carryIdle(0, 2); err != nil || !slices.Equal(w.after.idle, []uint8{0, 0}) {
		t.Errorf("%v, %v", w.after.idle, err)
	}
	arrays := jobs.ArraysOf(&coefficients{alpha: []float64{0}, f: []float64{0}, idle: []uint8{2}})
	var read coefficients
	if _, err := jobs.Read(arrays, &read); err != nil || !slices.Equal(read.idle, []uint8{2}) {
		t.Errorf("read %v, %v", read.idle, err)
	}
}

func twoClasses() *features.Space { return &features.Space{Labels: jobs.StringsOf("a", "b")} }
