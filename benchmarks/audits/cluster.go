package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/benchmarks/devcluster"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/worker"
)

// Every job is k-means over 400 leaves.
const (
	leaves    = 400
	width     = 64
	maxRounds = 1000
)

// workload is the size of a job: of each of its leaves, and with that the length of its rounds.
type workload struct {
	name    string // for the page
	rows    int    // of a leaf
	centers int
}

// The workloads: leaves of some ten milliseconds, and leaves of one, of which rounds are so short that a step, which is
// made twice, is a few percent of them.
var workloads = []workload{{"long rounds", 5000, 1024}, {"short rounds", 500, 512}}

// setting is a workload on a number of workers.
type setting struct {
	workload workload
	workers  int
}

// settings are what pairs are run of.
func settings() (all []setting) {
	for _, w := range workloads {
		for _, workers := range []int{2, 4} {
			all = append(all, setting{w, workers})
		}
	}
	return all
}

func (s setting) String() string { return fmt.Sprintf("%s, %d workers", s.workload.name, s.workers) }

// writePoints writes the rows that every job of the workload reads.
func (w workload) writePoints(path string) error {
	draw := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, leaves*w.rows*width)
	for i := range values {
		values[i] = float32(draw.NormFloat64())
	}
	return devcluster.WriteNPY(path, values, leaves*w.rows, width)
}

// cluster is `gram dev` with workers of one slot, and the number of jobs it has run over points.
type cluster struct {
	setting
	dev         *devcluster.Cluster
	dir, points string
	jobs        int
}

func start(ctx context.Context, binary, dir string, on setting) (*cluster, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	points := filepath.Join(dir, "points.npy")
	if err := on.workload.writePoints(points); err != nil {
		return nil, err
	}
	dev, err := devcluster.Start(ctx, binary, dir, "--workers", fmt.Sprint(on.workers), "--slots", "1")
	if err != nil {
		return nil, err
	}
	return &cluster{setting: on, dev: dev, dir: dir, points: points}, nil
}

// result is how long a job took, and what the benchmark reads of its report.
type result struct {
	Model string `json:"model_sha256"`
	Audit struct {
		Drawn      uint64  `json:"drawn"`
		Agreed     uint64  `json:"agreed"`
		Seconds    float64 `json:"seconds"`
		AllSeconds float64 `json:"all_seconds"`
		Waited     float64 `json:"waited_seconds"`
	} `json:"audit"`
	Rounds []struct {
		Leaves  int     `json:"leaves"`
		Seconds float64 `json:"seconds"`
	} `json:"rounds"`
	took time.Duration // from before `gram submit` to after `gram wait`
}

// share is the part of the workers' time that went into audits.
func (r result) share() float64 { return r.Audit.Seconds / r.Audit.AllSeconds }

// round is how long the median round took. A job's first rounds read its input, the others find it in memory.
func (r result) round() float64 {
	var seconds []float64
	for _, one := range r.Rounds {
		seconds = append(seconds, one.Seconds)
	}
	return measure.SpreadOf(seconds).Median
}

const spec = `{"apiVersion": "v1", "kind": "KMeans", "metadata": {"name": "bench"}, "spec": {
	"input": {"uri": %q, "format": "npy", "shard_bytes": %d}, "output": {"uri": %q},
	"params": {"k": %d, "init": "random", "max_rounds": %d, "tol": 0}, "repro": {"seed": %d}, "run": {"audit": %s}}}`

// run runs a job and reads its report.
func (c *cluster) run(ctx context.Context, rounds, seed int, audit string) (r result, err error) {
	c.jobs++
	out := filepath.Join(c.dir, fmt.Sprintf("out-%d", c.jobs))
	text := fmt.Appendf(nil, spec, "file://"+c.points, c.workload.rows*width*4, "file://"+out+"/", c.workload.centers,
		rounds, seed, audit)
	id, took, err := c.dev.Run(ctx, text, 30*time.Minute)
	if err != nil {
		return r, err
	}
	report, err := os.ReadFile(filepath.Join(out, id, worker.ReportFile))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return r, err
	}
	r.took = took
	if n := len(r.Rounds); n == 0 || r.Rounds[n-1].Leaves < leaves || r.Rounds[n-1].Leaves > leaves+1 {
		return r, fmt.Errorf("the job has rounds of %v leaves, not of %d", r.Rounds, leaves)
	}
	return r, nil
}
