package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	var from specFlags
	var out, store, kernels, memory string
	var slots int
	var logs logFlags
	cmd := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Run a job here, without a cluster",
		Example: `  gram run -f examples/glosses.yaml
  gram run -f spec.yaml --set spec.params.alpha=0.1 --out ./models`,
		Long: `A coordinator in memory and one worker, both in this process: the code of a
cluster, and to the bit the model of a cluster. Only the outputs are kept.
Ctrl-C or SIGTERM ends the job.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkCount("slots", slots); err != nil {
				return err
			}
			spec, err := a.load(from)
			if err != nil {
				return err
			}
			if spec.Spec.Output.URI == "" {
				spec.Spec.Output.URI = a.storeURI(out) + "/"
			}
			if err := checkKept(spec.Spec.Output.URI); err != nil {
				return err
			}
			cfg, err := a.workerHere(slots, memory, kernels, logs)
			if err != nil {
				return err
			}
			return a.runHere(cmd.Context(), spec, store, cfg)
		},
	}
	from.add(cmd)
	set := cmd.Flags()
	set.StringVar(&out, "out", "models", "`directory` or URI for the outputs where the spec names none")
	set.StringVar(&store, "store", "", "where job objects live while it runs: `URI` (default a directory, deleted afterwards)")
	set.IntVar(&slots, "slots", 0, "`number` of tasks at a time, at most 4096; 0 is one per CPU")
	set.StringVar(&memory, "memory", "", memoryUsage)
	set.StringVar(&kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	logs.add(cmd, "error")
	return cmd
}

// workerHere configures the worker in this process. Nobody takes up a task that is given back,
// so draining is short.
func (a *app) workerHere(slots int, memory, kernels string, logs logFlags) (worker.Config, error) {
	cfg := worker.Config{Name: "here", Slots: slots, OpenStore: openOwn, OpenInput: openOwnInput, DrainTimeout: time.Second}
	var err error
	if cfg.Memory, err = memoryBudget(memory, 1); err != nil {
		return cfg, err
	}
	if cfg.Ops, err = a.kernels(kernels); err != nil {
		return cfg, err
	}
	cfg.Logger, err = logs.logger(a.err)
	return cfg, err
}

// checkKept refuses outputs that nobody could read afterwards.
func checkKept(uri string) error {
	if !strings.HasPrefix(uri, "mem:") {
		return nil
	}
	return &failure{code: exitUsage, what: "outputs in " + uri + " would be gone with this process",
		hint: "Name a directory or an s3:// URI with --out."}
}

// runHere starts a cluster of one in memory, gives it the job, and prints what came of it.
func (a *app) runHere(ctx context.Context, spec protocol.JobSpec, store string, cfg worker.Config) (err error) {
	stopped, release := untilStopped(ctx) // so that what follows is cleaned up
	defer release()
	ctx, abort := context.WithCancelCause(stopped)
	defer abort(nil)
	defer func() { err = whyEnded(stopped, ctx, err) }()
	scratch, err := os.MkdirTemp("", "gram-run-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if store == "" {
		store = filepath.Join(scratch, "store")
	}
	h, err := a.startHere(ctx, abort, a.storeURI(store), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop(ctx)) }()
	return a.trainHere(ctx, h, spec)
}

// whyEnded finds what ended ctx behind an error: a signal, or a worker that failed.
func whyEnded(stopped, ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case stopped.Err() != nil:
		return &failure{code: exitInterrupted, what: "stopped; nothing was kept", cause: err}
	}
	return context.Cause(ctx)
}

// trainHere submits the job, follows it to its end and prints its result.
func (a *app) trainHere(ctx context.Context, h *here, spec protocol.JobSpec) error {
	id := newID(spec)
	w := &waiter{a: a, c: h.cluster, ids: []string{id}, printer: a.printer(true), here: true}
	canonical, err := spec.Canonical()
	if err != nil {
		return err
	}
	if _, err := h.cluster.submit(ctx, id, string(canonical)); err != nil {
		return err
	}
	err = w.run(ctx, 0, false)
	w.printer.Clear()
	if err != nil {
		return err
	}
	if err := outcome(w.ended[0]); err != nil {
		f := explain(err)
		f.hint = "" // no log outlives this process
		return f
	}
	return a.printResult(ctx, w.ended[0])
}
