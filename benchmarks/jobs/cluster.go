package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/benchmarks/devcluster"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/worker"
)

// cluster is `gram dev` with two workers, in a directory that goes when it stops.
type cluster struct {
	dev  *devcluster.Cluster
	dir  string
	jobs int
}

func startCluster(ctx context.Context, binary string) (*cluster, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gram-bench-jobs-*")
	if err != nil {
		return nil, err
	}
	dev, err := devcluster.Start(ctx, binary, dir, "--workers", "2", "--slots", "1")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &cluster{dev: dev, dir: dir}, nil
}

func (c *cluster) stop() error { return errors.Join(c.dev.Stop(), os.RemoveAll(c.dir)) }

// run runs a job, and returns how long it took and its report.
func (c *cluster) run(ctx context.Context, kind string, spec map[string]any) (measure.Sample, jobReport, error) {
	c.jobs++
	out := filepath.Join(c.dir, fmt.Sprintf("out-%d", c.jobs))
	defer os.RemoveAll(out) // the cluster's directory goes anyway
	spec["output"] = map[string]any{"uri": "file://" + out + "/"}
	spec["repro"] = map[string]any{"seed": c.jobs} // a job of its own each time
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "bench"}, "spec": spec,
	})
	if err != nil {
		return measure.Sample{}, jobReport{}, err
	}
	id, took, err := c.dev.Run(ctx, text, 10*time.Minute)
	if err != nil {
		return measure.Sample{}, jobReport{}, err
	}
	report, err := readReport(filepath.Join(out, id, worker.ReportFile))
	return measure.Sample{Wall: took, Times: 1}, report, err
}

// jobReport is what the benchmark reads of a job's report.
type jobReport struct {
	Metrics []jobs.Metric `json:"metrics"`
}

func readReport(file string) (r jobReport, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// value reads a metric.
func (r jobReport) value(name string, into any) error {
	for _, m := range r.Metrics {
		if m.Name == name {
			return json.Unmarshal(m.Value, into)
		}
	}
	return fmt.Errorf("the job's report has no metric %q", name)
}

// jobOf makes a contender of a job, and what stops its cluster; checksum is taken of the report.
func jobOf(ctx context.Context, e env, kind string, spec map[string]any,
	checksum func(jobReport) (float64, error)) (contender, func() error, error) {
	c, err := startCluster(ctx, e.gram)
	if err != nil {
		return contender{}, nil, err
	}
	return contender{ours, func() (measure.Sample, error) {
		s, report, err := c.run(ctx, kind, spec)
		if err == nil {
			s.Checksum, err = checksum(report)
		}
		return s, err
	}}, c.stop, nil
}
