package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	var from specFlags
	var out, store, kernels string
	var slots int
	var logs logFlags
	cmd := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Run a job here, without a cluster",
		Example: `  gram run -f examples/glosses.yaml
  gram run -f spec.yaml --set spec.params.alpha=0.1 --out ./models`,
		Long: `A coordinator in memory and one worker, both in this process: the code of a
cluster, and to the bit the model of a cluster. Only the outputs are kept.
Ctrl-C ends the job.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := a.load(from)
			if err != nil {
				return err
			}
			if spec.Spec.Output.URI == "" {
				spec.Spec.Output.URI = a.storeURI(out) + "/"
			}
			cfg := worker.Config{Name: "here", Slots: slots, OpenStore: openOwn, OpenInput: openOwnInput}
			if cfg.Ops, err = a.kernels(kernels); err != nil {
				return err
			}
			if cfg.Logger, err = logs.logger(a.err); err != nil {
				return err
			}
			return a.runHere(cmd.Context(), spec, store, cfg)
		},
	}
	from.add(cmd)
	set := cmd.Flags()
	set.StringVar(&out, "out", "models", "`directory` or URI for the outputs where the spec names none")
	set.StringVar(&store, "store", "", "where job objects live while it runs: `URI` (default a directory, deleted afterwards)")
	set.IntVar(&slots, "slots", 0, "tasks at a time (default one per CPU)")
	set.StringVar(&kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	logs.add(cmd, "error")
	return cmd
}

// runHere starts a cluster of one in memory, gives it the job, and prints what came of it.
func (a *app) runHere(ctx context.Context, spec protocol.JobSpec, store string, cfg worker.Config) (err error) {
	scratch, err := os.MkdirTemp("", "gram-run-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	if store == "" {
		store = filepath.Join(scratch, "store")
	}
	h, err := a.startHere(ctx, abort, a.storeURI(store), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop(ctx)) }()
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
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx) // the worker failed
	}
	if err != nil {
		return err
	}
	if err := outcome(w.ended[0]); err != nil {
		return err
	}
	return a.printResult(ctx, w.ended[0])
}
