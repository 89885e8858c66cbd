package evaluation

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// echo answers with a record's own text, as a label or as a number; an empty text is rejected.
type echo struct {
	answers jobs.Answers
	seen    *[]int64
}

func (e echo) Answers() jobs.Answers { return e.answers }

func (e echo) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	var outcomes []jobs.Outcome
	for i, text := range block.Texts {
		if e.seen != nil {
			*e.seen = append(*e.seen, block.IDs[i].Offset)
		}
		value, _ := strconv.ParseFloat(string(text), 64)
		outcomes = append(outcomes, jobs.Outcome{Label: string(text), Rejected: len(text) == 0 &&
			e.answers.Labels != nil, Value: value})
	}
	return outcomes, nil
}

// allBut is all records but one.
func allBut(row int64) jobs.Records {
	return func() jobs.Choice {
		return func(b *dataset.Block, i int) bool { return b.IDs[i].Offset != row }
	}
}

func judgeOf(p jobs.Predictor, costs Costs) Judge {
	return Judge{test: allBut(1), costs: costs,
		load: func(jobs.Arrays, *kernelops.Set) (jobs.Predictor, error) { return p, nil }}
}

// judging is the phase of a judge, of all records where it has none.
func judging(j Judge) jobs.Phase {
	if !j.Judges() {
		j.test = jobs.EveryRecord
	}
	return j.Phases()[0]
}

func judge(t *testing.T, j Judge, records []jobstest.Record, size int) (jobs.Next, error) {
	t.Helper()
	phase := judging(j)
	model := jobs.Arrays{}
	model.PutText("weights", "3")
	leaf := jobstest.Leaf(0, 0, jobstest.Shards([][]jobstest.Record{records}, size))
	partial, _, err := phase.Map(t.Context(), model, leaf, nil, nil)
	if err != nil {
		return jobs.Next{}, err
	}
	next, err := phase.Step(t.Context(), model, jobs.RoundOf(jobs.Plan{}, partial))
	if err == nil && (!next.Done || jobstest.Digest(next.State) != jobstest.Digest(model)) {
		t.Error("the model changed")
	}
	return next, err
}

var fourTexts = []jobstest.Record{{Label: "a", Text: "a"}, {Label: "a", Text: "b"}, {Label: "a", Text: ""},
	{Label: "b", Text: "a"}}

// The phase counts only test records, shows the predictor no others, and hands on the model's very bytes.
func TestPhase(t *testing.T) {
	for size := 1; size <= 4; size++ {
		var seen []int64
		next, err := judge(t, judgeOf(echo{jobs.Answers{Labels: []string{"a", "b"}}, &seen}, nil), fourTexts, size)
		if err != nil {
			t.Fatal(err)
		}
		const matrix = `{"labels":["a","b"],"cells":[[0,-1,1],[0,0,1],[1,0,1]]}`
		if len(next.Metrics) != 3 || next.Metrics[0].Name != "evaluation" || string(next.Metrics[1].Value) != matrix {
			t.Errorf("%s", next.Metrics)
		}
		const mistakes = `[{"id":{"Object":"records","Offset":3},"truth":"b","decided":"a"},` +
			`{"id":{"Object":"records","Offset":2},"truth":"a","decided":"","rejected":true}]`
		if string(next.Metrics[2].Value) != mistakes {
			t.Errorf("%s", next.Metrics[2].Value)
		}
		if len(seen) != 3 || seen[0] != 0 || seen[1] != 2 || seen[2] != 3 {
			t.Errorf("the predictor saw %v", seen)
		}
	}
}

