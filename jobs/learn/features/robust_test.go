package features

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

// The centers and scales are those of scikit-learn 1.9.1's RobustScaler.
func TestRobustByHand(t *testing.T) {
	rows := [][]float32{{1, 5}, {2, 5}, {4, 5}, {10, 5}, {-3, 6}, {7, 1e6}}
	for _, c := range []struct {
		records       int
		shift, factor []float64
	}{
		{6, []float64{3, 5}, []float64{1 / 5.0, 1 / 0.75}},
		{5, []float64{2, 5}, []float64{1 / 3.0, 1}},
		{1, []float64{1, 5}, []float64{1, 1}},
	} {
		var points []point
		for _, row := range rows[:c.records] {
			points = append(points, point{"a", row})
		}
		s := spaceOf(t, scaleParams(ScaleRobust), leaves([][]point{points}, 2, denseBlock))
		if !slices.Equal(s.shift, c.shift) || !slices.Equal(s.factor, c.factor) {
			t.Errorf("%d records: shift %v, factor %v; want %v, %v", c.records, s.shift, s.factor, c.shift, c.factor)
		}
	}
}

// The quartiles are those of sorted columns; blocks and tasks change no bit; and numbers are put in and mapped before.
func TestRobustOfAnyRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := drawShards(rt)
		p := scaleParams(ScaleRobust)
		if rapid.Bool().Draw(rt, "mapped") {
			p.Map = &Mapping{Degree: 2}
		}
		got, err := run(t, p, leaves(shards, 1, denseBlock), jobstest.Grouping{})
		if err != nil {
			rt.Fatal(err)
		}
		again, err := run(t, p, leaves(shards, 4, denseBlock), jobstest.DrawGrouping(rt))
		if err != nil || jobstest.Digest(again) != jobstest.Digest(got) {
			rt.Fatalf("another space (%v)", err)
		}
		s, err := ReadSpace(got)
		if err != nil {
			rt.Fatal(err)
		}
		p.Scale = ScaleNone
		plain := spaceOf(t, p, leaves(shards, 1, denseBlock))
		v, err := plain.NewReader().Read(denseBlock(slices.Concat(shards...), 0), nil)
		if err != nil {
			rt.Fatal(err)
		}
		for j := range v.Dense.Cols {
			var column []float64
			for i := range v.Rows {
				column = append(column, float64(v.Dense.Row(i)[j]))
			}
			slices.Sort(column)
			percentile := func(q float64) float64 {
				at := q * float64(len(column)-1)
				low := int(at)
				return column[low] + (column[min(low+1, len(column)-1)]-column[low])*(at-float64(low))
			}
			spread := percentile(0.75) - percentile(0.25)
			if spread == 0 {
				spread = 1
			}
			if math.Abs(s.shift[j]-percentile(0.5)) > 1e-9*(1+math.Abs(s.shift[j])) ||
				math.Abs(s.factor[j]*spread-1) > 1e-9 {
				rt.Errorf("column %d: shift %v, factor %v; median %v, spread %v", j, s.shift[j], s.factor[j],
					percentile(0.5), spread)
			}
		}
	})
}

func TestRobustRefused(t *testing.T) {
	wantFault(t, "one pass", scaleParams(ScaleRobust).CheckOnePass("Test"), protocol.CodeSpecInvalid, -1)
	_, err := run(t, scaleParams(ScaleRobust), leaves(fourPoints, 1, sparseBlock), jobstest.Grouping{})
	wantFault(t, "sparse vectors", err, protocol.CodeSpecInvalid, -1)
	wide := [][]point{{{"a", make([]float32, maxRobust+1)}}}
	_, err = run(t, scaleParams(ScaleRobust), leaves(wide, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "too many columns", err, protocol.CodeInputLimit, -1)
}

// A state of a scan that is damaged is refused.
func TestHostileScans(t *testing.T) {
	b, err := NewBuilder(scaleParams(ScaleRobust), protocol.JobSpec{Kind: "Test"})
	if err != nil {
		t.Fatal(err)
	}
	s := spaceOf(t, scaleParams(ScaleRobust), leaves(fourPoints, 1, denseBlock))
	begun, err := beginScan(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"no space":  func(a jobs.Arrays) { delete(a, scanPrefix+"features.form") },
		"no search": func(a jobs.Arrays) { delete(a, scanPrefix+"ranks") },
		"two ranks": func(a jobs.Arrays) {
			jobs.Put(a, scanPrefix+"ranks", []int64{0, 1})
			jobs.Put(a, scanPrefix+"ranks.prefix", make([]uint32, 4), 2, 2)
			jobs.Put(a, scanPrefix+"ranks.below", make([]int64, 4), 2, 2)
		},
	} {
		state := begun.arrays()
		spoil(state)
		_, err := readScan(state)
		wantCorrupt(t, name, err)
	}
	counts := &Counts{builder: b, ranks: begun.search.NewCounts()}
	if _, err := counts.Plus(&Counts{builder: b}); err == nil {
		t.Error("only one of two partials counts ranks")
	}
	if _, err := begun.narrow(&Counts{builder: b}); err == nil {
		t.Error("a partial without counts")
	}
}
