package linearmodel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// learner loads the model of a job.
func learner(t *testing.T, result jobstest.Result) jobs.Learner {
	t.Helper()
	l, err := learnOn(result.Model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// tell lets a model predict a record and learn from it.
func tell(t *testing.T, l jobs.Learner, r jobstest.Record) (predicted string, changed bool) {
	t.Helper()
	for block, err := range jobstest.Shards([][]jobstest.Record{{r}}, 1)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := l.Predict(block)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err = l.Update(r.Label); err != nil {
			t.Fatal(err)
		}
		return outcome.Label, changed
	}
	t.Fatal("no block")
	return "", false
}

// now is the model of a learner, as a file would hold it.
func now(t *testing.T, l jobs.Learner) *model {
	t.Helper()
	arrays, err := jobs.Decode(l.Model().Encode())
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModel(arrays)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Worked by hand, of w = 1 from 1 of b and -1 of a with the hinge and C = 1: 1/2 of b falls short by 1/2, so alpha is
// (1/2) / (1/4) = 2, cut to 1, and w is 3/2. -4 of b then falls short by 7: alpha is 7/16, and w is -1/4. -8 of b meets
// its margin and changes nothing. With the square, q is 1/2: alpha is (1 - 0.8/2) / (1/4 + 1/2) = 0.8.
func TestLearnOnByHand(t *testing.T) {
	two := []jobstest.Record{{Label: "b", Dense: []float32{1}}, {Label: "a", Dense: []float32{-1}}}
	_, base := train(t, `{"bias_scale":0,"tol":1e-9}`, two)
	l := learner(t, base)
	for _, c := range []struct {
		x       float32
		want    float64
		changed bool
	}{{0.5, 1.5, true}, {-4, -0.25, true}, {-8, -0.25, false}} {
		predicted, changed := tell(t, l, jobstest.Record{Label: "b", Dense: []float32{c.x}})
		m := now(t, l)
		if math.Abs(m.weights[0]-c.want) > 1e-4 || changed != c.changed || (predicted == "b") != (c.x != -4) {
			t.Errorf("%v of b: weight %v, want %v; predicted %s, changed %v", c.x, m.weights[0], c.want, predicted,
				changed)
		}
	}
	if m := now(t, l); m.told != 3 || m.proofs != nil {
		t.Errorf("%+v", m)
	}
	_, base = train(t, `{"bias_scale":0,"tol":1e-9,"loss":"squared_hinge"}`, two)
	l = learner(t, base)
	tell(t, l, jobstest.Record{Label: "b", Dense: []float32{0.5}})
	if w := now(t, l).weights[0]; math.Abs(w-1.2) > 1e-4 {
		t.Errorf("squared hinge: %v", w)
	}
}

// What was told is closest to what was known: no other weights have less of |w - before|^2 / 2 + c loss. A model told
// the same records in the same order is the same, to the bit, on any kernel set.
func TestLearnOnIsBest(t *testing.T) {
	records := groups(90, 4, 3, false)
	for _, loss := range []string{"hinge", "squared_hinge", "squared", "logistic"} {
		for _, classes := range []string{oneVsRest, oneVsOne} {
			_, base := train(t, fmt.Sprintf(`{"loss":%q,"classes":%q,"C":0.3}`, loss, classes), records[:60])
			l := learner(t, base)
			for i, r := range records[60:70] {
				before := now(t, l)
				tell(t, l, r)
				checkClosest(t, fmt.Sprint(loss, " ", classes, " ", i), before, now(t, l), r)
			}
			for _, ops := range kernelops.All() {
				again, err := learnOn(base.Model, ops)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range records[60:70] {
					tell(t, again, r)
				}
				if jobstest.Digest(again.Model()) != jobstest.Digest(l.Model()) {
					t.Errorf("%s: another model on %s", loss, ops.Name)
				}
			}
		}
	}
}

// checkClosest compares the objective with that of weights a little to either side along the record.
func checkClosest(t *testing.T, name string, before, after *model, r jobstest.Record) {
	t.Helper()
	x, class := dual.Row{Values: r.Dense, Bias: 1}, int(r.Label[0]-'a')
	for k := range after.machines() {
		was, y := before.row(before.weights, k), after.side(k, class)
		objective := func(w []float64) float64 {
			off := slices.Clone(w)
			for j := range off {
				off[j] -= was[j]
			}
			return dual.SquareOf(off)/2 + math.Abs(y)*0.3*after.loss.Of(after.loss.Target()-y*x.Dot(w))
		}
		best := objective(after.row(after.weights, k))
		for _, step := range []float64{-1e-3, 1e-3} {
			other := slices.Clone(after.row(after.weights, k))
			x.AddTo(other, step)
			if objective(other) < best {
				t.Errorf("%s, machine %d: %v, a step of %v away %v", name, k, best, step, objective(other))
			}
		}
	}
}

// A sparse model and one of two classes learn too; a job goes on from what was learned, and proves about its records.
func TestLearnOnThenTrain(t *testing.T) {
	for _, classes := range []int{2, 3} {
		records := groups(120, 6, classes, true)
		m, base := train(t, `{"margin":true}`, records[:60])
		l := learner(t, base)
		wrong := 0
		for _, r := range records[60:] {
			if predicted, _ := tell(t, l, r); predicted != r.Label {
				wrong++
			}
		}
		if slices.Equal(now(t, l).weights, m.weights) || wrong > 30 || now(t, l).margins != nil {
			t.Errorf("%d wrong of 60", wrong)
		}
		text, err := Kind().Describe(l.Model(), jobs.DescribeOptions{})
		if err != nil || !strings.Contains(text, "from 60 records since, so nothing is proved") {
			t.Errorf("%v\n%s", err, text)
		}
		if figures, err := Kind().Figures(l.Model(), nil); err != nil || len(figures) > 0 && figures[0].Table != nil {
			t.Errorf("%v, %+v", err, figures)
		}
		for _, solver := range solvers {
			result, err := goOn(t, fmt.Sprintf(`{"solver":%q}`, solver), jobstest.Result{Model: l.Model()}, records)
			if err != nil {
				t.Fatal(err)
			}
			if on, err := readModel(result.Model); err != nil || on.told != 0 || on.relative() > 1e-3 {
				t.Errorf("%s: %+v, %v", solver, on, err)
			}
		}
	}
}

func TestLearnOnRefuses(t *testing.T) {
	records := groups(60, 3, 2, false)
	_, base := train(t, `{}`, records)
	l := learner(t, base)
	if _, err := l.Update("a"); err == nil {
		t.Error("a label was taken before a record")
	}
	tell(t, l, records[0])
	if _, err := l.Update("a"); err == nil {
		t.Error("one record was told twice")
	}
	var fault *protocol.Fault
	l.(*online).seen = true
	if _, err := l.Update("c"); !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
		t.Errorf("an unknown label: %v", err)
	}
	for _, spoil := range []func(jobs.Arrays){
		func(a jobs.Arrays) { jobs.PutScalar(a, "training.told", int64(0)) },
		func(a jobs.Arrays) { jobs.Put(a, "costs", []float64{-1, 1}) },
		func(a jobs.Arrays) { jobs.Put(a, "costs", []float64{math.NaN(), 1}) },
	} {
		_, again := train(t, `{}`, records)
		spoil(again.Model)
		if _, err := learnOn(again.Model, kernelops.Best()); !errors.As(err, &fault) ||
			fault.Code != protocol.CodeCorrupt {
			t.Errorf("a broken model: %v", err)
		}
	}
}

// Worked by hand, of w = 1 from 1 with the label 3/2, squared loss and C = 1: 2 with the label 5 falls short by 3, so
// alpha is 3 / (4 + 1/2), and w is 1 + 4/3. With a tube and C = 1/4, w is 1/4, and alpha is cut to C: w is 1/4 + 2/4.
func TestLearnOnNumbers(t *testing.T) {
	one := []jobstest.Record{{Label: "1.5", Dense: []float32{1}}}
	for params, want := range map[string]float64{
		`{"mode":"regress","loss":"squared","bias_scale":0,"tol":1e-9}`:                                    1 + 4.0/3,
		`{"mode":"regress","loss":"epsilon_insensitive","epsilon":0.5,"C":0.25,"bias_scale":0,"tol":1e-9}`: 0.25 + 0.5,
	} {
		_, base := train(t, params, one)
		l := learner(t, base)
		if _, changed := tell(t, l, jobstest.Record{Label: "5", Dense: []float32{2}}); !changed {
			t.Errorf("%s: nothing changed", params)
		}
		if w := now(t, l).weights[0]; math.Abs(w-want) > 1e-4 {
			t.Errorf("%s: %v, want %v", params, w, want)
		}
		l.(*online).seen = true
		var fault *protocol.Fault
		if _, err := l.Update("five"); !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
			t.Errorf("a label that is no number: %v", err)
		}
	}
}
