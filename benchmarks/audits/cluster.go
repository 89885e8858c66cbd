package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gram-compute/gram/deploy/process"
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

// writePoints writes the rows as an npy file, version 1.0.
func writePoints(path string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	draw := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, rows*width)
	for i := range values {
		values[i] = float32(draw.NormFloat64())
	}
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, width)
	header += strings.Repeat(" ", 118-1-len(header)) + "\n" // 128 bytes with what stands before it
	out := bufio.NewWriterSize(file, 1<<20)
	// Errors of a bufio.Writer stay until Flush returns them.
	out.WriteString("\x93NUMPY\x01\x00\x76\x00" + header)
	if err := binary.Write(out, binary.LittleEndian, values); err != nil {
		return err
	}
	return out.Flush()
}

// cluster is `gram dev` with some workers of one slot, a process each, and jobs over one file.
type cluster struct {
	binary, dir, points, config string
	cmd                         *exec.Cmd
	jobs                        int
}

func start(ctx context.Context, binary, dir, points string, workers int) (*cluster, error) {
	c := &cluster{binary: binary, dir: dir, points: points}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	c.cmd = c.command(ctx, "dev", "--data", filepath.Join(dir, "cluster"), "--listen", "127.0.0.1:0", "--workers", fmt.Sprint(workers), "--slots", "1")
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	config, ok := strings.CutPrefix(strings.TrimSpace(line), "export GRAM_CONFIG=")
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("gram dev printed %q instead of how to reach it", line), err, c.stop())
	}
	c.config = strings.Trim(config, "'")
	return c, nil
}

func (c *cluster) stop() error {
	return errors.Join(c.cmd.Process.Signal(syscall.SIGTERM), c.cmd.Wait())
}

// command is one call of gram.
func (c *cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Dir = c.dir
	cmd.Env = process.Environment("GRAM_CONFIG=" + c.config)
	cmd.Stderr = os.Stderr
	return cmd
}

// result is what the benchmark reads of a job's report, and how long the job took.
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
	took time.Duration // from before `gram submit` to behind `gram wait`
}

// share is which part of the workers' time went into audits.
func (r result) share() float64 { return r.Audit.Seconds / r.Audit.AllSeconds }

const spec = `{"apiVersion": "v1", "kind": "KMeans", "metadata": {"name": "bench"}, "spec": {
	"input": {"uri": %q, "format": "npy", "shard_bytes": %d}, "output": {"uri": %q},
	"params": {"k": %d, "init": "random", "max_rounds": %d, "tol": 0}, "repro": {"seed": %d}, "run": {"audit": %s}}}`

// run carries a job from its submission to its end.
func (c *cluster) run(ctx context.Context, rounds, seed int, audit string) (r result, err error) {
	c.jobs++
	out := filepath.Join(c.dir, fmt.Sprintf("out-%d", c.jobs))
	file := filepath.Join(c.dir, "job.json")
	text := fmt.Appendf(nil, spec, "file://"+c.points, rows*width*4/leaves, "file://"+out+"/", centers, rounds, seed, audit)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return r, err
	}
	begun := time.Now()
	said, err := c.command(ctx, "submit", "-q", "-f", file).Output()
	if err != nil {
		return r, fmt.Errorf("gram submit: %w", err)
	}
	id := strings.TrimSpace(string(said))
	if err := c.command(ctx, "wait", "-q", id, "--timeout", "30m").Run(); err != nil {
		return r, fmt.Errorf("gram wait: %w", err)
	}
	r.took = time.Since(begun)
	found, err := os.ReadFile(filepath.Join(out, id, worker.ReportFile))
	if err == nil {
		err = json.Unmarshal(found, &r)
	}
	if last := len(r.Rounds) - 1; err == nil && (last < 0 || r.Rounds[last].Leaves < leaves || r.Rounds[last].Leaves > leaves+1) {
		return r, fmt.Errorf("the job has rounds of %v leaves, not of %d", r.Rounds, leaves)
	}
	return r, err
}
