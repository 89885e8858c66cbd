package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func (a *app) workerCommand() *cobra.Command {
	var cfg worker.Config
	var logs logFlags
	var kernels string
	var roots []string
	var whileStdin bool
	cmd := &cobra.Command{
		Use:   "worker --addr HOST:PORT --cacert FILE --token-file FILE",
		Short: "Run a worker",
		Example: `  gram worker --addr c1.example:7480 --cacert ca.pem --token-file worker.token
  gram worker --addr c1.example:7480 --cacert ca.pem --token-file worker.token \
      --slots 8 --file-root /data`,
		Long: `A worker keeps nothing: kill it at any moment. SIGTERM drains it: it takes no
more tasks and finishes those it has. Credentials for S3 come from its
environment. Jobs may read and write local files below --file-root only.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if cfg.Logger, err = logs.logger(a.err); err != nil {
				return err
			}
			if cfg.Ops, err = a.kernels(kernels); err != nil {
				return err
			}
			httpClient, addr, options, err := a.transport()
			if err != nil {
				return err
			}
			cfg.Client = gramv1connect.NewWorkerServiceClient(httpClient, addr, options...)
			if cfg.OpenStore, err = openWithin(roots); err != nil {
				return err
			}
			ctx, stop := untilStopped(cmd.Context())
			defer stop()
			if whileStdin {
				ctx, stop = untilClosed(ctx, a.in)
				defer stop()
			}
			return a.work(ctx, cfg)
		},
	}
	set := cmd.Flags()
	set.StringVar(&cfg.Name, "name", "", "`name`, for people (default the host's)")
	set.IntVar(&cfg.Slots, "slots", 0, "tasks at a time (default one per CPU)")
	set.StringVar(&kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	set.StringArrayVar(&roots, "file-root", nil, "`directory` that jobs may read and write; may be repeated")
	set.DurationVar(&cfg.DrainTimeout, "drain-timeout", 25*time.Second, "`time` that running tasks get at SIGTERM")
	set.BoolVar(&whileStdin, "while-stdin", false, "drain when stdin ends")
	if err := set.MarkHidden("while-stdin"); err != nil {
		panic(err) // the flag is defined above
	}
	logs.add(cmd, "info")
	return cmd
}

// work runs a worker until ctx ends and it has drained.
func (a *app) work(ctx context.Context, cfg worker.Config) error {
	cfg.Kind = all.Lookup
	name, commit := build()
	cfg.Build = name
	if commit != "" {
		cfg.Build = fmt.Sprintf("%s (%s)", name, commit)
	}
	return worker.Run(ctx, cfg)
}
