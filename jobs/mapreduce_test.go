package jobs_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// total is the sum of the lengths of texts, times a factor that the state holds.
type total struct{ sum int64 }

func (s *total) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "sum", &s.sum)
	f.Require(s.sum >= 0, "a sum of %d", s.sum)
}

var errTooMuch = errors.New("too much")

func summing() jobs.MapReduce[int64, *total] {
	return jobs.MapReduce[int64, *total]{
		Name:    "sum",
		State:   func(a jobs.Arrays) (int64, error) { return jobs.GetScalar[int64](a, "factor") },
		Partial: func() *total { return new(total) },
		Map: func(ctx context.Context, factor int64, leaf jobs.Leaf, _ *kernelops.Set) (*total, error) {
			sum := int64(0)
			for block, err := range leaf.Blocks(ctx) {
				if err != nil {
					return nil, err
				}
				for _, text := range block.Texts {
					sum += factor * int64(len(text))
				}
			}
			return &total{sum}, nil
		},
		Merge: func(left, right *total) (*total, error) {
			if left.sum+right.sum > 1000 {
				return nil, errTooMuch
			}
			return &total{left.sum + right.sum}, nil
		},
		Step: func(_ context.Context, factor int64, root *total, round jobs.Round) (jobs.Next, error) {
			if round.Plan.Shards != 2 {
				return jobs.Next{}, errTooMuch
			}
			return jobs.Next{Done: true, State: jobs.ArraysOf(&total{root.sum / factor})}, nil
		},
	}
}

func factorOf(factor int64) jobs.Arrays {
	a := jobs.Arrays{}
	jobs.PutScalar(a, "factor", factor)
	return a
}

func sumOf(t *testing.T, a jobs.Arrays) int64 {
	t.Helper()
	sum, err := jobs.GetScalar[int64](a, "sum")
	if err != nil || len(a) != 1 {
		t.Fatal(a, err)
	}
	return sum
}

// Texts of 1 and 3, and of 5 letters, times 10.
func TestMapReduceByHand(t *testing.T) {
	phase := summing().Phase()
	if phase.Name() != "sum" {
		t.Error(phase.Name())
	}
	var partials []jobs.Arrays
	for i, blocks := range jobstest.Shards([][]jobstest.Record{{{Text: "a"}, {Text: "bcd"}}, {{Text: "efghi"}}}, 1) {
		partial, carry, err := phase.Map(t.Context(), factorOf(10), jobs.Leaf{Index: i, Blocks: blocks}, factorOf(3),
			nil)
		if err != nil || carry != nil {
			t.Fatal(carry, err)
		}
		partials = append(partials, partial)
	}
	if left, right := sumOf(t, partials[0]), sumOf(t, partials[1]); left != 40 || right != 50 {
		t.Errorf("%d and %d", left, right)
	}
	root, err := phase.Merge(partials[0], partials[1])
	if err != nil || sumOf(t, root) != 90 {
		t.Fatal(root, err)
	}
	next, err := phase.Step(t.Context(), factorOf(10), jobs.RoundOf(jobs.Plan{Shards: 2}, root))
	if err != nil || !next.Done || sumOf(t, next.State) != 9 {
		t.Error(next, err)
	}
}

func TestMapReduceFaults(t *testing.T) {
	phase, good, bad := summing().Phase(), jobs.ArraysOf(&total{600}), jobs.ArraysOf(&total{-1})
	leaf, two := jobs.Leaf{Blocks: jobstest.Shards([][]jobstest.Record{{{Text: "a"}}}, 1)[0]}, jobs.Plan{Shards: 2}
	_, _, err := phase.Map(t.Context(), jobs.Arrays{}, leaf, nil, nil)
	wantCorrupt(t, "a state of Map", err)
	_, err = phase.Merge(good, bad)
	wantCorrupt(t, "the right partial", err)
	_, err = phase.Merge(bad, good)
	wantCorrupt(t, "the left partial", err)
	_, err = phase.Step(t.Context(), factorOf(1), jobs.RoundOf(two, bad))
	wantCorrupt(t, "the root", err)
	_, err = phase.Step(t.Context(), jobs.Arrays{}, jobs.RoundOf(two, good))
	wantCorrupt(t, "a state of Step", err)
	_, err = phase.Step(t.Context(), factorOf(1), jobs.RoundOf(two, good, good))
	wantCorrupt(t, "two trees", err)
	// what the functions return is handed on as it is
	if _, err = phase.Merge(good, good); err != errTooMuch {
		t.Error(err)
	}
	if _, err = phase.Step(t.Context(), factorOf(1), jobs.RoundOf(jobs.Plan{}, good)); err != errTooMuch {
		t.Error(err)
	}
	lost := protocol.EmptyFault("lost")
	leaf.Blocks = func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) { yield(nil, lost) }
	}
	if partial, _, err := phase.Map(t.Context(), factorOf(1), leaf, nil, nil); partial != nil || !errors.Is(err, lost) {
		t.Error(partial, err)
	}
}

// Without State there is a zero state, whatever the arrays hold; Itself hands them on.
func TestMapReduceStates(t *testing.T) {
	var seen []int64
	m := summing()
	m.State = nil
	m.Map = func(_ context.Context, factor int64, _ jobs.Leaf, _ *kernelops.Set) (*total, error) {
		seen = append(seen, factor)
		return &total{}, nil
	}
	if _, _, err := m.Phase().Map(t.Context(), factorOf(4), jobs.Leaf{}, nil, nil); err != nil ||
		!slices.Equal(seen, []int64{0}) {
		t.Error(seen, err)
	}
	state := factorOf(4)
	if same, err := jobs.Itself(state); err != nil || jobstest.Digest(same) != jobstest.Digest(state) {
		t.Error(same, err)
	}
}

func TestMapReduceGathers(t *testing.T) {
	records := func(jobs.Source, int) int64 { return 100 }
	leaf := jobs.Leaf{Index: 3}
	gathers := func(m jobs.MapReduce[int64, *total]) int64 { return m.Phase().(jobs.Gatherer).Gathers(leaf, records) }
	m := summing()
	if got := gathers(m); got != 0 {
		t.Errorf("%d bytes of a phase that keeps none", got)
	}
	m.Gathers = func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
		return 2*records(jobs.Input, leaf.Index) + int64(leaf.Index)
	}
	if got := gathers(m); got != 203 {
		t.Errorf("%d bytes, not 203", got)
	}
}
