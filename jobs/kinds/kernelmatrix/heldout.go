package kernelmatrix

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

const heldOutName = "held_out"

// heldOutPhase counts the records of each block that are not held out: the rows and columns of the matrix. Without it
// nobody would know where a block begins in the matrix.
type heldOutPhase struct{ *plan }

func (p *heldOutPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *kept]{
		Name: heldOutName, State: (&tilesPhase{p.plan}).readState, Partial: func() *kept { return new(kept) },
		Map: p.count, Merge: (*kept).plus, Step: p.finish,
	}.Phase()
}

// kept is how many records neighboring blocks keep.
type kept struct{ records []int64 }

// Fields lists them.
func (k *kept) Fields(f *jobs.Fields) { jobs.List(f, "records", &k.records) }

func (k *kept) plus(right *kept) (*kept, error) {
	return &kept{slices.Concat(k.records, right.records)}, nil
}

func (p *heldOutPhase) count(ctx context.Context, _ *state, leaf jobs.Leaf, _ *kernelops.Set) (*kept, error) {
	records, keep := int64(0), p.train()
	for part, err := range leaf.ReadBlock(ctx, jobs.Input, leaf.Index) {
		if err != nil {
			return nil, err
		}
		for i := range part.IDs {
			if keep(part.Block, i) {
				records++
			}
		}
	}
	return &kept{[]int64{records}}, nil
}

// finish plans the tiles of what is left.
func (p *heldOutPhase) finish(ctx context.Context, s *state, all *kept, round jobs.Round) (jobs.Next, error) {
	if len(all.records) != round.Plan.Blocks {
		return jobs.Next{}, jobs.Malformed("the records of %d blocks were counted, of %d", len(all.records),
			round.Plan.Blocks)
	}
	if s.grid.columns = all.records; s.grid.symmetric {
		s.grid.rows = all.records
	}
	return p.tile(ctx, s, round)
}
