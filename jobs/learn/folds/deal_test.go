package folds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// read is a job that keeps the parts of all records, in their order.
type read struct{ folds []uint8 }

func (r *read) Fields(f *jobs.Fields) { jobs.List(f, "folds", &r.folds) }

func parts(t *testing.T, split protocol.Split, shards [][]jobstest.Record) ([]uint8, evaluation.Deal, error) {
	t.Helper()
	spec := protocol.JobSpec{}
	spec.Spec.Repro.Seed, spec.Spec.Input.Split = 5, split
	reading := jobs.MapReduce[jobs.Arrays, *read]{
		Name: "read", State: jobs.Itself, Partial: func() *read { return new(read) },
		Map: func(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*read, error) {
			r := new(read)
			for block, err := range leaf.Blocks(ctx) {
				if err != nil {
					return nil, err
				}
				r.folds = append(r.folds, block.Folds...)
			}
			return r, nil
		},
		Merge: func(a, b *read) (*read, error) { return &read{slices.Concat(a.folds, b.folds)}, nil },
		Step: func(_ context.Context, state jobs.Arrays, r *read, _ jobs.Round) (jobs.Next, error) {
			if len(state) > 0 {
				return jobs.Next{}, fmt.Errorf("the phase sees %d arrays", len(state))
			}
			return jobs.Next{Done: true, State: jobs.ArraysOf(r)}, nil
		},
	}.Phase()
	d := &dealer{spec.Spec.Repro.Seed, split, "read"}
	list := append(jobs.Phases(d.deals()), &phase{Phase: reading, fold: 1, by: d})
	result, err := jobstest.Run(t.Context(), list, spec, jobstest.Shards(shards, 16), kernelops.Generic(),
		jobstest.Grouping{})
	if err != nil {
		return nil, evaluation.Deal{}, err
	}
	var deal evaluation.Deal
	if err := jobs.ReadMetric(result.Metrics, evaluation.DealMetric, &deal); err != nil {
		t.Fatal(err)
	}
	r, err := jobs.Load[read](result.Model)
	if err != nil {
		t.Fatal(err)
	}
	return r.folds, deal, nil
}

// some are records of classes a, b, ... of given sizes in an order of their own, with groups.
func some(random *rand.Rand, sizes []int, groups int) (list []jobstest.Record) {
	for class, n := range sizes {
		for range n {
			list = append(list, jobstest.Record{Label: string(rune('a' + class)), Dense: []float32{1},
				Group: fmt.Sprint("g", random.IntN(groups)*random.IntN(2))})
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for i := range list {
		list[i].ID = fmt.Sprint(i)
	}
	return list
}

// Each class and all records are spread over the folds within a record, by the ranks of their draws, whatever the
// shards.
func TestStrataAgainstSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for try := range 30 {
		n := 2 + random.IntN(6)
		sizes := make([]int, 2+random.IntN(4))
		for i := range sizes {
			sizes[i] = n + random.IntN(40)
		}
		if try == 0 {
			sizes[0] = 5000
		}
		records := some(random, sizes, 3)
		got, deal, err := parts(t, protocol.Split{Folds: n, By: "label"}, jobstest.Deal(records, 1+random.IntN(4)))
		if err != nil {
			t.Fatal(err)
		}
		draws, dealt := dataset.NewDraws(dealer{seed: 5}.key()), 0
		for class := range sizes {
			var list []int
			for i, r := range records {
				if r.Label == string(rune('a'+class)) {
					list = append(list, i)
				}
			}
			slices.SortFunc(list, func(i, j int) int {
				return cmp.Compare(draws.Uint64(dataset.ByID(records[i].ID)), draws.Uint64(dataset.ByID(records[j].ID)))
			})
			more := make([]int, n)
			for range len(list) % n {
				more[dealt%n]++
				dealt++
			}
			at := 0
			for part := range n {
				for range len(list)/n + more[part] {
					if got[list[at]] != uint8(part)+1 {
						t.Fatalf("%d folds of %v: record %d of class %d is in fold %d, not %d", n, sizes, at, class,
							got[list[at]], part+1)
					}
					at++
				}
			}
		}
		if slices.Max(deal.Parts)-slices.Min(deal.Parts) > 1 || deal.Classes != int64(len(sizes)) {
			t.Errorf("%+v", deal)
		}
	}
}

// Groups stay whole in both ways of dealing, and what the report says is so.
func TestGroupsStayTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, split := range []protocol.Split{{Folds: 4}, {Test: 0.3}, {Test: 0.0001}} {
		split.Group = protocol.Column{Number: 3}
		records := some(random, []int{50, 70}, 12)
		var before []uint8
		for _, shards := range []int{1, 5} {
			got, deal, err := parts(t, split, jobstest.Deal(records, shards))
			if err != nil {
				t.Fatal(err)
			}
			of, sizes := map[string]uint8{}, make([]int64, len(deal.Parts))
			for i, r := range records {
				if of[r.Group] != 0 && of[r.Group] != got[i] {
					t.Errorf("%v: group %s is in parts %d and %d", split, r.Group, of[r.Group], got[i])
				}
				of[r.Group] = got[i]
				sizes[got[i]-1]++
			}
			if !slices.Equal(sizes, deal.Parts) || deal.Groups != int64(len(of)) || slices.Min(sizes) == 0 {
				t.Errorf("%v: %+v of %v", split, deal, sizes)
			}
			if split.Test == 0.3 && (sizes[0] > 36 || sizes[0] < 20) {
				t.Errorf("%d of 120 records are held out", sizes[0])
			}
			if before != nil && !slices.Equal(before, got) {
				t.Errorf("%v: shards matter", split)
			}
			before = got
		}
	}
}

