package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// bracket is a phase whose partials tell how they were folded: leaf i is "i", a merge is
// "(left right)". It reads every block of its leaf passes times.
type bracket struct {
	passes int
	next   jobs.Next
}

func (bracket) Name() string { return "bracket" }

func (p bracket) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	for range p.passes {
		for _, err := range leaf.Blocks(ctx) {
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return text(fmt.Sprint(leaf.Index)), nil, nil
}

func (bracket) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	if len(left) != 1 || len(right) != 1 {
		return nil, fmt.Errorf("arrays of the harness reached Merge: %v, %v", left.Names(), right.Names())
	}
	return text("(" + show(left) + " " + show(right) + ")"), nil
}

func (p bracket) Step(ctx context.Context, _ jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	if len(root) != 1 {
		return jobs.Next{}, fmt.Errorf("arrays of the harness reached Step: %v", root.Names())
	}
	return p.next, nil
}

func text(s string) jobs.Arrays {
	a := jobs.Arrays{}
	a.PutText("text", s)
	return a
}

func show(a jobs.Arrays) string {
	s, err := a.Text("text")
	if err != nil {
		return err.Error()
	}
	return s
}

type phases []jobs.Phase

func (p phases) Phases() []jobs.Phase { return p }

func tasksOf(t *testing.T, p jobs.Phase, skipMax int64) *Tasks {
	t.Helper()
	var spec protocol.JobSpec
	spec.Spec.Input.OnBadRecord.SkipMax = skipMax
	spec.Spec.Run.MaxStateBytes = 1000
	tasks, err := NewTasks(phases{p}, spec, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

func TestFoldFollowsTheTree(t *testing.T) {
	leaf := func(_ context.Context, index int) (jobs.Arrays, error) { return text(fmt.Sprint(index)), nil }
	tasks := tasksOf(t, bracket{}, 0)
	for _, c := range []struct {
		leaves int
		node   protocol.Node
		made   string
		want   string
	}{
		{1, protocol.Node{}, "", "0"},
		{2, protocol.Node{Level: 1}, "", "(0 1)"},
		{3, protocol.Node{Level: 2}, "", "((0 1) 2)"},
		{5, protocol.Node{Level: 3}, "", "(((0 1) (2 3)) 4)"},
		{6, protocol.Node{Level: 3}, "", "(((0 1) (2 3)) (4 5))"},
		{7, protocol.Node{Level: 2, Index: 1}, "", "((4 5) 6)"},
		{7, protocol.Node{Level: 0, Index: 6}, "", "6"},
		{7, protocol.Node{Level: 3}, "1/1 0/6", "(((0 1) M) ((4 5) M))"},
		{7, protocol.Node{Level: 3}, "2/0 2/1", "(M M)"},
		{7, protocol.Node{Level: 3}, "2/0 0/1", "(M ((4 5) 6))"},
	} {
		made := func(_ context.Context, node protocol.Node) (jobs.Arrays, [32]byte, error) {
			if slices.Contains(strings.Fields(c.made), fmt.Sprintf("%d/%d", node.Level, node.Index)) {
				return text("M"), text("M").Digest(), nil
			}
			return nil, [32]byte{}, nil
		}
		got, err := tasks.Fold(t.Context(), "bracket", protocol.Tree(c.leaves), c.node,
			FoldSource{Made: made, Leaf: leaf})
		if err != nil || show(got) != c.want {
			t.Errorf("%d leaves, %+v, made %q: %s, want %s (%v)", c.leaves, c.node, c.made, show(got), c.want, err)
		}
	}
}

// Between two leaves of a tree of 2^10, everything to the left is merged already: no more
// than one partial for each level waits.
func TestFoldKeepsOnePartialForEachLevel(t *testing.T) {
	const levels = 10
	tasks := tasksOf(t, bracket{}, 0)
	mapped, most := 0, 0
	leaf := func(_ context.Context, index int) (jobs.Arrays, error) {
		if index != mapped {
			t.Fatalf("leaf %d before leaf %d", index, mapped)
		}
		mapped++
		return text("x"), nil
	}
	waiting := 0
	counting := countingMerge{bracket{}, func() { waiting-- }}
	tasks.phases[0] = counting
	_, err := tasks.Fold(t.Context(), "bracket", 1<<levels, protocol.Node{Level: levels}, FoldSource{
		Leaf: func(ctx context.Context, index int) (jobs.Arrays, error) {
			waiting++
			most = max(most, waiting)
			return leaf(ctx, index)
		},
	})
	if err != nil || mapped != 1<<levels || most != levels+1 {
		t.Errorf("%d leaves, at most %d partials alive; want %d (%v)", mapped, most, levels+1, err)
	}
}

type countingMerge struct {
	bracket
	merged func()
}

func (c countingMerge) Merge(_, _ jobs.Arrays) (jobs.Arrays, error) {
	c.merged()
	return text("x"), nil
}

func TestFoldRefuses(t *testing.T) {
	tasks := tasksOf(t, bracket{}, 0)
	leaf := func(context.Context, int) (jobs.Arrays, error) { return text("x"), nil }
	for name, call := range map[string]func() error{
		"another phase": func() error {
			_, err := tasks.Fold(t.Context(), "bracelet", 1, protocol.Node{}, FoldSource{Leaf: leaf})
			return err
		},
		"no canonical node": func() error {
			_, err := tasks.Fold(t.Context(), "bracket", 3, protocol.Node{Level: 1, Index: 1}, FoldSource{Leaf: leaf})
			return err
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := tasks.Fold(ctx, "bracket", 3, protocol.Node{Level: 2}, FoldSource{Leaf: leaf})
			return err
		},
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNewTasksRefuses(t *testing.T) {
	for name, list := range map[string]phases{"none": {}, "twice": {bracket{}, bracket{passes: 1}}} {
		if _, err := NewTasks(list, protocol.JobSpec{}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestStepHoldsTheAnswerToTheContract(t *testing.T) {
	big := jobs.Arrays{}
	jobs.Put(big, "big", make([]byte, 2000))
	for name, c := range map[string]struct {
		next jobs.Next
		code protocol.Code
	}{
		"no arrays":     {jobs.Next{Done: true}, ""},
		"unknown phase": {jobs.Next{Phase: "x", State: jobs.Arrays{}}, ""},
		"empty tree":    {jobs.Next{Phase: "bracket", State: jobs.Arrays{}, Trees: []int{1, 0}}, ""},
		"big state":     {jobs.Next{Phase: "bracket", State: big}, protocol.CodeStateTooBig},
	} {
		_, _, err := tasksOf(t, bracket{next: c.next}, 0).Step(t.Context(), "bracket", nil,
			jobs.RoundOf(jobs.Plan{}, text("x")))
		var fault *protocol.Fault
		if err == nil || c.code != "" && (!errors.As(err, &fault) || fault.Code != c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := tasksOf(t, bracket{next: jobs.Next{Done: true, State: big}}, 0).Step(t.Context(), "bracket", nil,
		jobs.RoundOf(jobs.Plan{}, text("x"))); err != nil {
		t.Errorf("a model is not a state that workers load: %v", err)
	}
}

// skipping yields one block for each list of lines skipped.
func skipping(lines ...[]int64) func(context.Context) iter.Seq2[*dataset.Block, error] {
	return func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for _, in := range lines {
				block := &dataset.Block{}
				for _, line := range in {
					block.Skipped = append(block.Skipped,
						dataset.Skip{ID: dataset.Identity{Object: "a.tsv", Offset: 10 * line}, Line: line, Column: 2,
							Reason: "too few columns"})
				}
				if !yield(block, nil) {
					return
				}
			}
		}
	}
}

// foldSkips folds a tree whose leaves skip the given lines, by blocks.
func foldSkips(t *testing.T, tasks *Tasks, leaves ...[][]int64) (jobs.Arrays, error) {
	t.Helper()
	tree := protocol.Tree(len(leaves))
	return tasks.Fold(t.Context(), "bracket", tree, tree.Canonical(tree.Root()), FoldSource{
		Leaf: func(ctx context.Context, index int) (jobs.Arrays, error) {
			partial, _, err := tasks.Map(ctx, "bracket", nil,
				jobs.Leaf{Index: index, Blocks: skipping(leaves[index]...)},
				nil)
			return partial, err
		},
	})
}

// Two passes count once; merges and the step never see the counts; the metrics do.
func TestSkipsAreCountedBesideThePhase(t *testing.T) {
	tasks := tasksOf(t, bracket{passes: 2, next: jobs.Next{Done: true, State: jobs.Arrays{}}}, 4)
	root, err := foldSkips(t, tasks, [][]int64{{3}, {5, 6}}, [][]int64{{}}, [][]int64{{9}})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := jobs.Get[int64](root, "skipped.shards", -1, 3); err != nil ||
		!slices.Equal(rows, []int64{0, 0, 3, 0, 2, 1}) {
		t.Fatal(rows, err)
	}
	stored, err := jobs.Decode(root.Encode())
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := tasks.Step(t.Context(), "bracket", nil, jobs.RoundOf(jobs.Plan{}, stored))
	if err != nil || len(next.Metrics) != 3 || string(next.Metrics[0].Value) != "4" {
		t.Fatal(next.Metrics, err)
	}
	for _, line := range []string{`"line":3`, `"line":5`, `"line":6`, `"line":9`} {
		if !strings.Contains(string(next.Metrics[1].Value), line) {
			t.Errorf("%s lacks %s", next.Metrics[1].Value, line)
		}
	}
}

func TestNoSkipLeavesNoTrace(t *testing.T) {
	root, err := foldSkips(t, tasksOf(t, bracket{passes: 1}, 4), [][]int64{{}}, [][]int64{{}})
	if plain, _, detachErr := detachNodes(root); err != nil || detachErr != nil || len(plain) != 1 {
		t.Fatal(root.Names(), err, detachErr)
	}
}

// One bad record too many fails, wherever they lie, and names the first.
func TestSkipMaxHoldsOverTheTree(t *testing.T) {
	for name, leaves := range map[string][][][]int64{
		"one leaf":     {{{3, 4}, {5}}},
		"one block":    {{{3, 4, 5}}},
		"neighbors":    {{{3}}, {{4, 5}}},
		"far apart":    {{{3}}, {{}}, {{4}}, {{}}, {{5}}},
		"three leaves": {{{}, {3}}, {{4}}, {{5}}},
	} {
		if _, err := foldSkips(t, tasksOf(t, bracket{passes: 1}, 3), leaves...); err != nil {
			t.Errorf("%s: 3 of 3: %v", name, err)
		}
		_, err := foldSkips(t, tasksOf(t, bracket{passes: 1}, 2), leaves...)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || fault.Class != protocol.ClassInput {
			t.Errorf("%s: 3 of 2: %v", name, err)
			continue
		}
		if fault.Object != "a.tsv" || fault.Line != 3 || fault.Column != 2 || *fault != *fault.WithOffset(30) {
			t.Errorf("%s: %v does not name the first", name, err)
		}
	}
}

func TestSamplesAreTheFirstTen(t *testing.T) {
	tasks := tasksOf(t, bracket{passes: 1, next: jobs.Next{Done: true, State: jobs.Arrays{}}}, 100)
	root, err := foldSkips(t, tasks, [][]int64{{1, 2, 3, 4, 5, 6, 7}}, [][]int64{{8, 9, 10, 11}, {12, 13}})
	if err != nil {
		t.Fatal(err)
	}
	_, s, err := detach(root)
	if err != nil || s.count(jobs.Input) != 13 || len(s.samples) != 10 || s.samples[9].Line != 10 {
		t.Fatalf("%+v, %v", s, err)
	}
}

// What a phase must not return.
func TestReservedNamesAndNothing(t *testing.T) {
	reserved := jobs.Arrays{}
	jobs.PutScalar(reserved, "skipped.shards", int64(1))
	if _, err := (skips{}).attach(reserved); err == nil {
		t.Error("a reserved name passed")
	}
	if _, err := (skips{}).attach(nil); err == nil {
		t.Error("no partial passed")
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"no samples":  func(a jobs.Arrays) { delete(a, "skipped.samples") },
		"no json":     func(a jobs.Arrays) { a.PutText("skipped.samples", "{") },
		"more data":   func(a jobs.Arrays) { a.PutText("skipped.samples", "[] []") },
		"none":        func(a jobs.Arrays) { jobs.Put(a, "skipped.shards", []int64{0, 0, 0}, 1, 3) },
		"no data set": func(a jobs.Arrays) { jobs.Put(a, "skipped.shards", []int64{2, 0, 1}, 1, 3) },
		"no order":    func(a jobs.Arrays) { jobs.Put(a, "skipped.shards", []int64{1, 0, 1, 0, 5, 1}, 2, 3) },
	} {
		var one skips
		one.add(place{jobs.Input, 0}, []dataset.Skip{{Line: 1}})
		partial, err := one.attach(text("x"))
		if err != nil {
			t.Fatal(err)
		}
		spoil(partial)
		_, _, err = detach(partial)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: want a CORRUPT fault, got %v", name, err)
		}
	}
}
