// Package jobstest runs an algorithm in one process as a cluster would: leaves
// mapped in any grouping, every result through its stored bytes. Tests use it to hold that
// grouping never changes a bit.
package jobstest

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
)

// Record is one labelled text.
type Record struct{ Label, Text string }

// Blocks reads one leaf.
type Blocks func(ctx context.Context) iter.Seq2[*dataset.Block, error]

// Shards turns records in memory into leaves whose blocks hold up to size records.
// Identities are rows of one object over all shards. Each block's memory is overwritten once
// the next is asked for, as a real reader does.
func Shards(shards [][]Record, size int) []Blocks {
	leaves := make([]Blocks, len(shards))
	row := int64(0)
	for i, records := range shards {
		leaves[i] = blocksOf(records, row, size)
		row += int64(len(records))
	}
	return leaves
}

func blocksOf(records []Record, row int64, size int) Blocks {
	return func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for begin := 0; begin < len(records); begin += size {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				block := blockOf(records[begin:min(begin+size, len(records))], row+int64(begin))
				more := yield(block, nil)
				overwrite(block)
				if !more {
					return
				}
			}
		}
	}
}

func blockOf(records []Record, row int64) *dataset.Block {
	block := &dataset.Block{}
	for i, r := range records {
		block.Labels = append(block.Labels, []byte(r.Label))
		block.Texts = append(block.Texts, []byte(r.Text))
		block.IDs = append(block.IDs, dataset.Identity{Object: "records", Offset: row + int64(i)})
	}
	return block
}

func overwrite(block *dataset.Block) {
	for i := range block.Texts {
		clear(block.Labels[i])
		clear(block.Texts[i])
	}
}
