// Command rounds times the rounds of k-means one at a time, as a worker computes them: on one core, from records in
// memory, all that Map and Step do but the store. Peers: see peers.py beside it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"log"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/kmeans"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func main() {
	n, d := flag.Int("n", 500_000, "records"), flag.Int("d", 32, "columns")
	k, rounds := flag.Int("k", 256, "centers: the first records"), flag.Int("rounds", 50, "rounds")
	groups := flag.Int("groups", 0, "draw records around this many points, 10 times as far apart; 0 for normal numbers")
	forget := flag.Bool("forget", false, "begin each round with nothing remembered")
	seed := flag.Uint64("seed", 1, "of the numbers")
	profile := flag.String("cpuprofile", "", "write a profile of the rounds to this file")
	flag.Parse()
	x := make([]float32, *n**d)
	peers.Normals(x, *seed, 0)
	if *groups > 0 {
		around(x, *d, *groups, *seed)
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			log.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	times, err := fit(context.Background(), x, *d, *k, *rounds, *forget)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(summary(times)); err != nil {
		log.Fatal(err)
	}
}

// around moves records to one of the groups' points.
func around(x []float32, width, groups int, seed uint64) {
	points := make([]float32, groups*width)
	peers.Normals(points, seed, 1)
	for i, row := 0, 0; i < len(x); i, row = i+width, row+1 {
		for j := range width {
			x[i+j] += float32(10 * points[row%groups*width+j])
		}
	}
}

// summary names the times as peers.py does.
func summary(times []time.Duration) map[string]any {
	total, list := 0.0, []float64{}
	for _, t := range times {
		ms := float64(t.Microseconds()) / 1000
		total, list = total+ms, append(list, ms)
	}
	s := map[string]any{"who": "gram", "ms": total, "rounds": len(times), "each": list}
	if len(times) > 5 {
		s["marginal"] = (list[1] + list[2] + list[3] + list[4]) / 4
		s["last"] = list[len(list)-1]
	}
	return s
}

// fit runs a job over one shard, and returns how long each of its rounds took.
func fit(ctx context.Context, x []float32, width, k, rounds int, forget bool) ([]time.Duration, error) {
	spec, err := specOf(x, width, k, rounds)
	if err != nil {
		return nil, err
	}
	algorithm, err := kmeans.New(spec)
	if err != nil {
		return nil, err
	}
	phases, ops := algorithm.Phases(), kernelops.Best()
	plan := jobs.Plan{Shards: 1}
	leaf := jobs.Leaf{Plan: plan, Blocks: blocksOf(x, width)}
	if !forget {
		leaf.Memo = &memo{}
	}
	next, times := jobs.Next{Phase: phases[0].Name(), State: jobs.Arrays{}}, []time.Duration(nil)
	for !next.Done && len(times) < rounds {
		at := slices.IndexFunc(phases, func(p jobs.Phase) bool { return p.Name() == next.Phase })
		began, phase := time.Now(), phases[at]
		partial, _, err := phase.Map(ctx, next.State, leaf, nil, ops)
		if err != nil {
			return nil, err
		}
		if next, err = phase.Step(ctx, next.State, jobs.RoundOf(plan, partial)); err != nil {
			return nil, err
		}
		if phase.Name() == "lloyd" {
			times = append(times, time.Since(began))
		}
	}
	return times, nil
}

func specOf(x []float32, width, k, rounds int) (protocol.JobSpec, error) {
	spec := protocol.JobSpec{APIVersion: "v1", Kind: kmeans.KindName}
	params, err := json.Marshal(map[string]any{"init": "given", "empty": "keep", "max_rounds": rounds + 1, "tol": 0,
		"centers": slices.Collect(slices.Chunk(x[:k*width], width))})
	if err != nil {
		return spec, fmt.Errorf("encode params: %w", err)
	}
	spec.Spec.Params = params
	return spec, nil
}

// memo is a jobs.Memo for one leaf.
type memo struct{ value any }

func (m *memo) Take() any {
	value := m.value
	m.value = nil
	return value
}

func (m *memo) Keep(value any, _ int64) { m.value = value }

// blocksOf serves the records in blocks as a worker's cache does.
func blocksOf(x []float32, width int) func(context.Context) iter.Seq2[*dataset.Block, error] {
	const size = 4096
	var blocks []*dataset.Block
	for from := 0; from < len(x)/width; from += size {
		to := min(from+size, len(x)/width)
		b := &dataset.Block{Dense: dataset.Dense{Width: width, Values: x[from*width : to*width]}, Lasting: true}
		for i := from; i < to; i++ {
			b.IDs = append(b.IDs, dataset.ByPlace("points", int64(i)))
		}
		blocks = append(blocks, b)
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