// By hand: of groups of 5, 3, 2, 2 records, the folds have 7 and 5.
func TestLargestGroupsFirst(t *testing.T) {
	var records []jobstest.Record
	for i, group := range strings.Split("aaaaabbbccdd", "") {
		records = append(records, jobstest.Record{Dense: []float32{1}, Group: group, ID: fmt.Sprint(i)})
	}
	split := protocol.Split{Folds: 2, Group: protocol.Column{Name: "g"}}
	_, deal, err := parts(t, split, [][]jobstest.Record{records})
	if err != nil || !slices.Equal(deal.Parts, []int64{7, 5}) {
		t.Errorf("%+v, %v", deal, err)
	}
}

// A share by label has the share of every class within a record, and that of all records.
func TestShareOfEachClass(t *testing.T) {
	sizes := []int{2, 31, 60, 107}
	records := some(rand.New(rand.NewPCG(5, 6)), sizes, 3)
	got, deal, err := parts(t, protocol.Split{Test: 0.25, By: "label"}, jobstest.Deal(records, 3))
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]int{}
	for i, r := range records {
		if got[i] == 1 {
			held[r.Label]++
		}
	}
	want := map[string]int{"a": 1, "b": 7, "c": 15, "d": 27}
	if !maps.Equal(held, want) || !slices.Equal(deal.Parts, []int64{50, 150}) {
		t.Errorf("%v, %+v", held, deal)
	}
}

func TestDealRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	many := some(random, []int{maxClasses + 1, 1}, 2)
	for i := range many {
		many[i].Label = fmt.Sprint(i)
	}
	group := protocol.Column{Number: 2}
	for _, c := range []struct {
		split   protocol.Split
		records []jobstest.Record
		says    string
	}{
		{protocol.Split{Folds: 4, By: "label"}, some(random, []int{9, 3}, 2),
			`class "b" has 3 records, fewer than there are folds (4)`},
		{protocol.Split{Test: 0.5, By: "label"}, some(random, []int{9, 1}, 2), `class "b" has 1 record, and split.test needs one`},
		{protocol.Split{Folds: 2, By: "label"}, some(random, []int{9}, 2), `all 9 records have the label "a"`},
		{protocol.Split{Folds: 2, By: "label"}, many, "more than 4096 labels"},
		{protocol.Split{Folds: 9, Group: group}, some(random, []int{9}, 2),
			"2 different values, fewer than there are folds (9)"},
		{protocol.Split{Test: 0.5, Group: group}, some(random, []int{9}, 1),
			"column 2 has one value only"},
		{protocol.Split{Folds: 2, Group: group}, jobstest.DenseRecords([][]float32{{1}, {2}}),
			"no value to deal it by"},
	} {
		_, _, err := parts(t, c.split, jobstest.Deal(c.records, 2))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.says) || fault.Hint == "" {
			t.Errorf("%+v: %v", c.split, err)
		}
	}
}

// Beyond the groups that are counted, they are drawn by their hashes; leaves may be merged in any way.
func TestManyGroups(t *testing.T) {
	d := dealer{seed: 1, split: protocol.Split{Folds: 3, Group: protocol.Column{Number: 1}}}
	whole, halves := newCounter(d), []*counter{newCounter(d), newCounter(d)}
	for i := range maxGroups + 1 {
		block := &dataset.Block{IDs: []dataset.Identity{dataset.ByRow(int64(i))}, Groups: []uint64{uint64(i) * 7919}}
		if err := errors.Join(whole.add(block), halves[i%2].add(block)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := halves[0].census().plus(halves[1].census())
	if err != nil || !sum.over || !whole.census().over || !slices.Equal(sum.hashed, whole.hashed) {
		t.Fatal(sum, err)
	}
	next, err := d.deal(t.Context(), nil, sum, jobs.Round{})
	if err != nil {
		t.Fatal(err)
	}
	dealt, err := jobs.Load[dealt](next.State)
	if err != nil {
		t.Fatal(err)
	}
	sizes := make([]int64, 3)
	for i := range maxGroups + 1 {
		block := &dataset.Block{IDs: []dataset.Identity{dataset.ByRow(int64(i))}, Groups: []uint64{uint64(i) * 7919}}
		marked, err := d.marker(dealt).mark(block)
		if err != nil {
			t.Fatal(err)
		}
		sizes[marked.Folds[0]-1]++
	}
	if !slices.Equal(sizes, sum.hashed) || slices.Min(sizes) < maxGroups/4 {
		t.Errorf("%v, not %v", sizes, sum.hashed)
	}
}

// A fault of a training without a fold names the fold, and one of the last training, on all records, does not.
func TestFaultsNameTheFold(t *testing.T) {
	fault := protocol.EmptyFault("no record").WithHint("Check.")
	for fold, want := range map[int]string{2: "no record, in the training without fold 2 of 5", 6: "no record"} {
		err := (&phase{fold: fold, folds: 5}).of(fmt.Errorf("map: %w", fault))
		var told *protocol.Fault
		if !errors.As(err, &told) || told.What != want || told.Hint != "Check." {
			t.Errorf("fold %d: %v", fold, err)
		}
	}
	if err := (&phase{fold: 1, folds: 5}).of(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := (&phase{fold: 1, folds: 5}).of(nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
}
