package folds

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// marked returns the leaf with blocks of spec.input whose records have their parts.
func (d dealer) marked(t *dealt, leaf jobs.Leaf) jobs.Leaf {
	blocks, read, readBlock := leaf.Blocks, leaf.Read, leaf.ReadBlock
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return d.marker(t).all(blocks(ctx))
	}
	leaf.Read = func(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
		if from != jobs.Input {
			return read(ctx, from, shard)
		}
		return d.marker(t).all(read(ctx, from, shard))
	}
	leaf.ReadBlock = func(ctx context.Context, from jobs.Source, block int) iter.Seq2[jobs.Part, error] {
		if from != jobs.Input {
			return readBlock(ctx, from, block)
		}
		return d.marker(t).eachPart(readBlock(ctx, from, block))
	}
	leaf.ReadRange = nil
	return leaf
}

// all marks blocks.
func (m *marker) all(blocks iter.Seq2[*dataset.Block, error]) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		for block, err := range blocks {
			if err == nil {
				block, err = m.mark(block)
			}
			if !yield(block, err) || err != nil {
				return
			}
		}
	}
}

// eachPart marks parts of a logical block.
func (m *marker) eachPart(parts iter.Seq2[jobs.Part, error]) iter.Seq2[jobs.Part, error] {
	return func(yield func(jobs.Part, error) bool) {
		for part, err := range parts {
			if err == nil {
				part.Block, err = m.mark(part.Block)
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}
