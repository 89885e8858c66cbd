package kernelperceptron_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
)

func xor() []jobstest.Record {
	return jobstest.DenseRecords([][]float32{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}, "no", "yes", "yes", "no")
}

// The kernel is (<x, y> + 1)^2, whose matrix has 9 on the diagonal and 1 elsewhere. In order:
//
//	epoch 1  (1,1) no:    f = 0                      mistake  alpha -1, b -1
//	         (1,-1) yes:  f = -1 - 1 = -2            mistake  alpha +1, b 0
//	         (-1,1) yes:  f = -1 + 1 + 0 = 0         mistake  alpha +1, b 1
//	         (-1,-1) no:  f = -1 + 1 + 1 + 1 = 2     mistake  alpha -1, b 0
//	epoch 2  each: f = y (9 - 1 + 1 + 1 ...)         f = -9 + 1 + 1 - 1 = -8, 8, 8, -8: none
//
// |w|^2 = sum of alpha f = 32, so the margin is 8/sqrt(32) and the bound (9 + 1) 32 / 64 = 5.
func TestXORByHand(t *testing.T) {
	for _, shards := range []int{1, 2, 4} {
		result := mustRun(t, `{"kernel": "polynomial", "form": "plain", "shuffle": false}`,
			jobstest.Deal(xor(), shards))
		alpha, err := jobs.Get[float64](result.Model, "alpha", 4, 1)
		if err != nil || !slices.Equal(alpha, []float64{-1, 1, 1, -1}) {
			t.Errorf("alpha %v, %v", alpha, err)
		}
		if b, err := jobs.Get[float64](result.Model, "b"); err != nil || !slices.Equal(b, []float64{0}) {
			t.Errorf("b %v, %v", b, err)
		}
		if mistakes, err := jobs.Get[int64](result.Model, "mistakes"); err != nil ||
			!slices.Equal(mistakes, []int64{4, 0}) {
			t.Errorf("mistakes %v, %v", mistakes, err)
		}
		for name, want := range map[string]float64{"train.margin": 8 / math.Sqrt(32), "train.novikoff_bound": 5,
			"train.radius_squared": 9,
			"train.001.mistakes":   4, "train.002.mistakes": 0, "train.supports": 4, "train.epochs": 2} {
			if got, ok := metric(t, result, name); !ok || got != want {
				t.Errorf("%s is %v, not %v", name, got, want)
			}
		}
		labels, scores := decisions(t, result.Model, append(xor(), jobstest.Record{Dense: []float32{0, 0}}))
		if !slices.Equal(labels, []string{"no", "yes", "yes", "no", "no"}) || scores[1][1] != 8 || scores[1][0] != -8 {
			t.Errorf("%v %v", labels, scores)
		}
	}
}

// One epoch of the same: the coefficients of the mean over T = 4 records are alpha less
// 0/4, 1/4, 2/4, 3/4 of each step, and b = (-1 + 0 + 1 + 0)/4.
func TestAveragedByHand(t *testing.T) {
	result := mustRun(t, `{"kernel": "polynomial", "epochs": 1, "shuffle": false}`, jobstest.Deal(xor(), 2))
	alpha, err := jobs.Get[float64](result.Model, "alpha", 4, 1)
	if err != nil || !slices.Equal(alpha, []float64{-1, 0.75, 0.5, -0.25}) {
		t.Errorf("alpha %v, %v", alpha, err)
	}
	if b, err := jobs.Get[float64](result.Model, "b"); err != nil || !slices.Equal(b, []float64{0}) {
		t.Errorf("b %v, %v", b, err)
	}
	if _, ok := metric(t, result, "train.margin"); ok {
		t.Error("a margin without a separator")
	}
}

// The four f that there were, at (1,-1): -1-1 = -2, then 9-1+0 = 8, 8+1+1 = 10, 10-1-1 = 8. The last
// survived the four records of epoch 2 as well: 1 + 4 = 5 votes.
func TestVotedByHand(t *testing.T) {
	result := mustRun(t, `{"kernel": "polynomial", "form": "voted", "shuffle": false}`, jobstest.Deal(xor(), 1))
	if survived, err := jobs.Get[int64](result.Model, "votes.survived"); err != nil ||
		!slices.Equal(survived, []int64{1, 1, 1, 5}) {
		t.Errorf("%v, %v", survived, err)
	}
	labels, scores := decisions(t, result.Model, xor())
	if !slices.Equal(labels, []string{"no", "yes", "yes", "no"}) ||
		!slices.Equal(scores[1], []float64{1. / 8, 7. / 8}) {
		t.Errorf("%v %v", labels, scores)
	}
}

