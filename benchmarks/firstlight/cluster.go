package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

// spec is the training; the seed makes every trial a job of its own.
const spec = `apiVersion: v1
kind: NaiveBayes
metadata: {name: glosses}
spec:
  input: {uri: ./glosses.tsv, format: tsv, label: 1, text: 3, shard_bytes: 512KiB, split: {test: 0.2}}
  params: {alpha: 0.1}
  repro: {seed: %d}
`

// trainings times naive Bayes on the glosses, evaluation included: in one process, and through a
// cluster of a coordinator and two workers, from before `gram submit` to behind `gram wait`.
func trainings(ctx context.Context, binary, data string, trials int) (rows []row, err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gram-first-light-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := unpack(data, filepath.Join(dir, "glosses.tsv")); err != nil {
		return nil, err
	}
	g := gram{binary: binary, dir: dir}
	alone, err := seconds(trials, func(i int) error { return g.alone(ctx, i) })
	if err != nil {
		return nil, err
	}
	stop, err := g.start(ctx)
	if err != nil {
		return nil, err
	}
	through, err := seconds(trials, func(i int) error { return g.through(ctx, i) })
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	return []row{
		{what: "training on the glosses, `gram run`", unit: "s", values: alone},
		{what: "training on the glosses through a cluster, submit to model", unit: "s", values: through},
	}, nil
}

// seconds times f(0), f(1) and so on.
func seconds(n int, f func(i int) error) ([]float64, error) {
	var took []float64
	for i := range n {
		start := time.Now()
		if err := f(i); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start).Seconds())
	}
	return took, nil
}

// gram is the binary and the folder that it works in.
type gram struct{ binary, dir, config string }

// command is one call of gram.
func (g *gram) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.binary, args...)
	cmd.Dir = g.dir
	cmd.Env = process.Environment("GRAM_CONFIG=" + g.config)
	cmd.Stderr = os.Stderr
	return cmd
}

// job writes the spec of a trial.
func (g *gram) job(trial int) (string, error) {
	file := filepath.Join(g.dir, "glosses.yaml")
	return file, os.WriteFile(file, fmt.Appendf(nil, spec, trial+1), 0o600)
}

func (g *gram) alone(ctx context.Context, trial int) error {
	file, err := g.job(trial)
	if err != nil {
		return err
	}
	return g.command(ctx, "run", "-q", "-f", file, "--out", filepath.Join(g.dir, "models")).Run()
}

func (g *gram) through(ctx context.Context, trial int) error {
	file, err := g.job(trial)
	if err != nil {
		return err
	}
	id, err := g.command(ctx, "submit", "-q", "-f", file).Output()
	if err != nil {
		return fmt.Errorf("gram submit: %w", err)
	}
	return g.command(ctx, "wait", "-q", strings.TrimSpace(string(id)), "--timeout", "5m").Run()
}

// start runs `gram dev` until stop.
func (g *gram) start(ctx context.Context) (stop func() error, err error) {
	cmd := g.command(ctx, "dev", "--data", filepath.Join(g.dir, "cluster"), "--listen", "127.0.0.1:0", "--workers", "2")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	config, ok := strings.CutPrefix(strings.TrimSpace(line), "export GRAM_CONFIG=")
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("gram dev printed %q instead of how to reach it", line), err, stop())
	}
	g.config = strings.Trim(config, "'")
	return stop, nil
}

// unpack writes the plain text of a gzip file.
func unpack(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, plain)
	return errors.Join(err, out.Close())
}
