package jobs

import (
	"context"
	"fmt"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Source is one of the data sets of a spec.
type Source int

// The data sets of a spec.
const (
	Input   Source = iota // spec.input
	Queries               // spec.queries
)

// Known reports whether s is one of the data sets of a spec.
func (s Source) Known() bool { return s == Input || s == Queries }

// String is the field of the spec.
func (s Source) String() string {
	switch s {
	case Input:
		return "spec.input"
	case Queries:
		return "spec.queries"
	}
	return fmt.Sprintf("data set %d", int(s))
}

// DataSets are the data sets of a spec, by Source.
func DataSets(spec protocol.Spec) []protocol.Input {
	sets := []protocol.Input{Input: spec.Input}
	if spec.Queries != nil {
		sets = append(sets, *spec.Queries)
	}
	return sets
}

// WayOf is how the records of a data set of a spec are named.
func WayOf(spec protocol.Spec, of Source) dataset.Way {
	if of == Queries && spec.Queries != nil {
		return dataset.WayOf(spec.Queries)
	}
	return dataset.WayOf(&spec.Input)
}

// Plan has the number of shards of each data set; QueryShards is 0 without spec.queries. Blocks and QueryBlocks are the
// numbers of logical blocks, where the algorithm is OverBlocks and its first round was mapped; else 0.
type Plan struct{ Shards, QueryShards, Blocks, QueryBlocks int }

// BlockReader reads a shard of one of the data sets in order, as Leaf.Read does.
type BlockReader func(ctx context.Context, from Source, shard int) iter.Seq2[*dataset.Block, error]

// RangeReader reads the records [begin, end) of a shard, which are numbered from 0, and no others.
type RangeReader func(ctx context.Context, from Source, shard int, begin, end int64) iter.Seq2[*dataset.Block, error]

// Leaf is one unit of Map.
type Leaf struct {
	Tree, Index int
	Plan        Plan
	// Blocks reads, in order, the records of shard Index of spec.input. It may be called more than
	// once. A block must not be written to, and is valid until the pass moves on to the next one,
	// unless it is Lasting. Passes may nest, in one goroutine.
	Blocks func(ctx context.Context) iter.Seq2[*dataset.Block, error]
	// Read reads any shard of any data set in the same way.
	Read BlockReader
	// ReadRange reads records of a shard, for run.Tasks alone; where it is nil, they come out of Read.
	ReadRange RangeReader
	// ReadBlock reads a logical block in the same way. First is the ordinal of the first record of a shard and, of the
	// number of shards, the number of records. Who makes a leaf leaves both nil: run.Tasks, which counts the records,
	// gives them to a phase.
	ReadBlock PartReader
	First     func(from Source, shard int) int64
	Emit      Emit
	// Memo is where Map may leave what it found out about the leaf, for the next round of the phase; nil where nothing
	// is kept.
	Memo Memo
	// MemoOf returns the Memo of the same leaf of another phase, which both use then; nil where nothing is kept.
	MemoOf func(phase string) Memo
}

// Remembered returns what the leaf's tasks of a phase left for those of another one, and nil if there is nothing.
func (l Leaf) Remembered(phase string) any {
	if memo := l.memoOf(phase); memo != nil {
		return memo.Take()
	}
	return nil
}

// Remembers reports whether what Remember is given may be kept.
func (l Leaf) Remembers(phase string) bool { return l.memoOf(phase) != nil }

// Remember leaves a value for Remembered.
func (l Leaf) Remember(phase string, value any, bytes int64) {
	if memo := l.memoOf(phase); memo != nil {
		memo.Keep(value, bytes)
	}
}

func (l Leaf) memoOf(phase string) Memo {
	if l.MemoOf == nil {
		return nil
	}
	return l.MemoOf(phase)
}

// Memo is a place in a worker's memory, for one leaf of one phase. It spares work and reaches no result: what Map
// returns must be the same, to the bit, with what was kept and with nothing. What is kept may be gone at any time, and
// may be of any earlier round. Unlike a carry it is neither stored, nor sent, nor audited, so that it may differ from
// CPU to CPU.
type Memo interface {
	// Take returns what was kept last, and keeps it no longer; nil if there is nothing.
	Take() any
	// Keep keeps a value that takes about that number of bytes, if there is room: in memory, or on disk if the value
	// is Spillable. The caller must not use it afterwards.
	Keep(value any, bytes int64)
}

// Spillable is a value of a Memo that a worker may write to disk where its memory has no room.
type Spillable interface {
	Stored
	// Empty returns a value to read into what was written.
	Empty() Spillable
}

// Watched returns the leaf so that visit sees each block of its own shard before the reader does.
func (l Leaf) Watched(visit func(*dataset.Block)) Leaf {
	blocks := l.Blocks
	l.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for block, err := range blocks(ctx) {
				if err == nil {
					visit(block)
				}
				if !yield(block, err) {
					return
				}
			}
		}
	}
	return l
}

