package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func runCommand(a *app) *cobra.Command {
	var from specFlags
	var out, store, kernels, memory string
	var slots int
	var scratch local.ScratchFlags
	var logs local.LogFlags
	cmd := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Run a job here, without a cluster",
		Example: `  gram run -f examples/glosses.yaml
  gram run -f spec.yaml --set spec.params.alpha=0.1 --out ./models`,
		Long: `Runs a coordinator in memory and one worker, both in this process. The code is
that of a cluster, and the model is the same, bit for bit. Only the outputs are
kept. Ctrl-C or SIGTERM ends the job.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := local.CheckCount("slots", slots); err != nil {
				return err
			}
			spec, err := load(a, from)
			if err != nil {
				return err
			}
			if spec.Spec.Output.URI == "" {
				spec.Spec.Output.URI = a.storeURI(out) + "/"
			}
			if err := checkKept(spec.Spec.Output.URI); err != nil {
				return err
			}
			cfg, err := workerHere(a, slots, memory, kernels, scratch, logs)
			if err != nil {
				return err
			}
			return runHere(cmd.Context(), a, spec, store, cfg)
		},
	}
	from.add(cmd)
	set := cmd.Flags()
	set.StringVar(&out, "out", "models", "`directory` or URI for the outputs where the spec names none")
	set.StringVar(&store, "store", "",
		"where job objects live while it runs: `URI` (default a directory, deleted afterwards)")
	set.IntVar(&slots, "slots", 0, "`number` of tasks at a time, at most 4096; 0 is one per CPU")
	set.StringVar(&memory, "memory", "", local.MemoryUsage)
	scratch.Add(set)
	set.StringVar(&kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	logs.Add(cmd, "error")
	return cmd
}

// workerHere configures the worker in this process. Nobody takes up a task that is given back,
// so draining is short.
func workerHere(
	a *app, slots int, memory, kernels string, scratch local.ScratchFlags, logs local.LogFlags,
) (worker.Config, error) {
	cfg := worker.Config{Name: "here", Build: buildText(), Slots: slots, DrainTimeout: time.Second,
		OpenStore: objects.Open, OpenInput: objects.OpenInput}
	var err error
	if cfg.Memory, err = local.MemoryBudget(memory, 1); err != nil {
		return cfg, err
	}
	if err = scratch.Set(&cfg); err != nil {
		return cfg, err
	}
	if cfg.Ops, err = local.ChooseKernels(kernels); err != nil {
		return cfg, err
	}
	cfg.Logger, err = logs.Logger(a.err)
	return cfg, err
}

// checkKept refuses outputs that nobody could read afterwards.
func checkKept(uri string) error {
	if !strings.HasPrefix(uri, "mem:") {
		return nil
	}
	return &exit.Failure{Code: exit.Usage, What: "outputs in " + uri + " would be gone with this process",
		Hint: "Name a directory or an s3:// URI with --out."}
}

// runHere starts a cluster of one in memory, gives it the job, and prints what came of it.
func runHere(ctx context.Context, a *app, spec protocol.JobSpec, store string, cfg worker.Config) (err error) {
	stopped, release := local.UntilStopped(ctx) // so that what follows is cleaned up
	defer release()
	ctx, abort := context.WithCancelCause(stopped)
	defer abort(nil)
	defer func() { err = whyEnded(stopped, ctx, err) }()
	scratch, err := os.MkdirTemp("", "gram-run-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	uri, kept := a.storeURI(store), func(context.Context) error { return nil }
	if store == "" {
		uri = a.storeURI(filepath.Join(scratch, "store"))
		here := objects.NewHere(uri)
		cfg.OpenStore, kept = here.Open, here.Sync
	}
	name, _ := build()
	h, err := local.StartHere(ctx, abort, uri, name, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Stop(ctx)) }()
	return trainHere(ctx, a, h, spec, kept)
}

// whyEnded finds what ended ctx behind an error: a signal, or a worker that failed.
func whyEnded(stopped, ctx context.Context, err error) error {
	var f *exit.Failure
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.As(err, &f) && f.Code == exit.Interrupted:
		return err // it says what was kept
	case stopped.Err() != nil:
		return &exit.Failure{Code: exit.Interrupted, What: "stopped; nothing was kept", Cause: err}
	case errors.Is(context.Cause(ctx), worker.ErrDrainTimeout):
		return err // the worker was stopped because of it, while other tasks still ran
	}
	return context.Cause(ctx)
}

// trainHere submits the job, follows it to its end and prints its result, once kept has made its outputs durable.
func trainHere(
	ctx context.Context, a *app, h *local.Here, spec protocol.JobSpec, kept func(context.Context) error,
) error {
	id := protocol.NewJobID(spec.Metadata.Name, spec.Kind)
	w := &waiter{a: a, c: h.Cluster, ids: []string{id}, printer: a.printer(true), here: true}
	canonical, err := spec.Canonical()
	if err != nil {
		return err
	}
	if _, err := h.Cluster.Submit(ctx, id, string(canonical)); err != nil {
		return err
	}
	err = w.run(ctx, 0, false)
	w.printer.Clear()
	if err != nil {
		return err
	}
	if err := keepOutputs(ctx, w.ended[0], kept); err != nil {
		return err
	}
	if err := show.Outcome(w.ended[0]); err != nil {
		f := exit.Of(err)
		f.Hint = "" // no log outlives this process
		return f
	}
	return printResult(ctx, a, w.ended[0])
}

// keepOutputs waits for the disk to have the outputs of a job that has ended. Why a job failed is more than why the
// disk did.
func keepOutputs(ctx context.Context, job *gramv1.Job, kept func(context.Context) error) error {
	err := kept(ctx)
	if err == nil || show.Outcome(job) != nil {
		return nil
	}
	f := &exit.Failure{Code: exit.Failed, Why: err,
		What: "job " + job.GetId() + " succeeded, but the disk may not have its outputs",
		Hint: "They may be damaged after a power cut: run the job again."}
	if ctx.Err() != nil {
		f.Code = exit.Interrupted
		f.What = "stopped before the disk had the outputs of job " + job.GetId() + ", which succeeded"
	}
	return f
}