// Decided a for a (0.25), and a for b (3, named): 3.25 for two records.
func TestCostByHand(t *testing.T) {
	costs := Costs{"a": {"a": 0.25}, "b": {"a": 3}}
	next, err := judge(t, judgeOf(echo{jobs.Answers{Labels: []string{"a", "b"}}, nil}, costs), fourTexts, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(next.Metrics) != 4 || string(next.Metrics[3].Value) != `{"records":2,"total":3.25,"mean":1.625}` {
		t.Errorf("%s", next.Metrics)
	}
}

// Labels 1, 2, 3 (mean 2, squares 2) and predictions 1, 3, 5: errors 0, 1, 2.
var threeNumbers = []jobstest.Record{{Label: "1", Text: "1"}, {Label: "x", Text: "7"}, {Label: "2", Text: "3"},
	{Label: " 3.0", Text: "5"}}

func TestRegressionByHand(t *testing.T) {
	next, err := judge(t, judgeOf(echo{jobs.Answers{Value: "value"}, nil}, nil), threeNumbers, 2)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"records":3,"mean_squared_error":1.6666666666666667,"mean_absolute_error":1,"r2":-1.5}`
	if len(next.Metrics) != 1 || next.Metrics[0].Name != "evaluation.regression" ||
		string(next.Metrics[0].Value) != want {
		t.Errorf("%s", next.Metrics)
	}
}

func TestRegressionOfEqualLabels(t *testing.T) {
	for _, c := range []struct{ value, want float64 }{{5, 1}, {6, 0}} {
		s := newErrorSums(nil)
		for range 2 {
			if err := s.add(dataset.Identity{}, 0, 5, c.value); err != nil {
				t.Fatal(err)
			}
		}
		if r := s.report(nil); r.R2 != c.want {
			t.Errorf("5 is predicted as %v: R2 %v, want %v", c.value, r.R2, c.want)
		}
	}
	if r := newErrorSums(nil).report(nil); r != (Regression{}) {
		t.Errorf("%+v", r)
	}
}

// Sums over shards are sums over all records.
func TestRegressionMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Float64Range(-50, 50)
		scoring := scoringOf(rapid.SampledFrom([]int{0, 20}).Draw(t, "replicates"))
		whole, left, right := newErrorSums(scoring), newErrorSums(scoring), newErrorSums(scoring)
		for i := range rapid.IntRange(0, 12).Draw(t, "records") {
			truth, value := small.Draw(t, "truth"), small.Draw(t, "value")
			part := left
			if i > 5 {
				part = right
			}
			for _, s := range []*errorSums{whole, part} {
				if err := s.add(dataset.Identity{}, uint64(i), truth, value); err != nil {
					t.Fatal(err)
				}
			}
		}
		sum, err := left.plus(right)
		if err != nil {
			t.Fatal(err)
		}
		back, err := jobs.Read(jobs.ArraysOf(sum), &errorSums{})
		if err != nil {
			t.Fatal(err)
		}
		if want := jobs.ArraysOf(whole); !reflect.DeepEqual(jobs.ArraysOf(back), want) {
			t.Fatalf("%+v, want %+v", jobs.ArraysOf(back), want)
		}
	})
}

func TestPhaseFaults(t *testing.T) {
	classes, values := jobs.Answers{Labels: []string{"a"}}, jobs.Answers{Value: "value"}
	for name, c := range map[string]struct {
		answers jobs.Answers
		records []jobstest.Record
		offset  int64
	}{
		"no labels":      {classes, jobstest.DenseRecords([][]float32{{1}, {2}, {3}}), 0},
		"no number":      {values, []jobstest.Record{{Label: "1"}, {Label: "x"}, {Label: "three"}}, 2},
		"infinite label": {values, []jobstest.Record{{Label: "1"}, {Label: "x"}, {Label: "Inf"}}, 2},
	} {
		e := echo{answers: c.answers}
		j := judgeOf(e, nil)
		if name == "no labels" {
			j = judgeOf(constant{e}, nil)
		}
		_, err := judge(t, j, c.records, 4)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || *fault != *fault.WithOffset(c.offset) {
			t.Errorf("%s: %v", name, err)
		}
	}
	labels, sums := jobs.ArraysOf(NewTally(classes)), jobs.ArraysOf(newErrorSums(nil))
	var fault *protocol.Fault
	if _, err := judging(Judge{}).Merge(labels, sums); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Error(err)
	}
}

// constant answers "a" to every record.
type constant struct{ echo }

func (constant) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	outcomes := make([]jobs.Outcome, len(block.IDs))
	for i := range outcomes {
		outcomes[i].Label = "a"
	}
	return outcomes, nil
}

// Whatever a block holds, a selection holds of the chosen records.
func TestSelection(t *testing.T) {
	rows := [][]float32{{1, 0}, {2, 3}, {0, 4}}
	for name, records := range map[string][]jobstest.Record{
		"dense":  jobstest.DenseRecords(rows, "a", "b", "c"),
		"sparse": jobstest.SparseRecords(2, rows),
		"texts":  fourTexts[:3],
	} {
		records[2].Weight = 2
		var s Selection
		for block, err := range jobstest.Shards([][]jobstest.Record{records}, 3)[0](t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // its memory is kept
				got := s.Of(block, allBut(1)())
				if len(got.IDs) != 2 || got.IDs[1].Offset != 2 || (got.Labels == nil) != (block.Labels == nil) ||
					(got.Texts == nil) != (block.Texts == nil) || got.Weights[1] != 2 {
					t.Errorf("%s: %+v", name, got)
				}
				if block.Dense.Width > 0 && got.Dense.Row(1)[1] != 4 {
					t.Errorf("%s: %v", name, got.Dense)
				}
				if block.Sparse.Width > 0 {
					if index, value := got.Sparse.Row(1); len(index) != 1 || index[0] != 1 || value[0] != 4 {
						t.Errorf("%s: %v", name, got.Sparse)
					}
				}
			}
			if s.Of(block, allBut(9)()) != block {
				t.Errorf("%s: a block that is chosen whole was copied", name)
			}
		}
	}
}
