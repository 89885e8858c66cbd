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
	"github.com/gram-compute/gram/protocol"
)

// One leaf of a Lloyd round, 62,500 x 32, k = 256, and of the rounds of seeding: multiply by 8 for 500,000 records.
func BenchmarkLeaf(b *testing.B) {
	const n, width, k = 62_500, 32, 256
	records := blobs(n, width, k, 20)
	leaf, spec, lloyd := began(b, records, k)
	j := job{params: defaults(), train: jobs.TrainingRecords(spec)}
	j.params.K = k
	soft := j
	soft.params.Algorithm, soft.params.Stiffness = algorithmSoft, 0.2 // 1.7 responsibilities of a record, on average
	plusplus := &state{space: lloyd.space, seeds: records[0].Dense, newest: 1, round: 1}
	for name, run := range map[string]func() error{
		"read": func() error {
			return j.leaf(b.Context(), lloyd.space, leaf, true, func(chunk) error { return nil })
		},
		"lloyd":    mapper(b, (&lloydPhase{j}).phase(), jobs.ArraysOf(lloyd), leaf),
		"again":    mapper(b, (&lloydPhase{j}).phase(), jobs.ArraysOf(lloyd), remembering(leaf)),
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

// began is a leaf of records, and the state of a job whose first k of them are its centers.
func began(b testing.TB, records []jobstest.Record, k int) (jobs.Leaf, protocol.JobSpec, *state) {
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
	var centers []float32
	for _, r := range records[:k] {
		centers = append(centers, r.Dense...)
	}
	s.centers = wide(centers)
	return leaf, spec, s
}

func mapper(b *testing.B, p jobs.Phase, state jobs.Arrays, leaf jobs.Leaf) func() error {
	return func() error {
		_, _, err := p.Map(b.Context(), state, leaf, nil, kernelops.Best())
		return err
	}
}

// remembering is the leaf with a memo of its own.
func remembering(leaf jobs.Leaf) jobs.Leaf {
	leaf.Memo = &keeper{}
	return leaf
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

// BenchmarkSoft compares a leaf of a soft round with one of Lloyd's, by shape and stiffness: 0 stands for Lloyd's.
func BenchmarkSoft(b *testing.B) {
	const n = 1 << 15
	for _, shape := range []struct{ width, k int }{{8, 64}, {32, 16}, {32, 256}, {128, 64}} {
		records := blobs(n, shape.width, shape.k, 20)
		leaf, spec, state := began(b, records, shape.k)
		state.round = 1
		for _, stiffness := range []float64{0, 4, 1, 0.4, 0.2, 0.1, 0.05} {
			b.Run(fmt.Sprintf("%dx%d/%v", shape.width, shape.k, stiffness), func(b *testing.B) {
				benchmarkStiffness(b, state, spec, leaf, shape.k, stiffness)
			})
		}
	}
}

func benchmarkStiffness(b *testing.B, s *state, spec protocol.JobSpec, leaf jobs.Leaf, k int, stiffness float64) {
	j := job{params: defaults(), train: jobs.TrainingRecords(spec)}
	j.params.K = k
	if stiffness > 0 {
		j.params.Algorithm, j.params.Stiffness = algorithmSoft, stiffness
	}
	run := mapper(b, (&lloydPhase{j}).phase(), jobs.ArraysOf(s), leaf)
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if stiffness > 0 {
		soft := newResponder(newAssigner(kernelops.Best(), s.centers, origin(s.space)), k, stiffness)
		records, kept := 0, 0
		if err := j.leaf(b.Context(), s.space, leaf, true, func(c chunk) error {
			records += len(c.IDs)
			if err := soft.respond(c); err != nil {
				return err
			}
			for _, r := range soft.shares {
				if r > 0 {
					kept++
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(kept)/float64(records), "responsibilities/record")
	}
}
