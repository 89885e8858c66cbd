package all_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// rejectingKinds are the kinds whose models hold a threshold of the confidence, with parameters of each way to score.
var rejectingKinds = []struct {
	kind, params string
	confidence   func(scores []float64) float64
}{
	{"KernelNearestMean", `{"kernel":"rbf"`, nearer},
	{"KernelPerceptron", `{"kernel":"linear","form":"plain"`, ahead},
	{"KernelPerceptron", `{"kernel":"rbf","form":"voted"`, ahead},
	{"LinearModel", `{"mode":"classify"`, ahead},
	{"LinearModel", `{"classes":"one_vs_one"`, ahead},
	{"LinearModel", `{"loss":"logistic"`, likeliest},
	{"NearestMean", `{"pairs":false`, nearer},
	{"Perceptron", `{"form":"averaged"`, ahead},
	{"Perceptron", `{"form":"voted"`, ahead},
	{"SupportVectorMachine", `{"kernel":"rbf"`, ahead},
	{"SupportVectorMachine", `{"probability":true`, slices.Max[[]float64]},
}

func ahead(scores []float64) float64 {
	sorted := slices.Sorted(slices.Values(scores))
	return sorted[len(sorted)-1] - sorted[len(sorted)-2]
}

func nearer(scores []float64) float64 {
	sorted := slices.Sorted(slices.Values(scores))
	return sorted[1] - sorted[0]
}

// likeliest is the greatest probability of a class against all others, as a share of those of all classes.
func likeliest(scores []float64) float64 {
	greatest, sum := 0.0, 0.0
	for _, s := range scores {
		p := 1 / (1 + math.Exp(-s))
		greatest, sum = max(greatest, p), sum+p
	}
	return greatest / sum
}

// A model trained with reject_below is the one trained without and the threshold, and rejects exactly the records whose
// confidence is below it; a threshold of kind Predict replaces it.
func TestModelsReject(t *testing.T) {
	for _, c := range rejectingKinds {
		t.Run(c.kind+c.params, func(t *testing.T) {
			train := func(more string, r casetest.Run) jobs.Arrays {
				r.Data = casetest.Iris()
				return casetest.Case{Name: c.kind, Kind: c.kind, Params: c.params + more + "}"}.Train(t, r)
			}
			plain := train("", casetest.Run{})
			decided := outcomesOf(t, plain)
			threshold := medianOf(decided, c.confidence)
			model := train(fmt.Sprintf(`,"reject_below":%v`, threshold), casetest.Run{Shards: 3})
			bare := maps.Clone(model)
			delete(bare, "reject_below")
			if !bytes.Equal(bare.Encode(), plain.Encode()) || len(bare) == len(model) ||
				!bytes.Equal(train(`,"reject_below":0`, casetest.Run{}).Encode(), plain.Encode()) {
				t.Error("another model beside reject_below")
			}
			checkRejected(t, outcomesOf(t, model), decided, c.confidence, threshold)
			checkLearnerRejects(t, model)
			rejected := rejectedBy(t, model, 0)
			if none := rejectedBy(t, model, 1e-300); rejected < 10 || rejected > 20 || none != 0 {
				t.Errorf("%d of 30 records are rejected, and %d by a threshold of Predict", rejected, none)
			}
			checkThresholds(t, model)
		})
	}
}

// outcomesOf are those of a model for the irises, with their scores.
func outcomesOf(t *testing.T, model jobs.Arrays) (list []jobs.Outcome) {
	t.Helper()
	kind, err := all.OfModel(model)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kind.Predict(model, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	for block := range irisBlocks(t) {
		outcomes, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			o.Scores = slices.Clone(o.Scores)
			list = append(list, o)
		}
	}
	return list
}

// irisBlocks are blocks of one iris each.
func irisBlocks(t *testing.T) func(func(*dataset.Block) bool) {
	t.Helper()
	records, _ := casetest.Iris().Records(t)
	return func(yield func(*dataset.Block) bool) {
		for _, r := range records {
			if !yield(&dataset.Block{IDs: make([]dataset.Identity, 1),
				Dense: dataset.Dense{Width: len(r.Dense), Values: r.Dense}}) {
				return
			}
		}
	}
}

// medianOf is above the confidence of half the outcomes, and far from all of them.
func medianOf(list []jobs.Outcome, confidence func([]float64) float64) float64 {
	var all []float64
	for _, o := range list {
		all = append(all, confidence(o.Scores))
	}
	slices.Sort(all)
	at := len(all) / 2
	for i := len(all) / 3; i < 2*len(all)/3; i++ {
		if all[i]-all[i-1] > all[at]-all[at-1] {
			at = i
		}
	}
	return (all[at] + all[at-1]) / 2
}

