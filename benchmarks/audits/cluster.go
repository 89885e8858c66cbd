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
	"github.com/gram-compute/gram/worker"
)

// The job: k-means of 400 leaves, which each take some tens of milliseconds.
const (
	leaves    = 400
	rows      = leaves * 500
	width     = 64
	centers   = 512
	maxRounds = 1000
)

// writePoints writes the rows that every job reads.
func writePoints(path string) error {
	draw := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, rows*width)
	for i := range values {
		values[i] = float32(draw.NormFloat64())
	}
	return devcluster.WriteNPY(path, values, rows, width)
}

// cluster is `gram dev` with workers of one slot, and the number of jobs it has run over points.
type cluster struct {
	dev         *devcluster.Cluster
	dir, points string
	jobs        int
}

func start(ctx context.Context, binary, dir, points string, workers int) (*cluster, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	dev, err := devcluster.Start(ctx, binary, dir, "--workers", fmt.Sprint(workers), "--slots", "1")
	if err != nil {
		return nil, err
	}
	return &cluster{dev: dev, dir: dir, points: points}, nil
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
		Leaves int `json:"leaves"`
	} `json:"rounds"`
	took time.Duration // from before `gram submit` to after `gram wait`
}

// share is the part of the workers' time that went into audits.
func (r result) share() float64 { return r.Audit.Seconds / r.Audit.AllSeconds }

const spec = `{"apiVersion": "v1", "kind": "KMeans", "metadata": {"name": "bench"}, "spec": {
	"input": {"uri": %q, "format": "npy", "shard_bytes": %d}, "output": {"uri": %q},
	"params": {"k": %d, "init": "random", "max_rounds": %d, "tol": 0}, "repro": {"seed": %d}, "run": {"audit": %s}}}`

// run runs a job and reads its report.
func (c *cluster) run(ctx context.Context, rounds, seed int, audit string) (r result, err error) {
	c.jobs++
	out := filepath.Join(c.dir, fmt.Sprintf("out-%d", c.jobs))
	const shardBytes = rows * width * 4 / leaves
	text := fmt.Appendf(nil, spec, "file://"+c.points, shardBytes, "file://"+out+"/", centers, rounds, seed, audit)
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
