package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/bench"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/internal/machine"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func benchCommand(a *app) *cobra.Command {
	var short bool
	var kernels string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine in a minute: limits, kernels, small jobs",
		Example: `  gram bench
  gram bench -o json > here.json
  gram bench compare here.json there.json`,
		Long: `Measures how fast a core multiplies and adds in registers, reads memory and
writes it; kernels, as a share of these limits; and whole small jobs on all
cores, from files made for them in a temporary directory. All data come from a
fixed seed, so the digests of the results are the same on every machine.

On one core a rate counts the time that the thread had a processor, on all
cores and for jobs the clock on the wall. A busy machine gives other figures:
gram bench says so, with what it saw.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pace := bench.Full
			if short {
				pace = bench.Short
			}
			result, err := benchHere(cmd.Context(), a, pace, kernels)
			if err != nil {
				return err
			}
			result.Short = short
			return printBench(a, result)
		},
	}
	set := cmd.Flags()
	set.BoolVar(&short, "short", false, "take ten seconds, with fewer rounds of the same work")
	set.StringVar(&kernels, "kernels", "", "kernel `set` to measure (default GRAM_KERNELS, or the best)")
	cmd.AddCommand(benchCompareCommand(a))
	return cmd
}

// benchHere measures this machine.
func benchHere(ctx context.Context, a *app, pace bench.Pace, kernels string) (r bench.Result, err error) {
	stopped, release := local.UntilStopped(ctx)
	defer release()
	ctx, abort := context.WithCancelCause(stopped)
	defer abort(nil)
	defer func() { err = whyEnded(stopped, ctx, err) }()
	cfg, err := workerHere(a, 0, "", kernels, local.ScratchFlags{}, local.LogFlags{Level: "error", Format: "text"})
	if err != nil {
		return r, err
	}
	r = newBench(a, cfg)
	watch := measure.StartWatch()
	a.note("gram: the limits of this machine and the kernels, %s", about(pace.OneCore+pace.AllCores))
	rows, share, err := bench.Machine(ctx, cfg.Ops, pace)
	if err != nil {
		return r, err
	}
	a.note("gram: small jobs, %s", about(pace.Jobs))
	folder, err := os.MkdirTemp("", "gram-bench-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	jobs, err := bench.Jobs(ctx, folder, func(ctx context.Context, spec protocol.JobSpec) (string, error) {
		return trainSmall(ctx, a, abort, folder, spec, cfg)
	}, pace)
	if err != nil {
		return r, err
	}
	activity := watch.Activity()
	r.Rows, r.Jobs, r.Seconds = rows, jobs, activity.Seconds
	r.Finish(activity, share)
	return r, nil
}

// about is a duration as a note says it.
func about(d time.Duration) string { return fmt.Sprintf("some %.0f s", max(1, d.Seconds())) }

func newBench(a *app, cfg worker.Config) bench.Result {
	name, commit := build()
	m := machine.Here()
	return bench.Result{SchemaVersion: show.SchemaVersion, Edition: bench.Edition,
		Started: a.now().UTC().Format(time.RFC3339), Version: name, Commit: commit, Kernels: cfg.Ops.Name,
		Machine: bench.Hardware{CPU: m.CPU, Model: m.Model, Caches: m.Caches, Cores: m.Cores, Memory: m.Memory,
			System: m.System, Go: m.Go}}
}

// trainSmall runs a job as `gram run` does, and returns the model's SHA-256.
func trainSmall(ctx context.Context, a *app, abort context.CancelCauseFunc, folder string, spec protocol.JobSpec,
	cfg worker.Config) (digest string, err error) {
	if spec, err = all.Validate(spec); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(folder, "run-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	uri := a.storeURI(filepath.Join(scratch, "store"))
	cfg.OpenStore = objects.NewHere(uri).Open // its outputs are thrown away, so nobody calls Sync
	name, _ := build()
	h, err := local.StartHere(ctx, abort, uri, name, cfg)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, h.Stop(ctx)) }()
	canonical, err := spec.Canonical()
	if err != nil {
		return "", err
	}
	id := protocol.NewJobID(spec.Metadata.Name, spec.Kind)
	if _, err := h.Cluster.Submit(ctx, id, string(canonical)); err != nil {
		return "", err
	}
	w := &waiter{a: a, c: h.Cluster, ids: []string{id}, here: true,
		printer: &terminal.Printer{W: io.Discard, Now: a.now}}
	if err := w.run(ctx, 0, false); err != nil {
		return "", err
	}
	if err := show.Outcome(w.ended[0]); err != nil {
		return "", err
	}
	for _, o := range w.ended[0].GetOutputs() {
		if o.GetName() == worker.ModelFile {
			return hex.EncodeToString(o.GetSha256()), nil
		}
	}
	return "", fmt.Errorf("job %s left no %s", id, worker.ModelFile)
}
