package run_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// count is an algorithm of one phase, which counts records.
type count struct{}

type counted struct{ records int64 }

func (c *counted) Fields(f *jobs.Fields) { jobs.Scalar(f, "records", &c.records) }

func (count) Phases() []jobs.Phase {
	return []jobs.Phase{jobs.MapReduce[jobs.Arrays, *counted]{
		Name: "count", State: jobs.Itself, Partial: func() *counted { return new(counted) },
		Map: func(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*counted, error) {
			if len(state) != 0 {
				return nil, fmt.Errorf("the state has %d arrays", len(state))
			}
			c := new(counted)
			for block, err := range leaf.Blocks(ctx) {
				if err != nil {
					return nil, err
				}
				c.records += int64(len(block.IDs))
			}
			return c, nil
		},
		Merge: func(a, b *counted) (*counted, error) { return &counted{a.records + b.records}, nil },
		Step: func(_ context.Context, _ jobs.Arrays, root *counted, _ jobs.Round) (jobs.Next, error) {
			return jobs.Next{Done: true, State: jobs.ArraysOf(root)}, nil
		},
	}.Phase()}
}

// shardsOf are ids, cut into shards; the place of id i is byte i of "f".
func shardsOf(ids []string, shards int) []jobstest.Blocks {
	all := make([]jobstest.Blocks, shards)
	for s := range all {
		from, to := s*len(ids)/shards, (s+1)*len(ids)/shards
		all[s] = func(context.Context) iter.Seq2[*dataset.Block, error] {
			return func(yield func(*dataset.Block, error) bool) {
				for at := from; at < to; at += 7 {
					b := &dataset.Block{}
					for i := at; i < min(at+7, to); i++ {
						b.IDs = append(b.IDs, dataset.ByID(ids[i]))
						b.Places = append(b.Places, dataset.ByPlace("f", int64(i)))
					}
					if !yield(b, nil) {
						return
					}
				}
			}
		}
	}
	return all
}

// countIDs counts records whose ids are compared in lists of a number of hashes.
func countIDs(t testing.TB, ids []string, shards, most int, format string) (jobstest.Result, error) {
	spec := protocol.JobSpec{Spec: protocol.Spec{
		Input: protocol.Input{Format: format, ID: protocol.Column{Number: 1}},
		Run:   protocol.Run{MaxStateBytes: protocol.ByteSize(most * 16 * 128)},
	}}
	cut := jobstest.Grouping{Cut: func(_ int, node protocol.Node) bool { return node.Level > 0 }}
	return jobstest.Run(t.Context(), count{}, spec, shardsOf(ids, shards), kernelops.Generic(), cut)
}

func TestIDsByHand(t *testing.T) {
	for _, c := range []struct {
		ids    []string
		format string
		says   string // empty where no two are equal
	}{
		{[]string{"a"}, "csv", ""},
		{[]string{"a", "b", "A", "a ", "1", "01", "ab"}, "csv", ""},
		{[]string{"a", "b", "a"}, "csv",
			`f (byte 2): two records have the id "a": this one, and that at byte 0 of "f"`},
		{[]string{"a", "b", "b", "c", "a", "a"}, "csv",
			`f (byte 2): two records have the id "b": this one, and that at byte 1`},
		{[]string{"a", "b", "c", "a", "c"}, "npy", `f: row 3: two records have the id "a": this one, and row 0 of "f"`},
	} {
		for shards := 1; shards <= len(c.ids); shards++ {
			result, err := countIDs(t, c.ids, shards, 64, c.format)
			if c.says == "" && (err != nil || result.Rounds != 2) ||
				c.says != "" && !isBad(err, c.says) {
				t.Errorf("%q in %d shards: %v; want %q", c.ids, shards, err, c.says)
			}
		}
	}
}

