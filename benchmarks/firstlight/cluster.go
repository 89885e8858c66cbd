package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/benchmarks/devcluster"
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
	alone, err := seconds(trials, func(i int) error { return trainAlone(ctx, binary, dir, i) })
	if err != nil {
		return nil, err
	}
	cluster, err := devcluster.Start(ctx, binary, dir, "--workers", "2")
	if err != nil {
		return nil, err
	}
	through, err := seconds(trials, func(i int) error {
		_, _, err := cluster.Run(ctx, job(i), 5*time.Minute)
		return err
	})
	if err := errors.Join(err, cluster.Stop()); err != nil {
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

// job is the spec of a trial.
func job(trial int) []byte { return fmt.Appendf(nil, spec, trial+1) }

func trainAlone(ctx context.Context, binary, dir string, trial int) error {
	file := filepath.Join(dir, "alone.yaml")
	if err := os.WriteFile(file, job(trial), 0o600); err != nil {
		return err
	}
	return devcluster.Command(ctx, binary, dir, "", "run", "-q", "-f", file, "--out",
		filepath.Join(dir, "models")).Run()
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
