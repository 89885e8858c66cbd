package features

import (
	"context"
	"iter"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// point is one labelled vector.
type point struct {
	label string
	x     []float32
}

// denseBlock has identities from first on.
func denseBlock(points []point, first int) *dataset.Block {
	block := &dataset.Block{}
	for i, p := range points {
		block.IDs = append(block.IDs, dataset.Identity{Object: "points", Offset: int64(first + i)})
		block.Labels = append(block.Labels, []byte(p.label))
		block.Dense.Width = len(p.x)
		block.Dense.Values = append(block.Dense.Values, p.x...)
	}
	return block
}

// sparseBlock holds the entries of points that are not 0.
func sparseBlock(points []point, first int) *dataset.Block {
	block := denseBlock(points, first)
	block.Sparse = dataset.Sparse{Width: block.Dense.Width, Indptr: []int{0}}
	for i := range points {
		for j, v := range block.Dense.Row(i) {
			if v != 0 {
				block.Sparse.Indices = append(block.Sparse.Indices, int32(j))
				block.Sparse.Values = append(block.Sparse.Values, v)
			}
		}
		block.Sparse.Indptr = append(block.Sparse.Indptr, len(block.Sparse.Indices))
	}
	block.Dense = dataset.Dense{}
	return block
}

// leaves makes a leaf of every shard, in blocks of up to size records.
func leaves(shards [][]point, size int, make func([]point, int) *dataset.Block) []jobstest.Blocks {
	var all []jobstest.Blocks
	first := 0
	for _, points := range shards {
		at := first
		first += len(points)
		all = append(all, func(context.Context) iter.Seq2[*dataset.Block, error] {
			return func(yield func(*dataset.Block, error) bool) {
				for i := 0; i < len(points); i += size {
					if !yield(make(points[i:min(i+size, len(points))], at+i), nil) {
						return
					}
				}
			}
		})
	}
	return all
}

// only is an algorithm of one phase whose state is the model.
type only struct{ jobs.Phase }

func (o only) Phases() []jobs.Phase { return []jobs.Phase{o} }

func (o only) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	next, err := o.Phase.Step(ctx, state, round)
	next.Done = next.Phase != Name
	return next, err
}

func run(t testing.TB, p Params, all []jobstest.Blocks, grouping jobstest.Grouping, options ...Option) (jobs.Arrays,
	error) {
	t.Helper()
	return runSpec(t, protocol.JobSpec{Kind: "Test"}, p, all, grouping, options...)
}

func runSpec(t testing.TB, spec protocol.JobSpec, p Params, all []jobstest.Blocks, grouping jobstest.Grouping,
	options ...Option) (jobs.Arrays, error) {
	t.Helper()
	phase, err := New(p, spec, "next", options...)
	if err != nil {
		return nil, err
	}
	result, err := jobstest.Run(t.Context(), only{phase}, spec, all, kernelops.Generic(), grouping)
	return result.Model, err
}

func spaceOf(t testing.TB, p Params, all []jobstest.Blocks) *Space {
	t.Helper()
	model, err := run(t, p, all, jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	space, err := ReadSpace(model)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func scaleParams(scale string) Params {
	p := DefaultParams()
	p.Scale = scale
	return p
}
