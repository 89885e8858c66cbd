package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// reader is a phase that reads its shard, says what it finds at its step, and goes on in a second phase.
type reader struct {
	name string
	next jobs.Next
	err  error
}

func (r reader) Name() string { return r.name }

func (r reader) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays,
	_ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	for name := range state {
		if strings.HasPrefix(name, notesPrefix) || strings.HasPrefix(name, "input.") {
			return nil, nil, fmt.Errorf("the phase sees %q", name)
		}
	}
	for _, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
	}
	return jobs.Arrays{}, nil, nil
}

func (r reader) Merge(_, _ jobs.Arrays) (jobs.Arrays, error) { return jobs.Arrays{}, nil }

func (r reader) Step(ctx context.Context, _ jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err == nil && len(root) > 0 {
		err = fmt.Errorf("the step sees %v", root.Names())
	}
	if err == nil {
		err = r.err
	}
	return r.next, err
}

// twoPhases reads the input twice; the second phase ends with err, if there is one.
func twoPhases(t *testing.T, skipMax int64, err error) *Tasks {
	t.Helper()
	var spec protocol.JobSpec
	spec.Spec.Input.OnBadRecord.SkipMax = skipMax
	tasks, newErr := NewTasks(phases{reader{name: "one", next: jobs.Next{Phase: "two", State: jobs.Arrays{}}},
		reader{name: "two", next: jobs.Next{Done: true, State: jobs.Arrays{}}, err: err}}, spec, nil)
	if newErr != nil {
		t.Fatal(newErr)
	}
	return tasks
}

func blocksOf(blocks []*dataset.Block) func(context.Context) iter.Seq2[*dataset.Block, error] {
	return func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for _, b := range blocks {
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}

// runPhase folds the leaves of one phase and steps it.
func runPhase(ctx context.Context, tasks *Tasks, phase string, state jobs.Arrays, leaves [][]*dataset.Block) (jobs.Next,
	error) {
	tree := protocol.Tree(len(leaves))
	root, err := tasks.Fold(ctx, phase, tree, tree.Canonical(tree.Root()), FoldSource{
		Leaf: func(ctx context.Context, index int) (jobs.Arrays, error) {
			partial, _, err := tasks.Map(ctx, phase, state,
				jobs.Leaf{Index: index, Blocks: blocksOf(leaves[index]), Plan: jobs.Plan{Shards: len(leaves)}}, nil)
			return partial, err
		},
	})
	if err != nil {
		return jobs.Next{}, err
	}
	if root, err = jobs.Decode(root.Encode()); err != nil {
		return jobs.Next{}, err
	}
	next, _, err := tasks.Step(ctx, phase, state, jobs.RoundOf(jobs.Plan{Shards: len(leaves)}, root))
	return next, err
}

// denseOf is a block of one column whose values moved as note says.
func denseOf(values []float32, note *dataset.Rounding, labels ...string) *dataset.Block {
	b := &dataset.Block{Dense: dataset.Dense{Width: 1, Values: values}}
	for i := range values {
		b.IDs = append(b.IDs, dataset.Identity{Object: "k", Offset: int64(i)})
	}
	for _, l := range labels {
		b.Labels = append(b.Labels, []byte(l))
	}
	if note != nil {
		b.Notes = &dataset.Notes{Rounded: []dataset.Rounding{*note}}
	}
	return b
}

func warningsOf(next jobs.Next) string {
	for _, m := range next.Metrics {
		if m.Name == jobs.WarningsMetric {
			return string(m.Value)
		}
	}
	return ""
}

// Standard deviation 1 (of -1 and 1): a value moved by 0.0011 is named, one by 0.0009 is not.
func TestRoundedColumnsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		leaves [][]*dataset.Block
		want   string
	}{
		{"above", [][]*dataset.Block{{denseOf([]float32{-1, 1},
			&dataset.Rounding{Name: "3", Moved: 1, Low: 0.0011, High: 0.0011})}},
			"column 3: rounding to float32 moved 1 of 2 values, by up to 0.0011; its standard deviation is 1."},
		{"below", [][]*dataset.Block{{denseOf([]float32{-1, 1},
			&dataset.Rounding{Name: "3", Moved: 1, Low: -0.0009, High: 0.0009})}}, ""},
		{"equal whole numbers", [][]*dataset.Block{{denseOf([]float32{-1e9, 1e9},
			&dataset.Rounding{Name: "3", Moved: 1, Low: 1, High: 1, Equal: [2]string{"16777216", "16777217"}})}},
			"16777216 and 16777217 became equal"},
		{"a constant", [][]*dataset.Block{{denseOf([]float32{0.1, 0.1},
			&dataset.Rounding{Name: "3", Moved: 2, Low: 1e-9, High: 1e-9})}}, ""},
		{"collapsed to one", [][]*dataset.Block{{denseOf([]float32{1e6, 1e6},
			&dataset.Rounding{Name: "3", Moved: 2, Low: -1e-3, High: 1e-3})}}, "standard deviation is 0"},
		{"constant in each of two shards", [][]*dataset.Block{
			{denseOf([]float32{1, 1}, &dataset.Rounding{Name: "3", Moved: 2, Low: 1e-9, High: 1e-9})},
			{denseOf([]float32{2, 2}, &dataset.Rounding{Name: "3", Moved: 2, Low: 1e-9, High: 1e-9})}}, ""},
		{"over three shards", [][]*dataset.Block{
			{denseOf([]float32{0, 0}, &dataset.Rounding{Name: "3", Moved: 1, Low: -5, High: 1})},
			{denseOf([]float32{2, 2}, nil)},
			{denseOf([]float32{6, 6}, &dataset.Rounding{Name: "3", Moved: 2, Low: 0, High: 7})}},
			"moved 3 of 4 values, by up to 7; its standard deviation is 3."},
	} {
		next, err := runPhase(t.Context(), twoPhases(t, 0, nil), "one", nil, c.leaves)
		if got := warningsOf(next); err != nil || c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, %v; want %q", c.name, got, err, c.want)
		}
		plain, k, err := detachKept(next.State)
		if err != nil || len(plain) != 0 || k.Passed != "" || k.Offsets != nil {
			t.Errorf("%s: the state has %v, %v, %v", c.name, next.State.Names(), k, err)
		}
	}
}

