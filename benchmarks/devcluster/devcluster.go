// Package devcluster runs `gram dev` for a benchmark, and carries jobs through it.
package devcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
)

// Cluster is a running `gram dev`: a coordinator and its workers, a process each.
type Cluster struct {
	binary, dir string
	dev         *cluster.Dev
}

// stopLimit is what the cluster gets to drain.
const stopLimit = time.Minute

// Start runs `gram dev` with further flags until Stop. The folder dir keeps the cluster's data and the specs, and is
// the
// working directory of every call.
func Start(ctx context.Context, binary, dir string, flags ...string) (*Cluster, error) {
	hear := func(line string) { fmt.Fprintln(os.Stderr, line) }
	dev, err := cluster.StartDev(ctx, binary, filepath.Join(dir, "cluster"), "127.0.0.1:0", hear, flags...)
	return &Cluster{binary: binary, dir: dir, dev: dev}, err
}

// Stop asks the cluster to end and waits for it.
func (c *Cluster) Stop() error { return c.dev.Stop(stopLimit) }

// Command is a call of gram that reaches this cluster.
func (c *Cluster) Command(ctx context.Context, args ...string) *exec.Cmd {
	return Command(ctx, c.binary, c.dir, c.dev.Config, args...)
}

// Command is a call of the gram binary in the folder dir. The file config names the cluster that the call reaches; ""
// means no cluster.
func Command(ctx context.Context, binary, dir, config string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = process.Environment("GRAM_CONFIG=" + config)
	cmd.Stderr = os.Stderr
	return cmd
}

// Run submits a job and waits, at most limit, until it has succeeded. It returns the job's id and the time from before
// `gram submit` to after `gram wait`.
func (c *Cluster) Run(
	ctx context.Context, spec []byte, limit time.Duration,
) (id string, took time.Duration, err error) {
	file := filepath.Join(c.dir, "job.yaml")
	if err := os.WriteFile(file, spec, 0o600); err != nil {
		return "", 0, err
	}
	start := time.Now()
	printed, err := c.Command(ctx, "submit", "-q", "-f", file).Output()
	if err != nil {
		return "", 0, fmt.Errorf("gram submit: %w", err)
	}
	id = strings.TrimSpace(string(printed))
	if err := c.Command(ctx, "wait", "-q", id, "--timeout", limit.String()).Run(); err != nil {
		return id, 0, fmt.Errorf("gram wait: %w", err)
	}
	return id, time.Since(start), nil
}