// A leaf holds hashes of its own shard and of its shards of queries, up to three lists of 16 bytes a hash.
func TestMemoryOfIDs(t *testing.T) {
	id := protocol.Column{Number: 1}
	spec := protocol.JobSpec{Spec: protocol.Spec{Input: protocol.Input{Format: "csv", ID: id},
		Queries: &protocol.Input{Format: "csv", ID: id}, Run: protocol.Run{MaxStateBytes: 1000 * 16 * 128}}}
	tasks, err := run.NewTasks(count{}, spec, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int64]int64{10: 4 * (10 + 2*20), 1 << 20: 3 * 16 * 1000} {
		leaf := jobs.Leaf{Index: 1, Plan: jobs.Plan{Shards: 2, QueryShards: 4}}
		got := tasks.Gathers("ids", leaf, func(from jobs.Source, shard int) int64 {
			if shard%2 != 1 {
				t.Errorf("asked for shard %d of %s", shard, from)
			}
			return bytes * int64(1+from)
		})
		if got != want {
			t.Errorf("records of %d bytes: %d, want %d", bytes, got, want)
		}
	}
}

func isBad(err error, says string) bool {
	var fault *protocol.Fault
	return errors.As(err, &fault) && fault.Code == protocol.CodeBadRecord && strings.Contains(err.Error(), says)
}

// Ids that no list holds are compared in several trees, and in further rounds where these are not enough.
func TestIDsInManyTrees(t *testing.T) {
	ids := make([]string, 6_000)
	for i := range ids {
		ids[i] = fmt.Sprint(i * 7919 % 1_000_003)
	}
	for _, most := range []int{64, 1000, 6_000} {
		result, err := countIDs(t, ids, 5, most, "csv")
		if err != nil {
			t.Fatal(err)
		}
		n, err := jobs.GetScalar[int64](result.Model, "records")
		if err != nil || n != 6_000 || len(result.Model) != 1 {
			t.Errorf("%d records, %v, %d arrays", n, err, len(result.Model))
		}
		if most == 6_000 && result.Rounds != 2 || most < 6_000 && (result.Rounds < 3 || result.Rounds > 8) {
			t.Errorf("lists of %d: %d rounds", most, result.Rounds)
		}
	}
	for _, twice := range []int{0, 1, 2_999, 5_998} { // wherever in the range of hashes they are
		again := append([]string{}, ids...)
		again[5_999] = again[twice]
		_, err := countIDs(t, again, 5, 64, "csv")
		says := fmt.Sprintf(`f (byte 5999): two records have the id %q: this one, and that at byte %d of "f"`,
			again[twice], twice)
		if !isBad(err, says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// However records are cut, equal ids are found, and the fault names the first two records of an id: where all hashes
// fit into a list, of all such pairs that with the first second record.
func TestIDsAgainstAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, kinds := rapid.IntRange(1, 300).Draw(rt, "n"), rapid.SampledFrom([]int{20, 1000, 100_000}).Draw(rt, "ids")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		ids, first, says := make([]string, n), map[string]int{}, ""
		for i := range ids {
			ids[i] = fmt.Sprint(r.IntN(kinds))
			if at, again := first[ids[i]]; !again {
				first[ids[i]] = i
			} else if says == "" && len(first) < 64 {
				says = fmt.Sprintf(`f (byte %d): two records have the id %q: this one, and that at byte %d of "f"`, i,
					ids[i], at)
			} else if says == "" {
				says = "two records have the id"
			}
		}
		_, err := countIDs(t, ids, rapid.IntRange(1, min(n, 9)).Draw(rt, "shards"), 64, "csv")
		_, again := countIDs(t, ids, rapid.IntRange(1, min(n, 9)).Draw(rt, "other"), 64, "csv")
		_, whole := countIDs(t, ids, 3, 10_000, "csv")
		if says == "" && errors.Join(err, again, whole) != nil ||
			says != "" && (!isBad(err, "two records have") || !isBad(whole, says) || again.Error() != err.Error()) {
			rt.Fatalf("%v; %v; %v; want %q", err, again, whole, says)
		}
	})
}