// Three classes on a line with the linear kernel and no bias; x = 1 is a, 2 is b, -1 is c.
//
//	1 is a: f = 0 0 0, the first of the others is b:       alpha(1) = +1 -1 0
//	2 is b: f = 2 -2 0, a is above:                        alpha(2) = -1 +1 0
//	-1 is c: f = -1+2, 1-2, 0 = 1 -1 0, a is above:        alpha(-1) = -1 0 +1
func TestThreeClassesByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{1}, {2}, {-1}}, "a", "b", "c")
	result := mustRun(t, `{"kernel": "linear", "form": "plain", "bias": false, "shuffle": false, "epochs": 1}`,
		jobstest.Deal(records, 1))
	alpha, err := jobs.Get[float64](result.Model, "alpha", 3, 3)
	if err != nil || !slices.Equal(alpha, []float64{1, -1, 0, -1, 1, 0, -1, 0, 1}) {
		t.Errorf("alpha %v, %v", alpha, err)
	}
}

// With room for two, the third mistake takes the place of the first and the fourth that of the
// second; b loses what they brought.
//
//	(1,1) no: -1, b -1; (1,-1) yes: +1, b 0; (-1,1) yes: f = 0, drops (1,1): b 0+1, then +1, b 2;
//	(-1,-1) no: f = 1 + 1 + 2 = 4, drops (1,-1): b 2-1, then -1, b 0
func TestBudgetByHand(t *testing.T) {
	result := mustRun(t, `{"kernel": "polynomial", "form": "plain", "shuffle": false, "epochs": 1, "budget": 2}`,
		jobstest.Deal(xor(), 1))
	alpha, err := jobs.Get[float64](result.Model, "alpha", 2, 1)
	if err != nil || !slices.Equal(alpha, []float64{1, -1}) {
		t.Errorf("alpha %v, %v", alpha, err)
	}
	if offset, err := jobs.Get[int64](result.Model, "supports.record"); err != nil ||
		!slices.Equal(offset, []int64{2, 3}) {
		t.Errorf("%v, %v", offset, err)
	}
	if b, err := jobs.Get[float64](result.Model, "b"); err != nil || !slices.Equal(b, []float64{0}) {
		t.Errorf("b %v, %v", b, err)
	}
	if n, ok := metric(t, result, "train.dropped"); !ok || n != 2 {
		t.Errorf("%v dropped", n)
	}
}

// The same in the mean of f over T = 4 records: a vector that leaves f stays in the mean for the records it lived.
//
//	(1,1):   -1 in records 1, 2        -2/4
//	(1,-1):  +1 in records 2, 3        +2/4
//	(-1,1):  +1 in records 3, 4        +2/4
//	(-1,-1): -1 in record 4            -1/4
//	b:       -1, 0, 2, 0 (see above)    1/4
func TestAveragedBudgetByHand(t *testing.T) {
	result := mustRun(t, `{"kernel": "polynomial", "form": "averaged", "shuffle": false, "epochs": 1, "budget": 2}`,
		jobstest.Deal(xor(), 2))
	alpha, err := jobs.Get[float64](result.Model, "alpha", 4, 1)
	offset, err2 := jobs.Get[int64](result.Model, "supports.record")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	want := map[int64]float64{0: -0.5, 1: 0.5, 2: 0.5, 3: -0.25}
	for i, at := range offset {
		if alpha[i] != want[at] {
			t.Errorf("record %d: %v, not %v", at, alpha[i], want[at])
		}
	}
	if b, err := jobs.Get[float64](result.Model, "b"); err != nil || !slices.Equal(b, []float64{0.25}) {
		t.Errorf("b %v, %v", b, err)
	}
}

// And voted: six steps, of which two take back (1,1) and (1,-1). The four f at (1,-1), with k = 9 for itself and 1 for
// others:
//
//	-1 - 1 = -2;  -1 + 9 + 0 = 8;  9 + 1 + 2 = 12;  1 - 1 + 0 = 0, which is no "yes"
//
// of which each survived one record: two votes for "no", two for "yes", and of equal ones the first.
func TestVotedBudgetByHand(t *testing.T) {
	result := mustRun(t, `{"kernel": "polynomial", "form": "voted", "shuffle": false, "epochs": 1, "budget": 2}`,
		jobstest.Deal(xor(), 2))
	if survived, err := jobs.Get[int64](result.Model, "votes.survived"); err != nil ||
		!slices.Equal(survived, []int64{1, 1, 0, 1, 0, 1}) {
		t.Errorf("%v, %v", survived, err)
	}
	if step, err := jobs.Get[float64](result.Model, "votes.step"); err != nil ||
		!slices.Equal(step, []float64{1, 1, -1, 1, -1, 1}) {
		t.Errorf("%v, %v", step, err)
	}
	labels, scores := decisions(t, result.Model, xor())
	if labels[1] != "no" || !slices.Equal(scores[1], []float64{0.5, 0.5}) {
		t.Errorf("%v %v", labels, scores)
	}
}