// Round is a finished round as Step sees it.
type Round struct {
	Plan  Plan
	Trees int
	// Root reads the root of a tree. Roots are read on demand, because all of them may not fit
	// into memory.
	Root func(ctx context.Context, tree int) (Arrays, error)
	Emit Emit
}

// Only returns the root of a round of one tree.
func (r Round) Only(ctx context.Context) (Arrays, error) {
	if r.Trees != 1 {
		return nil, Malformed("the round has %d trees, not one", r.Trees)
	}
	return r.Root(ctx, 0)
}

// RoundOf returns a round whose roots are in memory.
func RoundOf(plan Plan, roots ...Arrays) Round {
	return Round{Plan: plan, Trees: len(roots), Root: func(_ context.Context, tree int) (Arrays, error) {
		if tree < 0 || tree >= len(roots) {
			return nil, Malformed("the round has no tree %d", tree)
		}
		return roots[tree], nil
	}}
}

// Emit writes an output file of the job, named relative to the model's folder, and returns what
// an index needs to find and verify it. The same name must always get the same bytes, because a
// file may be written more than once. CheckFileName defines the allowed names.
type Emit func(ctx context.Context, name string, data []byte) (File, error)

// File is an output file beside the model.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // in hexadecimal
	Size   int64  `json:"size"`
}

// IndexName is the name, within its folder, of the file that lists the others.
const IndexName = "index.json"

// Choice reports whether record i of a block is chosen.
type Choice func(block *dataset.Block, i int) bool

// Records chooses records by their identity or, where a job deals them into folds by more than that, by their fold. A
// call makes a function for one goroutine.
type Records func() Choice

// EveryRecord chooses all records.
func EveryRecord() Choice { return func(*dataset.Block, int) bool { return true } }

// TrainingRecords are those that spec.input.split does not hold out.
func TrainingRecords(spec protocol.JobSpec) Records {
	if !spec.Spec.Input.Split.HoldsOut() {
		return EveryRecord
	}
	test := TestRecords(spec)
	return func() Choice {
		heldOut := test()
		return func(block *dataset.Block, i int) bool { return !heldOut(block, i) }
	}
}

// TestRecords are those that spec.input.split holds out for evaluation.
func TestRecords(spec protocol.JobSpec) Records {
	seed, split := spec.Spec.Repro.Seed, spec.Spec.Input.Split
	return func() Choice {
		switch {
		case split.Deals():
			return func(block *dataset.Block, i int) bool { return int(block.Folds[i]) == split.Out }
		case split.Out > 0:
			folds := dataset.NewFolds(seed, split.Folds)
			return func(block *dataset.Block, i int) bool { return folds.Of(block.IDs[i]) == split.Out }
		}
		test := dataset.NewSplit(seed, split.Test)
		return func(block *dataset.Block, i int) bool { return test.InTest(block.IDs[i]) }
	}
}
