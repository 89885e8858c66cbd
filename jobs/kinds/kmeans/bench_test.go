package kmeans

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
)

// One leaf of a Lloyd round, 62,500 x 32, k = 256, and of the rounds of seeding: multiply by 8 for 500,000 records.
func BenchmarkLeaf(b *testing.B) {
	const n, width, k = 62_500, 32, 256
	records := blobs(n, width, k, 20)
	leaf := jobs.Leaf{Plan: jobs.Plan{Shards: 1}, Blocks: inBlocks(records, 1024)}
	spec := specOf(fmt.Sprintf(`{"k": %d}`, k))
	space, err := features.New(features.DefaultParams(), spec, lloydName)
	if err != nil {
		b.Fatal(err)
	}
	partial, _, err := space.Map(b.Context(), nil, leaf, nil, kernelops.Best())
	if err != nil {
		b.Fatal(err)
	}
	next, err := space.Step(b.Context(), nil, jobs.RoundOf(jobs.Plan{Shards: 1}, partial))
	if err != nil {
		b.Fatal(err)
	}
	s := &state{}
	if s.space, err = features.ReadSpace(next.State); err != nil {
		b.Fatal(err)
	}
	var seeds []float32
	for _, r := range records[:k] {
		seeds = append(seeds, r.Dense...)
	}
	j := job{params: defaults(), train: jobs.TrainingRecords(spec)}
	j.params.K = k
	soft := j
	soft.params.Algorithm, soft.params.Stiffness = algorithmSoft, 0.2 // 1.7 responsibilities of a record, on average
	lloyd := &state{space: s.space, centers: wide(seeds)}
	plusplus := &state{space: s.space, seeds: seeds[:width], newest: 1, round: 1}
	for name, run := range map[string]func() error{
		"read":     func() error { return j.leaf(b.Context(), s.space, leaf, true, func(chunk) error { return nil }) },
		"lloyd":    mapper(b, (&lloydPhase{j}).phase(), jobs.ArraysOf(lloyd), leaf),
		"soft":     mapper(b, (&lloydPhase{soft}).phase(), jobs.ArraysOf(lloyd), leaf),
		"seed-one": mapper(b, (&seedPhase{j}).phase(), jobs.ArraysOf(plusplus), leaf),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}

func mapper(b *testing.B, p jobs.Phase, state jobs.Arrays, leaf jobs.Leaf) func() error {
	return func() error {
		_, _, err := p.Map(b.Context(), state, leaf, nil, kernelops.Best())
		return err
	}
}

// inBlocks serves blocks that are made once.
func inBlocks(records []jobstest.Record, size int) func(context.Context) iter.Seq2[*dataset.Block, error] {
	var blocks []*dataset.Block
	for i, r := range records {
		if i%size == 0 {
			blocks = append(blocks, &dataset.Block{Dense: dataset.Dense{Width: len(r.Dense)}})
		}
		block := blocks[len(blocks)-1]
		block.IDs = append(block.IDs, dataset.Identity{Object: "blobs", Offset: int64(i)})
		block.Dense.Values = append(block.Dense.Values, r.Dense...)
	}
	return func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for _, block := range blocks {
				if !yield(block, nil) {
					return
				}
			}
		}
	}
}

func defaults() (p Params) {
	params.Reset(p.Parameters())
	return p
}
