package run

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// beside is what travels beside the partial of a node, unseen by phases.
type beside struct {
	skips  skips
	notes  notes
	counts counts
}

func (b beside) plus(right beside) (sum beside, err error) {
	sum.skips = b.skips.plus(right.skips)
	if sum.notes, err = b.notes.plus(right.notes); err != nil {
		return beside{}, err
	}
	sum.counts, err = b.counts.plus(right.counts)
	return sum, err
}

func (b beside) attach(partial jobs.Arrays) (jobs.Arrays, error) {
	partial, err := b.skips.attach(partial)
	if err != nil {
		return nil, err
	}
	return b.notes.attach(b.counts.attach(partial))
}

// detachAll is the inverse of attach.
func detachAll(partial jobs.Arrays) (plain jobs.Arrays, b beside, err error) {
	if plain, b.skips, err = detach(partial); err != nil {
		return nil, b, err
	}
	if plain, b.notes, err = detachNotes(plain); err != nil {
		return nil, b, err
	}
	plain, b.counts, err = detachCounts(plain)
	return plain, b, err
}

// known is what a state tells besides what phases see.
type known struct {
	kept
	*layout // nil before the first round has ended, and without blocks
}

// detach takes what a phase does not see off a state.
func (t *Tasks) detach(state jobs.Arrays, phase string, plan jobs.Plan) (jobs.Arrays, known, error) {
	state, k, err := detachKept(state)
	if err != nil {
		return nil, known{}, err
	}
	state, l, err := detachLayout(state, t.blocks, plan)
	if err == nil && l == nil && t.blocks.Any() && phase != t.firstOfKind() {
		err = jobs.Malformed("the state of phase %q does not tell the records of the shards", phase)
	}
	return state, known{k, l}, err
}

// attach returns the state, or the model, with what is known.
func (k known) attach(state jobs.Arrays, isModel bool) (jobs.Arrays, error) {
	state, err := k.kept.attach(state, isModel)
	if err != nil || state == nil || isModel || k.layout == nil {
		return state, err
	}
	return k.layout.attach(state), nil
}

// plan returns a plan with the numbers of blocks, where they are known.
func (k known) plan(p jobs.Plan) jobs.Plan {
	if k.layout == nil {
		return p
	}
	return k.layout.plan(p)
}

// blocks returns a leaf that reads logical blocks, where they are known.
func (k known) blocks(leaf jobs.Leaf, each jobs.BlockRecords) jobs.Leaf {
	leaf.Plan = k.plan(leaf.Plan)
	if k.layout != nil {
		read := leaf.ReadRange
		if read == nil {
			read = ranged(leaf.Read)
		}
		leaf.First, leaf.ReadBlock, leaf.ReadRange = k.first, k.reader(read, k.check), nil
		return leaf
	}
	leaf.First = func(jobs.Source, int) int64 { return 0 }
	leaf.ReadBlock = func(context.Context, jobs.Source, int) partSeq {
		if each.Any() {
			return noParts("jobs: logical blocks are read from the second round on")
		}
		return noParts("jobs: the algorithm is not over logical blocks")
	}
	return leaf
}

// ranged reads whole shards.
func ranged(read jobs.BlockReader) jobs.RangeReader {
	return func(ctx context.Context, from jobs.Source, shard int, begin, end int64) iter.Seq2[*dataset.Block, error] {
		return dataset.Between(read(ctx, from, shard), begin, end)
	}
}