// However records lie in blocks and shards, the moments are those of two passes in float64.
func TestMomentsBesideTheData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.SampledFrom([]float64{0, 1, 1e6, -1e30, 1e-30}).Draw(t, "offset")
		values := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 40).Draw(t, "values")
		var all []float64
		var sum columnNote
		for len(values) > 0 {
			n := rapid.IntRange(1, len(values)).Draw(t, "block")
			var row []float32
			for _, v := range values[:n] {
				x := float32(offset * (1 + v*1e-3))
				row, all = append(row, x), append(all, float64(x))
			}
			values = values[n:]
			block := denseOf(row, &dataset.Rounding{Moved: 1, Low: 1, High: 1})
			m := blockMoments(block)[0]
			sum = sum.plus(columnNote{N: m.n, Mean: m.mean, M2: m.m2})
		}
		mean, m2 := 0.0, 0.0
		for _, v := range all {
			mean += v / float64(len(all))
		}
		for _, v := range all {
			m2 += (v - mean) * (v - mean)
		}
		scale := math.Abs(offset) * math.Abs(offset) * float64(len(all))
		if sum.N != int64(len(all)) || math.Abs(sum.M2-m2) > 1e-12*scale ||
			math.Abs(sum.Mean-mean) > 1e-12*math.Abs(offset) {
			t.Fatalf("%+v; want mean %v, m2 %v", sum, mean, m2)
		}
	})
}

// What sparse rows do not store is 0.
func TestMomentsOfSparseRows(t *testing.T) {
	block := &dataset.Block{IDs: make([]dataset.Identity, 3),
		Sparse: dataset.Sparse{Width: 5, Indptr: []int{0, 2, 3, 4}, Indices: []int32{1, 4, 4, 0},
			Values: []float32{9, 3, 6, 1}},
		Notes: &dataset.Notes{Rounded: []dataset.Rounding{{Column: 4}}}}
	if m := blockMoments(block)[0]; m.n != 3 || m.mean != 3 || m.m2 != 18 { // of 3, 6, 0
		t.Errorf("%+v; want 3, 3, 18", m)
	}
}

func TestLabelsWithBlanks(t *testing.T) {
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprint("label", i)
	}
	zeros := func(n int) []float32 { return make([]float32, n) }
	for _, c := range []struct {
		name   string
		leaves [][]*dataset.Block
		want   []string
	}{
		{"plain", [][]*dataset.Block{{denseOf(zeros(3), nil, "a", "b", "a")}}, nil},
		{"after", [][]*dataset.Block{{denseOf(zeros(2), nil, "a", "a ")}},
			[]string{`the labels \"a\" and \"a \" differ only by blanks`}},
		{"in another shard", [][]*dataset.Block{{denseOf(zeros(1), nil, " a")}, {denseOf(zeros(1), nil, "b")},
			{denseOf(zeros(1), nil, "a")}}, []string{`the labels \"a\" and \" a\" differ`}},
		{"both with blanks", [][]*dataset.Block{{denseOf(zeros(2), nil, "a ", " a")}},
			[]string{`the labels \" a\" and \"a \" differ`}},
		{"alone", [][]*dataset.Block{{denseOf(zeros(2), nil, "a ", "b")}},
			[]string{`the label \"a \" has blanks around it`}},
		{"nothing else", [][]*dataset.Block{{denseOf(zeros(2), nil, " ", "b")}},
			[]string{`the label \" \" is nothing but blanks`}},
		{"no-break space", [][]*dataset.Block{{denseOf(zeros(2), nil, "a\u00a0", "a")}},
			[]string{`differ only by blanks`}},
		{"four classes", [][]*dataset.Block{{denseOf(zeros(4), nil, "a", "a ", " a", " ")}},
			[]string{`\"a\" and \"a \"`, `\"a\" and \" a\"`, `\" \" is nothing`}},
		{"many", [][]*dataset.Block{{denseOf(zeros(151), nil, append(many, "x ")...)}},
			[]string{`the label \"x \" has blanks around it`}},
	} {
		next, err := runPhase(t.Context(), twoPhases(t, 0, nil), "one", nil, c.leaves)
		got := warningsOf(next)
		if err != nil || len(c.want) == 0 && got != "" {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s lacks %s", c.name, got, want)
			}
		}
	}
}

