package kernelperceptron_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// fourGroups are two pairs of tight groups far apart; the label tells the groups of a pair apart.
func fourGroups(n int) []jobstest.Record {
	draw := rand.New(rand.NewPCG(1, 2))
	rows, labels := make([][]float32, n), make([]string, n)
	for i := range rows {
		at := []float64{1000, 1000.1, -1000, -1000.1}[i%4]
		rows[i] = []float32{float32(at + 0.01*draw.NormFloat64()), float32(0.01 * draw.NormFloat64())}
		labels[i] = strconv.Itoa(i % 2)
	}
	return jobstest.DenseRecords(rows, labels...)
}

// whole are rows of small whole numbers in six classes, moved by a constant.
func whole(n int, offset float32) []jobstest.Record {
	draw := rand.New(rand.NewPCG(3, 4))
	rows, labels := make([][]float32, n), make([]string, n)
	for i := range rows {
		rows[i] = make([]float32, 36)
		for j := range rows[i] {
			rows[i][j] = offset + float32(40+8*((i%6+j)%6)+draw.IntN(90))
		}
		labels[i] = strconv.Itoa(i % 6)
	}
	return jobstest.DenseRecords(rows, labels...)
}

// Groups that float32 products cannot tell apart are told apart: by differences, as the report says.
func TestTightGroupsFarApart(t *testing.T) {
	records := fourGroups(600)
	for _, form := range []string{"plain", "averaged", "voted"} {
		result := mustRun(t, fmt.Sprintf(`{"kernel":"rbf","gamma":200,"form":%q}`, form),
			jobstest.Deal(records[:400], 3))
		if wrong := errorsOf(t, result.Model, records[400:]); wrong > 0 {
			t.Errorf("form %s: %d of 200 mistakes", form, wrong)
		}
		if n, ok := metric(t, result, "train.pairs_by_differences"); !ok || n == 0 {
			t.Errorf("form %s: %v pairs by differences", form, n)
		}
	}
}

// A constant added to every value, exact in float32, moves no decision and no score.
func TestShiftChangesNothing(t *testing.T) {
	train := func(offset float32) (mistakes float64, labels []string, scores [][]float64) {
		records := whole(300, offset)
		result := mustRun(t, `{"kernel":"rbf","epochs":4}`, jobstest.Deal(records[:200], 2))
		mistakes, _ = metric(t, result, "train.mistakes")
		labels, scores = decisions(t, result.Model, records[200:])
		return mistakes, labels, scores
	}
	mistakes, labels, scores := train(0)
	for _, offset := range []float32{1e4, 3e4, 1e6} {
		if n, l, s := train(offset); n != mistakes || !slices.Equal(l, labels) || fmt.Sprint(s) != fmt.Sprint(scores) {
			t.Errorf("shifted by %v: %v mistakes, not %v; same labels: %v", offset, n, mistakes,
				slices.Equal(l, labels))
		}
	}
}

// Where the roads of values differ, blocks, tasks, kernel sets and retired support vectors change no byte.
func TestGroupingOnBothRoads(t *testing.T) {
	spec := specOf(t, `{"kernel":"rbf","gamma":200,"form":"voted","budget":9,"epochs":3}`, 0)
	algorithm, err := kernelperceptron.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	records := fourGroups(60)
	jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(records, 3), kernelops.Best())
	digests, figures := map[string]bool{}, map[string]bool{}
	for _, ops := range kernelops.All() {
		result, err := run(t, string(spec.Spec.Params), jobstest.Deal(records, 3), ops)
		if err != nil {
			t.Fatal(err)
		}
		digests[jobstest.Digest(result.Model)] = true
		n, _ := metric(t, result, "train.pairs_by_differences")
		figures[fmt.Sprint(n)] = true
	}
	if len(digests) != 1 || len(figures) != 1 {
		t.Errorf("%d digests, counts %v", len(digests), figures)
	}
}

