package evaluation

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

// handWorked: truth "a" is decided a, a, b; truth "b" is decided b, a, rejected; truth "c", which
// is never predicted, is decided b; "d" is only ever predicted, once, for an "a".
func handWorked() *Confusion {
	c := NewConfusion()
	for _, d := range []struct{ truth, predicted string }{
		{"a", "a"}, {"a", "a"}, {"a", "b"}, {"a", "d"}, {"b", "b"}, {"b", "a"}, {"c", "b"},
	} {
		c.Add(d.truth, d.predicted)
	}
	c.AddRejected("b")
	return c
}

//	       a  b  c  d  rejected
//	a      2  1  0  1  0         precision 2/3, recall 2/4, F1 4/7
//	b      1  1  0  0  1         precision 1/3, recall 1/3, F1 2/6
//	c      0  1  0  0  0         0, 0, 0
//	d      0  0  0  0  0         0, 0, 0
//
// 8 records, 1 rejected, 3 correct. Micro: precision 3/7, recall 3/8, F1 6/15. Macro:
// precision 1/4, recall (1/2 + 1/3)/4 = 5/24, F1 (4/7 + 1/3)/4 = 19/84.
func TestReportByHand(t *testing.T) {
	r := handWorked().Report()
	if r.Records != 8 || r.Rejected != 1 || r.Correct != 3 || len(r.Labels) != 4 {
		t.Fatalf("%+v", r)
	}
	a, b, c, d := r.Labels[0], r.Labels[1], r.Labels[2], r.Labels[3]
	for name, pair := range map[string][2]float64{
		"accuracy":          {r.Accuracy, 3.0 / 8},
		"accuracy answered": {r.AccuracyAnswered, 3.0 / 7},
		"precision a":       {a.Precision, 2.0 / 3},
		"recall a":          {a.Recall, 2.0 / 4},
		"F1 a":              {a.F1, 4.0 / 7},
		"precision b":       {b.Precision, 1.0 / 3},
		"recall b":          {b.Recall, 1.0 / 3},
		"F1 b":              {b.F1, 2.0 / 6},
		"F1 c":              {c.F1, 0},
		"precision d":       {d.Precision, 0},
		"recall d":          {d.Recall, 0},
		"micro precision":   {r.Micro.Precision, 3.0 / 7},
		"micro recall":      {r.Micro.Recall, 3.0 / 8},
		"micro F1":          {r.Micro.F1, 6.0 / 15},
		"macro precision":   {r.Macro.Precision, 1.0 / 4},
		"macro recall":      {r.Macro.Recall, 5.0 / 24},
		"macro F1":          {r.Macro.F1, 19.0 / 84},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-15 {
			t.Errorf("%s %v, want %v", name, pair[0], pair[1])
		}
	}
	if b.Records != 3 || b.Predicted != 3 || b.Correct != 1 || b.Rejected != 1 {
		t.Errorf("label b: %+v", b)
	}
	want := []Confused{{"a", "b", 1}, {"a", "d", 1}, {"b", "a", 1}, {"c", "b", 1}}
	if !slices.Equal(r.Confused, want) {
		t.Errorf("confused %v", r.Confused)
	}
}

func TestConfusedByCountFirst(t *testing.T) {
	c := NewConfusion()
	c.Add("a", "b")
	c.Add("z", "y")
	c.Add("z", "y")
	if got := c.Report().Confused; !slices.Equal(got, []Confused{{"z", "y", 2}, {"a", "b", 1}}) {
		t.Errorf("%v", got)
	}
}

func TestEmptyReport(t *testing.T) {
	r := NewConfusion().Report()
	if r.Accuracy != 0 || r.AccuracyAnswered != 0 || r.Macro != (Ratios{}) || r.Confused == nil {
		t.Errorf("%+v", r)
	}
}

// A label that is the empty string is not a rejection.
func TestEmptyLabel(t *testing.T) {
	c := NewConfusion()
	c.Add("", "")
	c.AddRejected("")
	back, err := jobs.Read(jobs.ArraysOf(c), NewConfusion())
	if err != nil {
		t.Fatal(err)
	}
	if r := back.Report(); r.Correct != 1 || r.Rejected != 1 {
		t.Errorf("%+v", r)
	}
}

func drawConfusion(t *rapid.T) *Confusion {
	c := NewConfusion()
	label := rapid.StringMatching(`[a-d]`)
	for range rapid.IntRange(0, 8).Draw(t, "records") {
		if truth := label.Draw(t, "truth"); rapid.Bool().Draw(t, "rejected") {
			c.AddRejected(truth)
		} else {
			c.Add(truth, label.Draw(t, "predicted"))
		}
	}
	return c
}

func TestArraysRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfusion(t)
		back, err := jobs.Read(jobs.ArraysOf(c), NewConfusion())
		if err != nil {
			t.Fatal(err)
		}
		if jobstest.Digest(jobs.ArraysOf(back)) != jobstest.Digest(jobs.ArraysOf(c)) {
			t.Fatal("another matrix came back")
		}
	})
}

func TestMergeIsAssociative(t *testing.T) {
	var partials []jobs.Arrays
	for i := range 6 {
		judged := NewTally(jobs.Answers{Labels: []string{}})
		judged.confusion = rapid.Custom(drawConfusion).Example(i)
		for n := range 9 {
			judged.mistakes.Offer(mistake(9*i + n))
		}
		partials = append(partials, jobs.ArraysOf(judged))
	}
	jobstest.CheckAssociative(t, judging(Judge{}).Merge, partials)
}

func TestReadConfusionRefuses(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"truth beyond":     func(a jobs.Arrays) { jobs.Put(a, "cells.truth", []int32{4, 0, 0, 1, 1, 1, 2}) },
		"truth negative":   func(a jobs.Arrays) { jobs.Put(a, "cells.truth", []int32{-1, 0, 0, 1, 1, 1, 2}) },
		"predicted beyond": func(a jobs.Arrays) { jobs.Put(a, "cells.predicted", []int32{9, 1, 3, 0, 1, 2, 1}) },
		"predicted below":  func(a jobs.Arrays) { jobs.Put(a, "cells.predicted", []int32{-2, 1, 3, 0, 1, 2, 1}) },
		"count 0":          func(a jobs.Arrays) { jobs.Put(a, "cells.count", make([]int64, 7)) },
		"count short":      func(a jobs.Arrays) { jobs.Put(a, "cells.count", []int64{1}) },
		"missing":          func(a jobs.Arrays) { delete(a, "cells.truth") },
	} {
		a := jobs.ArraysOf(handWorked())
		if n := a["cells.count"].Len(); n != 7 {
			t.Fatalf("%d cells", n)
		}
		spoil(a)
		_, err := jobs.Read(a, NewConfusion())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: want CORRUPT, got %v", name, err)
		}
	}
}
