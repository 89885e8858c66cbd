package features

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

var nan = float32(math.NaN())

// gaps are rows of which the second column misses two numbers of four: its mean is 3.
var gaps = [][]point{
	{{"a", []float32{1, 2}}, {"b", []float32{3, nan}}},
	{{"a", []float32{5, 4}}, {"b", []float32{7, nan}}},
}

func missingParams(scale string, missing filling, fill float64) Params {
	p := scaleParams(scale)
	p.Missing = Missing{Missing: missing, Fill: fill}
	return p
}

func TestMissingByHand(t *testing.T) {
	later := []point{{"", []float32{nan, nan}}, {"", []float32{1, 5}}}
	half := float32(1 / math.Sqrt(0.5))
	for _, c := range []struct {
		params Params
		want   []float32
		mean   []float64
	}{
		{missingParams(ScaleNone, missingMean, 0), []float32{4, 3, 1, 5}, []float64{4, 3}},
		{missingParams(ScaleNone, missingConstant, -1), []float32{-1, -1, 1, 5}, []float64{4, 1}},
		{missingParams(ScaleNone, missingIndicator, 0), []float32{4, 3, 1, 1, 5, 0}, []float64{4, 3, 0.5}},
		{missingParams(ScaleMinMax, missingIndicator, 0), []float32{0.5, 0.5, 1, 0, 1.5, 0}, []float64{0.5, 0.5, 0.5}},
		{missingParams(ScaleStandard, missingIndicator, 0),
			[]float32{0, 0, 1, float32(-3 / math.Sqrt(5)), 2 * half, -1}, []float64{0, 0, 0}},
	} {
		s := spaceOf(t, c.params, leaves(gaps, 1, denseBlock))
		if got := read(t, s, later); !slices.Equal(got, c.want) || !slices.Equal(s.Mean, c.mean) {
			t.Errorf("%+v: %v, mean %v; want %v, %v", c.params.Missing, got, s.Mean, c.want, c.mean)
		}
	}
	mapped := missingParams(ScaleNone, missingConstant, 2)
	mapped.Map = &Mapping{Degree: 2}
	s := spaceOf(t, mapped, leaves(gaps, 1, denseBlock))
	if got := read(t, s, later[:1]); !slices.Equal(got, []float32{2, 2, 4, 4, 4}) {
		t.Errorf("mapped: %v", got)
	}
}

// A space of rows that miss numbers is that of the rows with the numbers put in, to the bit, but for what it puts in
// later. Blocks and tasks change nothing.
func TestMissingIsPuttingIn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := drawShards(rt)
		scale := rapid.SampledFrom([]string{ScaleNone, ScaleStandard, ScaleMinMax, ScaleMaxAbs}).Draw(rt, "scale")
		for _, shard := range shards {
			for i := range shard {
				shard[i].x = append(shard[i].x, 3)
				if j := rapid.IntRange(0, 2*len(shard[i].x)).Draw(rt, "missing"); j < len(shard[i].x)-1 {
					shard[i].x[j] = nan
				}
			}
		}
		got, err := run(t, missingParams(scale, missingMean, 0), leaves(shards, 1, denseBlock), jobstest.Grouping{})
		if err != nil {
			wantFault(t, "all missing", err, protocol.CodeInputEmpty, -1)
			return
		}
		again, err := run(t, missingParams(scale, missingMean, 0), leaves(shards, 3, denseBlock),
			jobstest.DrawGrouping(rt))
		if err != nil || jobstest.Digest(again) != jobstest.Digest(got) {
			rt.Fatalf("another space (%v)", err)
		}
		s, err := ReadSpace(got)
		if err != nil {
			rt.Fatal(err)
		}
		for _, shard := range shards {
			for i := range shard {
				filled := make([]float32, s.Width)
				s.imputer.row(filled, shard[i].x)
				shard[i].x = filled
			}
		}
		want, err := run(t, scaleParams(scale), leaves(shards, 1, denseBlock), jobstest.Grouping{})
		if err != nil {
			rt.Fatal(err)
		}
		delete(got, missingArray)
		delete(got, missingArray+".flagged")
		if jobstest.Digest(got) != jobstest.Digest(want) {
			rt.Error("the space of the rows with numbers put in is another")
		}
	})
}