// A model that goes on learning computes the values that training computed.
func TestOnlineIsCentered(t *testing.T) {
	for _, records := range [][]jobstest.Record{fourGroups(120), whole(120, 1e6)} {
		for _, form := range []string{"plain", "voted"} {
			params := fmt.Sprintf(`{"kernel":"rbf","gamma":0.001,"shuffle":false,"epochs":1,"form":%q}`, form)
			both := mustRun(t, params, [][]jobstest.Record{records})
			model := mustRun(t, params, [][]jobstest.Record{records, {}}).Model
			_, want := decisions(t, both.Model, records)
			o := load(t, model)
			for i, r := range records {
				got, _ := tell(t, o, r)
				if i == 0 && fmt.Sprint(got.Scores) != fmt.Sprint(want[0]) {
					t.Errorf("%s: scores %v before learning, not %v", form, got.Scores, want[0])
				}
			}
			_, online := decisions(t, o.Model(), records[:20])
			for i, r := range records[:20] {
				if got, err := load(t, o.Model()).Predict(blockOf(r)); err != nil ||
					fmt.Sprint(got.Scores) != fmt.Sprint(online[i]) {
					t.Errorf("%s, record %d: %v, not %v: %v", form, i, got.Scores, online[i], err)
				}
			}
		}
	}
}

// legacy is a model as it was written before rows were centered.
func legacy(t *testing.T, model jobs.Arrays) jobs.Arrays {
	t.Helper()
	old, err := jobs.Decode(model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	delete(old, "kernel.origin")
	return named(t, old, 1)
}

// named is a model of an earlier release, which knew the records of its support vectors by their places in objects.
func named(t *testing.T, model jobs.Arrays, version int32) jobs.Arrays {
	t.Helper()
	records, err := jobs.Get[int64](model, "supports.record")
	if err != nil {
		t.Fatal(err)
	}
	old := maps.Clone(model)
	delete(old, "supports.record")
	jobs.Put(old, "supports.object", make([]int32, len(records)))
	jobs.Put(old, "supports.offset", records)
	old.PutStrings("supports.objects", jobs.StringsOf("a.csv"))
	old.PutKind(kernelperceptron.KindName, version)
	return old
}

// A model of an earlier release is described by the places of its records, and keeps them when it goes on learning;
// arrays that it would not have had are refused.
func TestModelsWithNamedRecords(t *testing.T) {
	now := mustRun(t, `{"kernel": "polynomial", "form": "plain", "shuffle": false}`, jobstest.Deal(xor(), 1)).Model
	old := named(t, now, 1)
	describe := func(m jobs.Arrays) string {
		text, err := kernelperceptron.Kind().Describe(m, jobs.DescribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if text := describe(old); !strings.Contains(text, `1  "a.csv" at 3`) {
		t.Error(text)
	}
	for what, corrected := range map[string]string{`1  "a.csv" at 3`: `"corrections" at `,
		"1  3\n": "a correction\n"} {
		o := load(t, map[bool]jobs.Arrays{true: old, false: now}[strings.Contains(what, "a.csv")])
		tell(t, o, jobstest.Record{Label: "yes", Dense: []float32{1, 1}})
		tell(t, o, jobstest.Record{Label: "yes", Dense: []float32{2, 2}})
		text := describe(o.Model())
		if !strings.Contains(text, what) || !strings.Contains(text, corrected) {
			t.Errorf("without %q or %q:\n%s", what, corrected, text)
		}
		load(t, o.Model())
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"an object of many": func(a jobs.Arrays) { jobs.Put(a, "supports.object", []int32{0, 0, 1, 0}) },
		"an object below 0": func(a jobs.Arrays) { jobs.Put(a, "supports.object", []int32{0, 0, -1, 0}) },
		"fewer offsets":     func(a jobs.Arrays) { jobs.Put(a, "supports.offset", []int64{0, 0, 1}) },
		"a later version":   func(a jobs.Arrays) { a.PutKind(kernelperceptron.KindName, 3) },
	} {
		bad := maps.Clone(old)
		spoil(bad)
		_, err := kernelperceptron.NewPredictor(bad, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A model without an origin predicts while its values are known to 1e-3, and says so where they are not.
func TestModelsWithoutOrigin(t *testing.T) {
	near, far := whole(60, 0), whole(60, 1e6)
	old := legacy(t, mustRun(t, `{"kernel":"rbf","gamma":1e-4,"form":"plain"}`, [][]jobstest.Record{near}).Model)
	decisions(t, old, near)
	o := load(t, old)
	for _, r := range near {
		tell(t, o, r)
	}
	if _, ok := o.Model()["kernel.origin"]; ok {
		t.Error("a model without an origin has one after it went on learning")
	}
	if _, err := load(t, o.Model()).Predict(blockOf(near[0])); err != nil {
		t.Error(err)
	}
	old = legacy(t, mustRun(t, `{"kernel":"rbf","gamma":1e-4,"form":"plain"}`, [][]jobstest.Record{far}).Model)
	_, err := load(t, old).Predict(blockOf(far[0]))
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || fault.Hint == "" {
		t.Errorf("%v", err)
	}
}
