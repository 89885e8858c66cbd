package run

import (
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

func countOf(from jobs.Source, shard int, records int64) shardCount {
	return shardCount{place{from, shard}, records, false}
}

func TestCountsByHand(t *testing.T) {
	left := counts{countOf(jobs.Input, 0, 3), countOf(jobs.Queries, 0, 1)}
	right := counts{countOf(jobs.Input, 1, 0), countOf(jobs.Queries, 1, 2)}
	right[1].ownPass = true
	sum, err := left.plus(right)
	if err != nil {
		t.Fatal(err)
	}
	plain, back, err := detachCounts(sum.attach(text("x")))
	if err != nil || len(plain) != 1 || len(back) != 4 || back[1] != right[0] || back[3] != right[1] {
		t.Errorf("%v, %+v, %v", plain, back, err)
	}
	l, err := layoutOf(jobs.BlockRecords{2, 2}, jobs.Plan{Shards: 2, QueryShards: 2}, back)
	if err != nil || l.blocks(jobs.Input) != 2 || l.blocks(jobs.Queries) != 2 || l.records(jobs.Input) != 3 ||
		l.first(jobs.Input, 1) != 3 || l.first(jobs.Queries, 1) != 1 || l.first(jobs.Queries, 2) != 3 {
		t.Errorf("%+v, %v", l, err)
	}
	if plain, none, err := detachCounts(text("x")); err != nil || none != nil || len(plain) != 1 {
		t.Errorf("%v, %v, %v", plain, none, err)
	}
	if _, err := left.plus(left); !isCorrupt(err) {
		t.Errorf("shards counted twice: %v", err)
	}
}

func isCorrupt(err error) bool {
	fault, ok := err.(*protocol.Fault) //nolint:errorlint // Malformed is not wrapped here
	return ok && fault.Code == protocol.CodeCorrupt
}

// What no leaf counts is refused, as is what no state keeps.
func TestHostileCounts(t *testing.T) {
	for name, rows := range map[string][]int64{
		"another data set": {2, 0, 1, 0}, "a shard below 0": {0, -1, 1, 0}, "records below 0": {0, 0, -1, 0},
		"no flag": {0, 0, 1, 2}, "out of order": {0, 1, 1, 0, 0, 0, 1, 0}, "twice": {0, 0, 1, 0, 0, 0, 1, 0},
	} {
		a := text("x")
		jobs.Put(a, countsArray, rows, len(rows)/4, 4)
		if _, _, err := detachCounts(a); !isCorrupt(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	each, plan := jobs.BlockRecords{jobs.Input: 2}, jobs.Plan{Shards: 2}
	for name, c := range map[string]counts{
		"none": nil, "too few": {countOf(jobs.Input, 0, 1)},
		"not the first":    {countOf(jobs.Input, 1, 1)},
		"too many":         {countOf(jobs.Input, 0, 1), countOf(jobs.Input, 1, 1), countOf(jobs.Input, 2, 1)},
		"queries":          {countOf(jobs.Input, 0, 1), countOf(jobs.Input, 1, 1), countOf(jobs.Queries, 0, 1)},
		"beyond all words": {countOf(jobs.Input, 0, math.MaxInt64/2), countOf(jobs.Input, 1, 1)},
	} {
		if _, err := layoutOf(each, plan, c); !isCorrupt(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, records := range map[string][]int64{"fewer": {1}, "more": {1, 1, 1}, "below 0": {1, -1}} {
		a := text("x")
		jobs.Put(a, recordsArrays[jobs.Input], records)
		if _, _, err := detachLayout(a, each, plan); !isCorrupt(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	tasks := tasksOf(t, bracket{}, 0)
	tasks.blocks = each
	if _, _, err := tasks.detach(text("x"), "another", plan); !isCorrupt(err) {
		t.Errorf("a later state without records: %v", err)
	}
}

// More blocks than a round has room for are refused, with what to do.
func TestTooManyBlocks(t *testing.T) {
	c := counts{countOf(jobs.Input, 0, maxBlocks), countOf(jobs.Input, 1, 1)}
	_, err := layoutOf(jobs.BlockRecords{jobs.Input: 1}, jobs.Plan{Shards: 2}, c)
	fault, ok := err.(*protocol.Fault) //nolint:errorlint // it is not wrapped here
	if !ok || fault.Code != protocol.CodeInputLimit || fault.Hint != "Raise spec.params.block_records." {
		t.Errorf("%v", err)
	}
	if l, err := layoutOf(jobs.BlockRecords{jobs.Input: 2}, jobs.Plan{Shards: 2}, c); err != nil ||
		l.blocks(jobs.Input) != maxBlocks/2+1 {
		t.Errorf("%v, %v", l, err)
	}
}

func FuzzCounts(f *testing.F) {
	f.Add([]byte(jobs.Arrays(counts{countOf(jobs.Input, 0, 3)}.attach(text("x"))).Encode()))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := jobs.Decode(data)
		if err != nil {
			return
		}
		plain, c, err := detachCounts(a)
		if err != nil {
			if !isCorrupt(err) {
				t.Fatal(err)
			}
			return
		}
		if _, again, err := detachCounts(c.attach(plain)); err != nil || len(again) != len(c) {
			t.Fatalf("%v came back as %v: %v", c, again, err)
		}
	})
}