func TestMissingRefused(t *testing.T) {
	mapped := missingParams(ScaleNone, missingMean, 0)
	mapped.Map = &Mapping{Degree: 2}
	for name, p := range map[string]Params{
		"a fill of the mean": missingParams(ScaleNone, missingMean, 1), "mapped": mapped,
		"l2": missingParams(ScaleL2, missingIndicator, 0), "unknown": missingParams(ScaleNone, "median", 0),
		"fill beyond float32": missingParams(ScaleNone, missingConstant, 1e39),
	} {
		_, err := New(p, protocol.JobSpec{}, "next")
		wantFault(t, name, err, protocol.CodeSpecInvalid, -1)
	}
	_, err := run(t, scaleParams(ScaleNone), leaves(gaps, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "nothing is put in", err, protocol.CodeBadRecord, 1)
	_, err = run(t, missingParams(ScaleNone, missingMean, 0), leaves(fourPoints, 1, sparseBlock), jobstest.Grouping{})
	wantFault(t, "sparse vectors", err, protocol.CodeSpecInvalid, -1)
	empty := [][]point{{{"a", []float32{1, nan}}}, {{"b", []float32{2, nan}}}}
	_, err = run(t, missingParams(ScaleNone, missingMean, 0), leaves(empty, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "a column that misses all", err, protocol.CodeInputEmpty, -1)
	infinite := [][]point{{{"a", []float32{1, float32(math.Inf(1))}}}}
	_, err = run(t, missingParams(ScaleNone, missingMean, 0), leaves(infinite, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "infinity is not missing", err, protocol.CodeBadRecord, 0)
	s := spaceOf(t, scaleParams(ScaleStandard), leaves(fourPoints, 1, denseBlock))
	_, err = s.NewReader().Read(denseBlock(gaps[0], 0), nil)
	wantFault(t, "missing later alone", err, protocol.CodeBadRecord, 1)
}

func TestHostileMissing(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"not finite":    func(a jobs.Arrays) { jobs.Put(a, missingArray, []float32{1, nan}) },
		"short":         func(a jobs.Arrays) { jobs.Put(a, missingArray, []float32{1}) },
		"flag beyond":   func(a jobs.Arrays) { jobs.Put(a, missingArray+".flagged", []int32{2}) },
		"flag below 0":  func(a jobs.Arrays) { jobs.Put(a, missingArray+".flagged", []int32{-1}) },
		"two flags":     func(a jobs.Arrays) { jobs.Put(a, missingArray+".flagged", []int32{0, 1}) },
		"flags missing": func(a jobs.Arrays) { delete(a, missingArray+".flagged") },
		"width 2":       func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(2)) },
		"sparse":        func(a jobs.Arrays) { jobs.PutScalar(a, "features.form", int32(sparse)) },
	} {
		a, err := run(t, missingParams(ScaleNone, missingIndicator, 0), leaves(gaps, 1, denseBlock),
			jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		spoil(a)
		_, err = ReadSpace(a)
		wantCorrupt(t, name, err)
	}
	phase, err := New(missingParams(ScaleNone, missingMean, 0), protocol.JobSpec{}, "next")
	if err != nil {
		t.Fatal(err)
	}
	partial := func() jobs.Arrays {
		leaf := jobs.Leaf{Blocks: leaves(gaps[:1], 2, denseBlock)[0]}
		a, _, err := phase.Map(t.Context(), nil, leaf, nil, kernelops.Generic())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"more than records": func(a jobs.Arrays) { jobs.Put(a, "missing.count", []int64{3, 0}) },
		"below 0":           func(a jobs.Arrays) { jobs.Put(a, "missing.count", []int64{-1, 0}) },
		"no range":          func(a jobs.Arrays) { jobs.Put(a, "missing.low", []float32{nan, 2}) },
		"short":             func(a jobs.Arrays) { jobs.Put(a, "missing.high", []float32{3}) },
	} {
		bad := partial()
		spoil(bad)
		_, err := phase.Merge(partial(), bad)
		wantCorrupt(t, name, err)
	}
}
