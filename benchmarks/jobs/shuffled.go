package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/perceptron"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// openShuffledSparse learns as both sides do unless told otherwise: each epoch in an order of its own. It is the
// phase of a job over one leaf whose records are in memory, its reading and shuffling included.
func openShuffledSparse(ctx context.Context, e env) (contender, func() error, error) {
	return learnsShuffled(ctx, sparseRows(e))
}

// openShuffledDense does the same with dense rows.
func openShuffledDense(ctx context.Context, e env) (contender, func() error, error) {
	return learnsShuffled(ctx, denseRows(e))
}

// learnsShuffled compares how many rows the last weights put right: orders drawn by others
// lead to other weights.
func learnsShuffled(ctx context.Context, t task) (contender, func() error, error) {
	leaf := t.leaf()
	phase, first, err := t.chained(ctx, leaf)
	if err != nil {
		return contender{}, nil, err
	}
	run := func() (s measure.Sample, err error) {
		state := first
		epoch := func() {
			if err == nil {
				state, err = epochOf(ctx, phase, state, leaf)
			}
		}
		epoch()
		s = measure.Timed(epoch, epochs)
		s.Wall, s.CPU, s.Times = s.Wall/epochs, s.CPU/epochs, 1
		if err != nil {
			return s, err
		}
		s.Checksum, err = t.right(state)
		return s, err
	}
	return contender{ours, run}, nothing, nil
}

func epochOf(ctx context.Context, phase jobs.Phase, state jobs.Arrays, leaf jobs.Leaf) (jobs.Arrays, error) {
	partial, _, err := phase.Map(ctx, state, leaf, nil, kernelops.Best())
	if err != nil {
		return nil, err
	}
	next, err := phase.Step(ctx, state, jobs.RoundOf(leaf.Plan, partial))
	return next.State, err
}

// right is the share of the rows that a state's weights put right.
func (t task) right(state jobs.Arrays) (float64, error) {
	shape := []int{1, t.setup.Width + 1} // the last is the bias
	if t.setup.Sparse {
		shape = []int{t.setup.Width + 1, 1}
	}
	weights, err := jobs.Get[float32](state, "weights", shape...)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, c := range t.decide(weights[:t.setup.Width]) {
		if c == t.rows[i].Class {
			right++
		}
	}
	return float64(right) / float64(len(t.rows)), nil
}

// chained returns the phase that learns, and its first state.
func (t task) chained(ctx context.Context, leaf jobs.Leaf) (jobs.Phase, jobs.Arrays, error) {
	given := fmt.Sprintf(`{"form": "plain", "bias": false, "epochs": %d}`, epochs+2)
	params, err := perceptron.Kind().Defaults(json.RawMessage(given))
	if err != nil {
		return nil, nil, err
	}
	algorithm, err := perceptron.New(protocol.JobSpec{Spec: protocol.Spec{Params: params}})
	if err != nil {
		return nil, nil, err
	}
	phases := algorithm.Phases()
	state, err := epochOf(ctx, phases[0], nil, leaf)
	if err != nil {
		return nil, nil, err
	}
	for _, phase := range phases {
		if phase.Name() == "chained" {
			return phase, state, nil
		}
	}
	return nil, nil, fmt.Errorf("a perceptron without the phase chained")
}

// leaf is the rows as records, 8,192 a block as readers cut them.
func (t task) leaf() jobs.Leaf {
	var blocks []*dataset.Block
	for begin := 0; begin < len(t.rows); begin += 8192 {
		blocks = append(blocks, t.block(begin, min(begin+8192, len(t.rows))))
	}
	read := func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for _, block := range blocks {
				if !yield(block, nil) {
					return
				}
			}
		}
	}
	all := func(ctx context.Context, _ jobs.Source, _ int) iter.Seq2[*dataset.Block, error] { return read(ctx) }
	parts := func(context.Context, jobs.Source, int) iter.Seq2[jobs.Part, error] { // of the one logical block
		return func(yield func(jobs.Part, error) bool) {
			first := int64(0)
			for _, block := range blocks {
				if !yield(jobs.Part{Block: block, First: first}, nil) {
					return
				}
				first += int64(len(block.IDs))
			}
		}
	}
	return jobs.Leaf{Plan: jobs.Plan{Shards: 1, Blocks: 1}, Blocks: read, Read: all, ReadBlock: parts}
}

func (t task) block(begin, end int) *dataset.Block {
	b := &dataset.Block{Lasting: true} // as those that a worker keeps
	if t.setup.Sparse {
		b.Sparse = dataset.Sparse{Width: t.setup.Width, Indptr: []int{0}}
	} else {
		b.Dense.Width = t.setup.Width
	}
	for i := begin; i < end; i++ {
		b.IDs = append(b.IDs, dataset.Identity{Object: "rows", Offset: int64(i)})
		b.Labels = append(b.Labels, strconv.AppendInt(nil, int64(t.rows[i].Class), 10))
		if t.setup.Sparse {
			b.Sparse.Indices = append(b.Sparse.Indices, t.rows[i].Index...)
			b.Sparse.Values = append(b.Sparse.Values, t.rows[i].Values...)
			b.Sparse.Indptr = append(b.Sparse.Indptr, len(b.Sparse.Indices))
		} else {
			b.Dense.Values = append(b.Dense.Values, t.rows[i].Values...)
		}
	}
	return b
}
