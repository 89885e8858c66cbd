// Command pruning times the seeding of k-means and its silhouette as a worker computes them: on one core, from records
// in memory, all that Map and Step of a job over one shard do but the store.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"log"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
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
	k, begin := flag.Int("k", 256, "centers"), flag.String("init", "kmeans++", "how they are found")
	sample := flag.Int("silhouette", 0, "records to take the silhouette on")
	groups := flag.Int("groups", 0, "draw records around this many points; 0 for normal numbers")
	apart := flag.Float64("apart", 10, "how far apart these points are, in deviations of a record")
	seed := flag.Uint64("seed", 1, "of the numbers")
	profile := flag.String("cpuprofile", "", "write a profile to this file")
	flag.Parse()
	x := make([]float32, *n**d)
	peers.Normals(x, *seed, 0)
	if *groups > 0 {
		around(x, *d, *groups, *apart, *seed)
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
	spec, err := specOf(map[string]any{"init": *begin, "k": *k, "max_rounds": 1, "silhouette_sample": *sample})
	if err != nil {
		log.Fatal(err)
	}
	summary, err := fit(context.Background(), spec, blocksOf(x, *d))
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(summary); err != nil {
		log.Fatal(err)
	}
}

// around moves records to one of the groups' points.
func around(x []float32, width, groups int, apart float64, seed uint64) {
	points := make([]float32, groups*width)
	peers.Normals(points, seed, 1)
	for i, row := 0, 0; i < len(x); i, row = i+width, row+1 {
		for j := range width {
			x[i+j] += float32(apart * float64(points[row%groups*width+j]))
		}
	}
}

// Summary is how many milliseconds the parts of a job took, and a digest of what they made.
type Summary struct {
	Seeding float64   `json:"seeding_ms"`
	Each    []float64 `json:"seeding_rounds_ms"`
	Finish  float64   `json:"finish_ms"`
	Digest  string    `json:"digest"` // of all states and carries
}

// fit runs a job over one shard.
func fit(ctx context.Context, spec protocol.JobSpec, blocks func(context.Context) iter.Seq2[*dataset.Block, error]) (
	s Summary, err error) {
	algorithm, err := kmeans.New(spec)
	if err != nil {
		return s, err
	}
	plan, ops, digest := jobs.Plan{Shards: 1}, kernelops.Best(), sha256.New()
	leaf := jobs.Leaf{Plan: plan, Blocks: blocks, Memo: &memo{}}
	phases, next := algorithm.Phases(), jobs.Next{State: jobs.Arrays{}}
	next.Phase = phases[0].Name()
	for carry := (jobs.Arrays)(nil); !next.Done; {
		at := slices.IndexFunc(phases, func(p jobs.Phase) bool { return p.Name() == next.Phase })
		began, phase := time.Now(), phases[at]
		partial, carried, err := phase.Map(ctx, next.State, leaf, carry, ops)
		if err != nil {
			return s, err
		}
		if next, err = phase.Step(ctx, next.State, jobs.RoundOf(plan, partial)); err != nil {
			return s, err
		}
		ms := float64(time.Since(began).Microseconds()) / 1000
		digest.Write(next.State.Encode())
		digest.Write(carried.Encode())
		if carry = carried; next.Phase != phase.Name() {
			carry = nil
		}
		switch name := phase.Name(); {
		case strings.HasPrefix(name, "init."):
			s.Seeding, s.Each = s.Seeding+ms, append(s.Each, ms)
		case name == "finish":
			s.Finish = ms
		}
	}
	s.Digest = fmt.Sprintf("%x", digest.Sum(nil)[:8])
	return s, nil
}

func specOf(values map[string]any) (protocol.JobSpec, error) {
	spec := protocol.JobSpec{APIVersion: "v1", Kind: kmeans.KindName}
	params, err := json.Marshal(values)
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
