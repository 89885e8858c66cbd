package lsh

import (
	"testing"

	"pgregory.net/rapid"
)

// One neighbor at an angle of 90 degrees and a far one at 180: with one hash p is 1/2 and 0, so a recall of 0.9 takes
// four tables, which find 15/16.
func TestChooseByHand(t *testing.T) {
	c, ok := Choose(Hyperplanes, Goal{Recall: 0.9, Near: []float64{1}, Far: []float64{2}, Records: 10, Queries: 10})
	if want := (Curve{Family: Hyperplanes, Tables: 4, Hashes: 1}); !ok || c != want {
		t.Errorf("%+v, %v", c, ok)
	}
}

// Duplicates alone, and none but duplicates far away, still have a width.
func TestChooseOfDuplicates(t *testing.T) {
	for _, far := range [][]float64{{0}, {5}} {
		c, ok := Choose(Normal, Goal{Recall: 0.9, Near: []float64{0}, Far: far, Records: 10, Queries: 1, Columns: 3})
		if !ok || !(c.Width > 0) || c.Tables != 1 {
			t.Errorf("far %v: %+v, %v", far, c, ok)
		}
	}
}

func TestChooseRefuses(t *testing.T) {
	opposite := Goal{Recall: 0.5, Near: []float64{2}, Far: []float64{1}, Records: 10, Queries: 10}
	if c, ok := Choose(Hyperplanes, opposite); ok {
		t.Errorf("neighbors that never collide: %+v", c)
	}
	broad := Goal{Recall: 0.999, Near: []float64{1}, Far: []float64{1}, Records: 10, Queries: 10, Width: 1,
		Columns: MaxNumbers}
	if c, ok := Choose(Normal, broad); ok {
		t.Errorf("one function has all random numbers: %+v", c)
	}
}

// What is chosen reaches the recall, and a table less does not; a width that is given stays.
func TestChooseReachesTheRecall(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := Family(rapid.IntRange(int(Bits), int(Hyperplanes)).Draw(rt, "family"))
		goal := Goal{Recall: rapid.Float64Range(0.1, 0.99).Draw(rt, "recall"), Columns: 100, Records: 1000, Queries: 50}
		goal.Near = rapid.SliceOfN(rapid.Float64Range(0.01, 0.8), 1, 50).Draw(rt, "near")
		goal.Far = rapid.SliceOfN(rapid.Float64Range(0.3, 2), 1, 50).Draw(rt, "far")
		if rapid.Bool().Draw(rt, "given") {
			goal.Width = 2
		}
		c, ok := Choose(f, goal)
		if !ok {
			rt.Fatal("none")
		}
		if c.Mean(goal.Near) < goal.Recall-1e-12 || f.Wide() && goal.Width > 0 && c.Width != goal.Width {
			rt.Fatalf("%+v: %v", c, c.Mean(goal.Near))
		}
		if c.Tables--; c.Tables > 0 && c.Mean(goal.Near) >= goal.Recall+1e-12 {
			rt.Fatalf("%+v would do: %v", c, c.Mean(goal.Near))
		}
	})
}

func TestSpread(t *testing.T) {
	all := make([]float64, 30)
	for i := range all {
		all[len(all)-1-i] = float64(i)
	}
	if some := spread(all, 10); len(some) != 10 || some[0] != 1 || some[1] != 4 || some[9] != 28 {
		t.Error(some)
	}
	if some := spread(all, 30); some[0] != 0 || some[29] != 29 {
		t.Error(some)
	}
}
