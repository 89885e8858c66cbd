package jobs

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
)

// BlockRecords is how many records a logical block of each data set has, by Source; 0 for one that is not read in
// blocks. InBlocks says how many blocks there may be instead.
//
// A logical block is records [b*n, (b+1)*n) of a data set by ordinal. A record's ordinal is its number within the whole
// data set, from 0: good records in the order of the manifest, held-out ones included, skipped ones not. So neither
// shards nor files matter to a block, and one may span several of either.
type BlockRecords [2]int64

// InBlocks stands for the least size of which there are at most n blocks.
func InBlocks(n int) int64 { return -int64(n) }

// SizeOf returns how many records a block has of a data set that has some records, by its number in BlockRecords.
func SizeOf(number, records int64) int64 {
	if number < 0 {
		return max(1, (records-number-1)/-number)
	}
	return number
}

// Any reports whether any data set is read in blocks.
func (r BlockRecords) Any() bool { return r != BlockRecords{} }

// OverBlocks is an algorithm that is bound to an order of the records, and goes by logical blocks in place of shards.
// From its second round on, a Plan has the number of blocks and a Leaf reads them.
type OverBlocks interface {
	Algorithm
	BlockRecords() BlockRecords
}

// BlocksOf are the blocks of an algorithm; none where it is not over blocks.
func BlocksOf(algorithm Algorithm) BlockRecords {
	if over, ok := algorithm.(OverBlocks); ok {
		return over.BlockRecords()
	}
	return BlockRecords{}
}

// Blocked is an algorithm over logical blocks whose list of phases is known from the start.
type Blocked struct {
	List    Phases
	Records BlockRecords
}

// Phases returns the list.
func (b Blocked) Phases() []Phase { return b.List }

// BlockRecords returns Records.
func (b Blocked) BlockRecords() BlockRecords { return b.Records }

// Part is consecutive records of a data set: a slice of what a reader of its shards yields.
type Part struct {
	*dataset.Block
	First int64 // ordinal of the first record
}

// PartReader reads a logical block of one of the data sets in order. Parts are valid as blocks of a Leaf are.
type PartReader func(ctx context.Context, from Source, block int) iter.Seq2[Part, error]

// Numbered yields the records of the leaf's own shard of spec.input with their ordinals.
func (l Leaf) Numbered(ctx context.Context) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		first := l.First(Input, l.Index)
		for block, err := range l.Blocks(ctx) {
			if err != nil {
				yield(Part{}, err)
				return
			}
			if !yield(Part{block, first}, nil) {
				return
			}
			first += int64(len(block.IDs))
		}
	}
}
