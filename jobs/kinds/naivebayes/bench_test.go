package naivebayes

import (
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

func BenchmarkTrainGlosses(b *testing.B) {
	shards := inShards(glosses(b), 8)
	spec := specOf(`{}`, 0.2)
	for b.Loop() {
		if _, err := train(b, spec, shards); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMap reports each phase's tokens per second on one leaf of all glosses.
func BenchmarkMap(b *testing.B) {
	records := glosses(b)
	leaf := jobs.Leaf{Blocks: jobstest.Shards([][]jobstest.Record{records}, 1000)[0]}
	algorithm, err := New(specOf(`{}`, 0))
	if err != nil {
		b.Fatal(err)
	}
	whole, err := train(b, specOf(`{}`, 0), [][]jobstest.Record{records})
	if err != nil {
		b.Fatal(err)
	}
	var tokens float64
	metric(b, whole.Metrics, "counts.tokens", &tokens)
	state := jobs.Arrays{}
	for _, phase := range algorithm.Phases() {
		var root jobs.Arrays
		b.Run(phase.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if root, _, err = phase.Map(b.Context(), state, leaf, nil, kernelops.Best()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(tokens*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
		next, err := phase.Step(b.Context(), state, jobs.RoundOf(jobs.Plan{}, root))
		if err != nil {
			b.Fatal(err)
		}
		state = next.State
	}
}

func BenchmarkScore(b *testing.B) {
	records := glosses(b)
	result, err := train(b, specOf(`{}`, 0), inShards(records, 1))
	if err != nil {
		b.Fatal(err)
	}
	m, err := jobs.Load[model](result.Model)
	if err != nil {
		b.Fatal(err)
	}
	for _, ops := range kernelops.All() {
		s, err := newScorer(m, ops)
		if err != nil {
			b.Fatal(err)
		}
		texts := make([][]byte, len(records))
		for i, r := range records {
			texts[i] = []byte(r.Text)
		}
		b.Run(ops.Name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.decide(s.score(texts[i%len(texts)]))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	result, err := train(b, specOf(`{}`, 0), inShards(glosses(b), 1))
	if err != nil {
		b.Fatal(err)
	}
	data := result.Model.Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		model, err := jobs.Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := NewClassifier(model); err != nil {
			b.Fatal(err)
		}
	}
}