func checkRejected(t *testing.T, got, plain []jobs.Outcome, confidence func([]float64) float64, threshold float64) {
	t.Helper()
	for i, o := range got {
		want := plain[i]
		if confidence(want.Scores) < threshold {
			want.Label, want.Rejected = "", true
		}
		if o.Label != want.Label || o.Rejected != want.Rejected || !slices.Equal(o.Scores, want.Scores) {
			t.Errorf("record %d: %+v, want %+v, threshold %v", i, o, want, threshold)
		}
	}
}

// checkLearnerRejects checks that a model that learns on rejects what it rejects as a whole, and keeps its threshold.
func checkLearnerRejects(t *testing.T, model jobs.Arrays) {
	t.Helper()
	kind, err := all.OfModel(model)
	if err != nil || kind.Learn == nil || strings.Contains(kind.Name, "Nearest") {
		return
	}
	learner, err := kind.Learn(model, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	want, i := outcomesOf(t, model), 0
	for block := range irisBlocks(t) {
		o, err := learner.Predict(block)
		if err != nil || o.Rejected != want[i].Rejected || o.Label != want[i].Label {
			t.Errorf("record %d: %+v, %v, want %+v", i, o, err, want[i])
		}
		i++
	}
	if string(learner.Model()["reject_below"].Data) != string(model["reject_below"].Data) {
		t.Error("a model that learned on has another threshold")
	}
}

// rejectedBy counts what a job of kind Predict rejects of the irises.
func rejectedBy(t *testing.T, model jobs.Arrays, below float64) int64 {
	t.Helper()
	records, _ := casetest.Iris().Records(t)
	spec := protocol.JobSpec{Kind: predict.KindName}
	spec.Spec.Model = "s3://models/m/model.safetensors"
	spec.Spec.Params = json.RawMessage(fmt.Sprintf(`{"reject_below":%v}`, below))
	algorithm, err := predict.Kind(all.OfModel).New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 2), 7),
		kernelops.Generic(), jobstest.Grouping{}, jobstest.WithModel(model))
	if err != nil {
		t.Fatal(err)
	}
	var judged struct{ Rejected int64 }
	if err := jobs.ReadMetric(result.Metrics, "evaluation", &judged); err != nil {
		t.Fatal(err)
	}
	return judged.Rejected
}

// checkThresholds checks that a model with a threshold that no training writes is corrupt.
func checkThresholds(t *testing.T, model jobs.Arrays) {
	t.Helper()
	kind, err := all.OfModel(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, below := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		other := maps.Clone(model)
		jobs.PutScalar(other, "reject_below", below)
		_, err := kind.Predict(other, kernelops.Generic())
		if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Code != protocol.CodeCorrupt {
			t.Errorf("a model that rejects below %v: %v", below, err)
		}
	}
}

func TestRejectBelowIsChecked(t *testing.T) {
	for _, c := range rejectingKinds {
		kind, err := all.Lookup(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		for params, want := range map[string]string{
			`{"reject_below":0.5,"costs":{"a":{"b":2}}}`: "costs and reject_below exclude each other",
			`{"reject_below":-1}`:                        "reject_below is in [0, 1e300]",
		} {
			if _, err := kind.Defaults([]byte(params)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of kind %s: %v, want %q", params, c.kind, err, want)
			}
		}
	}
	for _, c := range []struct{ kind, mode string }{
		{"LinearModel", `"mode":"regress","loss":"squared"`}, {"SupportVectorMachine", `"mode":"regress"`},
		{"SupportVectorMachine", `"mode":"one_class"`},
	} {
		kind, err := all.Lookup(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		_, err = kind.Defaults([]byte(`{"reject_below":0.5,` + c.mode + `}`))
		if err == nil || !strings.Contains(err.Error(), "reject_below is of decisions between classes") {
			t.Errorf("%s of kind %s: %v", c.mode, c.kind, err)
		}
	}
	for params, kind := range map[string]string{
		`"loss":"logistic"`: "LinearModel", `"probability":true`: "SupportVectorMachine",
	} {
		of, err := all.Lookup(kind)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := of.Defaults([]byte(`{"reject_below":1,` + params + `}`)); err != nil {
			t.Error(err)
		}
		_, err = of.Defaults([]byte(`{"reject_below":1.5,` + params + `}`))
		if err == nil || !strings.Contains(err.Error(), "no probability is above 1") {
			t.Errorf("%s of kind %s: %v", params, kind, err)
		}
	}
}
