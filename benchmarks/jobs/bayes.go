package main

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/naivebayes"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// openBayes counts CSR rows in memory, one leaf, by the phase that MultinomialNB.fit does the work of: the columns
// in use and the labels are known. Both sides compare every count.
func openBayes(ctx context.Context, e env) (contender, func() error, error) {
	const n, filled, width, classes = 200_000, 110, 100_000, 20
	block := &dataset.Block{IDs: make([]dataset.Identity, n), Labels: make([][]byte, n)}
	block.Sparse = dataset.Sparse{Width: width, Indptr: make([]int, n+1),
		Indices: peers.Columns(e.seed, 0, n, filled, width),
		Values:  make([]float32, n*filled)}
	for i := range block.IDs {
		block.IDs[i] = dataset.Identity{Object: "rows", Offset: int64(i)}
		block.Labels[i] = strconv.AppendUint(nil, peers.Word(e.seed, 2, uint64(i))%classes, 10)
		block.Sparse.Indptr[i+1] = (i + 1) * filled
	}
	for i := range block.Sparse.Values {
		block.Sparse.Values[i] = float32(peers.Word(e.seed, 1, uint64(i))>>62) + 1
	}
	leaf := jobs.Leaf{Plan: jobs.Plan{Shards: 1}, Blocks: func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) { yield(block, nil) }
	}}
	counts, state, err := countsPhase(ctx, leaf)
	if err != nil {
		return contender{}, nil, err
	}
	return contender{ours, func() (s measure.Sample, err error) {
		var partial jobs.Arrays
		s = measure.Timed(func() { partial, _, err = counts.Map(ctx, state, leaf, nil, kernelops.Best()) }, 1)
		if err != nil {
			return s, err
		}
		next, err := counts.Step(ctx, state, jobs.RoundOf(leaf.Plan, partial))
		if err != nil {
			return s, err
		}
		s.Checksum, err = sumOfCounts(next.State, width)
		return s, err
	}}, nothing, nil
}

// countsPhase carries a leaf through the first phase, and returns the second with its state.
func countsPhase(ctx context.Context, leaf jobs.Leaf) (jobs.Phase, jobs.Arrays, error) {
	params, err := naivebayes.Kind().Defaults(json.RawMessage("{}"))
	if err != nil {
		return nil, nil, err
	}
	algorithm, err := naivebayes.New(protocol.JobSpec{Spec: protocol.Spec{Params: params}})
	if err != nil {
		return nil, nil, err
	}
	phases := algorithm.Phases()
	partial, _, err := phases[0].Map(ctx, nil, leaf, nil, kernelops.Best())
	if err != nil {
		return nil, nil, err
	}
	next, err := phases[0].Step(ctx, nil, jobs.RoundOf(leaf.Plan, partial))
	return phases[1], next.State, err
}

// sumOfCounts weighs each count by its class and column, so that one in the wrong place is found.
func sumOfCounts(model jobs.Arrays, width int) (sum float64, err error) {
	terms, err := model.Strings("dictionary")
	if err != nil {
		return 0, err
	}
	labels, err := model.Strings("labels")
	if err != nil {
		return 0, err
	}
	indptr, err := jobs.Get[int64](model, "counts.indptr", terms.Len()+1)
	if err != nil {
		return 0, err
	}
	class, err := jobs.Get[int32](model, "counts.class")
	if err != nil {
		return 0, err
	}
	count, err := jobs.Get[int64](model, "counts.count", len(class))
	if err != nil {
		return 0, err
	}
	for term := range terms.Len() {
		column, err := strconv.Atoi(string(terms.At(term)))
		if err != nil {
			return 0, err
		}
		for i := indptr[term]; i < indptr[term+1]; i++ {
			y, err := strconv.Atoi(string(labels.At(int(class[i]))))
			if err != nil {
				return 0, err
			}
			sum += float64(count[i]) * float64((y*width+column+1)%1009)
		}
	}
	return sum, nil
}
