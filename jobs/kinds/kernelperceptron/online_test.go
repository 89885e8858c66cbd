package kernelperceptron_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func load(t testing.TB, model jobs.Arrays) *kernelperceptron.Online {
	t.Helper()
	arrays, err := jobs.Decode(model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	o, err := kernelperceptron.Load(arrays, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func blockOf(r jobstest.Record) *dataset.Block {
	return &dataset.Block{IDs: make([]dataset.Identity, 1), Dense: dataset.Dense{Width: len(r.Dense), Values: r.Dense}}
}

func tell(t testing.TB, o *kernelperceptron.Online, r jobstest.Record) (predicted jobs.Outcome, mistake bool) {
	t.Helper()
	predicted, err := o.Predict(blockOf(r))
	if err != nil {
		t.Fatal(err)
	}
	if mistake, err = o.Update(r.Label); err != nil {
		t.Fatal(err)
	}
	return predicted, mistake
}

// The model of TestXORByHand is told that (1,1) is "yes": f = -8 there, a mistake, so that a second support vector
// lies at (1,1), of the other class, with alpha = 1, and b = 1. Now f(1,1) = -8 + 9 + 1 = 2.
func TestOnlineByHand(t *testing.T) {
	trained := model(t, "plain")
	before := trained.Encode()
	o := load(t, trained)
	if !bytes.Equal(o.Model().Encode(), before) {
		t.Error("a lesson without records changes the model")
	}
	yes := jobstest.Record{Label: "yes", Dense: []float32{1, 1}}
	if predicted, mistake := tell(t, o, yes); predicted.Label != "no" || predicted.Scores[1] != -8 || !mistake {
		t.Errorf("%+v, %v", predicted, mistake)
	}
	if predicted, mistake := tell(t, o, yes); predicted.Label != "yes" || predicted.Scores[1] != 2 || mistake {
		t.Errorf("%+v, %v", predicted, mistake)
	}
	after := o.Model()
	if alpha, err := jobs.Get[float64](after, "alpha", 5, 1); err != nil ||
		!slices.Equal(alpha, []float64{-1, 1, 1, -1, 1}) {
		t.Errorf("%v, %v", alpha, err)
	}
	if mistakes, err := jobs.Get[int64](after, "mistakes"); err != nil || !slices.Equal(mistakes, []int64{4, 0, 1}) {
		t.Errorf("%v, %v", mistakes, err)
	}
	if _, ok := after["margin"]; ok || !bytes.Equal(trained.Encode(), before) {
		t.Error("a margin of another function, or arrays that were written to")
	}
	if got, _ := decisions(t, after, []jobstest.Record{yes}); got[0] != "yes" {
		t.Errorf("the written model says %s", got)
	}
	if predicted, _ := tell(t, load(t, after), jobstest.Record{Label: "no",
		Dense: []float32{1, 1}}); predicted.Label != "yes" {
		t.Errorf("%+v", predicted)
	}
}

// One epoch, then the same records told one by one, are two epochs; and what is predicted on the way is what a model
// written at that time predicts.
func TestOnlineGoesOnAsTheJobWould(t *testing.T) {
	for _, form := range []string{"plain", "voted"} {
		for _, records := range [][]jobstest.Record{digits(t, 150), odd(digits(t, 150))} {
			params := `{"shuffle": false, "kernel": "rbf", "gamma": 0.001, "form": %q, "epochs": %d}`
			o := load(t, mustRun(t, fmt.Sprintf(params, form, 1), jobstest.Deal(records, 1)).Model)
			for i, r := range records {
				if i%40 != 7 {
					tell(t, o, r)
					continue
				}
				labels, scores := decisions(t, o.Model(), records[i:i+1])
				if got, _ := tell(t, o, r); got.Label != labels[0] || !slices.Equal(got.Scores, scores[0]) {
					t.Fatalf("%s, record %d: %+v, but the model says %v %v", form, i, got, labels, scores)
				}
			}
			got, want := o.Model(), mustRun(t, fmt.Sprintf(params, form, 2), jobstest.Deal(records, 1)).Model
			for name := range want {
				if name != "margin" && name != "novikoff" && name != "supports.record" &&
					!bytes.Equal(got[name].Data, want[name].Data) {
					t.Errorf("%s: array %q is not that of two epochs", form, name)
				}
			}
		}
	}
}

func TestOnlineRefuses(t *testing.T) {
	_, err := kernelperceptron.Load(model(t, "averaged"), kernelops.Best())
	if fault := wantFault(t, err, protocol.CodeSpecInvalid); fault.Hint != "Train with params.form plain or voted." {
		t.Error(fault)
	}
	_, err = kernelperceptron.Load(jobs.Arrays{}, kernelops.Best())
	wantFault(t, err, protocol.CodeCorrupt)
	o := load(t, model(t, "voted"))
	if _, err := o.Update("yes"); err == nil {
		t.Error("told a label without a record")
	}
	_, err = o.Predict(blockOf(jobstest.Record{Dense: []float32{1}}))
	wantFault(t, err, protocol.CodeBadRecord)
	if _, err := o.Predict(blockOf(jobstest.Record{Dense: []float32{1, 1}})); err != nil {
		t.Fatal(err)
	}
	_, err = o.Update("yess")
	if fault := wantFault(t, err, protocol.CodeBadRecord); fault.Hint != `Did you mean "yes"?` {
		t.Error(fault)
	}
	if _, err := o.Update("no"); err != nil {
		t.Errorf("told the right label after a wrong one: %v", err)
	}
	if _, err := o.Predict(&dataset.Block{}); err == nil {
		t.Error("a block of no record")
	}
}