// Three of four records were passed over: the report says so, and so does each failure after that, in whichever
// phase; a success leaves no trace in the model.
func TestPassedOverIsSaidLater(t *testing.T) {
	skipped := func(line int64) *dataset.Block {
		return &dataset.Block{Skipped: []dataset.Skip{{ID: dataset.Identity{Object: "k", Offset: 10 * line}, Line: line,
			Column: 2, Reason: "not a decimal number"}}}
	}
	leaves := [][]*dataset.Block{{denseOf([]float32{1}, nil), skipped(2)}, {skipped(3), skipped(4)}}
	const want = "3 of 4 records were passed over, the first at k, line 2, column 2: not a decimal number"
	oneClass := protocol.EmptyFault("1 class").WithHint("Check.")
	tasks := twoPhases(t, 3, oneClass)
	next, err := runPhase(t.Context(), tasks, "one", nil, leaves)
	if err != nil || !strings.Contains(warningsOf(next), want) {
		t.Fatalf("%v, %v", next.Metrics, err)
	}
	_, err = runPhase(t.Context(), tasks, "two", next.State, leaves)
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != oneClass.Code || fault.What != "1 class; "+want ||
		oneClass.What != "1 class" {
		t.Errorf("a failure in a later round: %v", err)
	}
	failing, newErr := NewTasks(phases{reader{name: "one", err: oneClass}}, specOf(3), nil)
	if newErr != nil {
		t.Fatal(newErr)
	}
	if _, err = runPhase(t.Context(), failing, "one", nil, leaves); err == nil ||
		!strings.Contains(err.Error(), "1 class; "+want) {
		t.Errorf("a failure in the first step: %v", err)
	}
	next, err = runPhase(t.Context(), twoPhases(t, 3, nil), "two", next.State, leaves)
	if err != nil || len(next.State) != 0 {
		t.Errorf("the model has %v, %v", next.State.Names(), err)
	}
}

func specOf(skipMax int64) protocol.JobSpec {
	var spec protocol.JobSpec
	spec.Spec.Input.OnBadRecord.SkipMax = skipMax
	return spec
}

// The model keeps what was taken off, and records off which something else was taken are refused, in a later round and
// by a job that begins from the model.
func TestOffsetsGoWithTheModel(t *testing.T) {
	offsets := []dataset.Offset{{Column: 0, Value: 1.7e9}}
	off := denseOf([]float32{1, 2}, nil)
	off.Subtracted = offsets
	plain := denseOf([]float32{1, 2}, nil)
	other := denseOf([]float32{1, 2}, nil)
	other.Subtracted = []dataset.Offset{{Column: 1, Value: 1.7e9}} // another object has its columns in another order
	tasks := twoPhases(t, 0, nil)
	next, err := runPhase(t.Context(), tasks, "one", nil, [][]*dataset.Block{{off}, {{}}, {off}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runPhase(t.Context(), tasks, "two", next.State, [][]*dataset.Block{{plain}}); err == nil ||
		!strings.Contains(err.Error(), "nothing was taken off these records, and 1.7e+09 of value 1 off") {
		t.Errorf("other records in a later round: %v", err)
	}
	last, err := runPhase(t.Context(), tasks, "two", next.State, [][]*dataset.Block{{off}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := jobs.Offsets(last.State); err != nil || !slices.Equal(got, offsets) {
		t.Errorf("the model: %v, %v", got, err)
	}
	last.State.PutKind("K", 1)
	for name, c := range map[string]struct {
		block *dataset.Block
		good  bool
	}{"the same": {off, true}, "others": {plain, false}} {
		if _, err := runPhase(t.Context(), tasks, "one", last.State,
			[][]*dataset.Block{{c.block}}); (err == nil) != c.good {
			t.Errorf("from the model, %s: %v", name, err)
		}
	}
	model := jobs.Arrays{}
	model.PutKind("K", 1)
	if _, err := runPhase(t.Context(), tasks, "one", model, [][]*dataset.Block{{off}}); err == nil {
		t.Error("from a model of plain records: no fault")
	}
	if _, err := runPhase(t.Context(), tasks, "one", nil, [][]*dataset.Block{{off}, {other}}); err == nil {
		t.Error("two shards off which different values were taken: no fault")
	}
}

func TestMalformedNotes(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"records":-1}`, `{"columns":[{"column":2},{"column":1}]}`, `{"else":1}`,
		`{} {}`} {
		a := jobs.Arrays{}
		a.PutText(notesArray, text)
		if _, _, err := detachNotes(a); err == nil {
			t.Errorf("%s: no fault", text)
		}
		a = jobs.Arrays{}
		a.PutText(keptArray, text)
		if _, _, err := detachKept(a); err == nil && text != `{"records":-1}` {
			t.Errorf("%s, kept: no fault", text)
		}
	}
}
