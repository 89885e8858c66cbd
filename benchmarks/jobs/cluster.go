package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gram-compute/gram/benchmarks/measure"
	"github.com/gram-compute/gram/deploy/process"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/worker"
)

// cluster is `gram dev`: a coordinator and two workers, a process each, with job objects and raft log
// in a directory that goes when it stops.
type cluster struct {
	binary, dir, config string
	jobs                int
}

// startCluster runs it until stop.
func startCluster(ctx context.Context, binary string) (c *cluster, stop func() error, err error) {
	c = &cluster{}
	if c.binary, err = filepath.Abs(binary); err != nil {
		return nil, nil, err
	}
	if c.dir, err = os.MkdirTemp("", "gram-bench-jobs-*"); err != nil {
		return nil, nil, err
	}
	cmd := c.command(ctx, "dev", "--data", filepath.Join(c.dir, "cluster"), "--listen", "127.0.0.1:0", "--workers", "2", "--slots", "1")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	stop = func() error {
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait(), os.RemoveAll(c.dir))
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	config, ok := strings.CutPrefix(strings.TrimSpace(line), "export GRAM_CONFIG=")
	if err != nil || !ok {
		return nil, nil, errors.Join(fmt.Errorf("gram dev printed %q instead of how to reach it", line), err, stop())
	}
	c.config = strings.Trim(config, "'")
	return c, stop, nil
}

// command is one call of gram.
func (c *cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Dir = c.dir
	cmd.Env = process.Environment("GRAM_CONFIG=" + c.config)
	cmd.Stderr = os.Stderr
	return cmd
}

// run carries a job from before `gram submit` to behind `gram wait`, and returns its report.
func (c *cluster) run(ctx context.Context, kind string, spec map[string]any) (measure.Sample, jobReport, error) {
	c.jobs++
	out := filepath.Join(c.dir, fmt.Sprintf("out-%d", c.jobs))
	defer os.RemoveAll(out) // the cluster's directory goes anyway
	spec["output"] = map[string]any{"uri": "file://" + out + "/"}
	spec["repro"] = map[string]any{"seed": c.jobs} // a job of its own each time
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "bench"}, "spec": spec})
	if err != nil {
		return measure.Sample{}, jobReport{}, err
	}
	file := filepath.Join(c.dir, "job.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return measure.Sample{}, jobReport{}, err
	}
	start := time.Now()
	id, err := c.command(ctx, "submit", "-q", "-f", file).Output()
	if err != nil {
		return measure.Sample{}, jobReport{}, fmt.Errorf("gram submit: %w", err)
	}
	if err := c.command(ctx, "wait", "-q", strings.TrimSpace(string(id)), "--timeout", "10m").Run(); err != nil {
		return measure.Sample{}, jobReport{}, fmt.Errorf("gram wait: %w", err)
	}
	s := measure.Sample{Wall: time.Since(start), Times: 1}
	report, err := readReport(filepath.Join(out, strings.TrimSpace(string(id)), worker.ReportFile))
	return s, report, err
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
func jobOf(ctx context.Context, e env, kind string, spec map[string]any, checksum func(jobReport) (float64, error)) (contender, func() error, error) {
	c, stop, err := startCluster(ctx, e.gram)
	if err != nil {
		return contender{}, nil, err
	}
	return contender{ours, func() (measure.Sample, error) {
		s, report, err := c.run(ctx, kind, spec)
		if err == nil {
			s.Checksum, err = checksum(report)
		}
		return s, err
	}}, stop, nil
}
