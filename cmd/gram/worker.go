package main

import (
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func workerCommand(a *app) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker --addr HOST:PORT --cacert FILE --token-file FILE",
		Short: "Run a worker",
		Example: `  gram worker --addr c1.example:7480 --cacert ca.pem --token-file worker.token
  gram worker --addr c1.example:7480 --cacert ca.pem --token-file worker.token \
      --slots 8 --file-root /data
  gram worker --addr c1.example:7480 --cacert w1/ca.pem \
      --token-file worker.token --cert w1/worker.pem --key w1/worker-key.pem
  gram worker --addr c1.example:7480 --cacert ca.pem --token-file worker.token \
      --health-file /run/gram/alive`,
		Long: `A worker keeps nothing that matters: kill it at any moment. With --scratch it
writes to disk what its memory has no room for; workers may share the directory,
and one that starts removes what killed ones left. SIGTERM drains it: it takes
no more tasks and finishes those it has. Credentials for S3 come from its
environment. Jobs may read and write local files below --file-root only.
The files of token, certificate and key are looked at again while it runs, so
that they can be exchanged under it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := workerConfig(a, f)
			if err != nil {
				return err
			}
			end, err := local.ShowLife(f.health, &cfg)
			if err != nil {
				return err
			}
			defer end()
			ctx, stop := local.UntilStopped(cmd.Context())
			defer stop()
			if f.whileStdin {
				ctx, stop = local.UntilClosed(ctx, a.in)
				defer stop()
			}
			return local.RunWorker(ctx, cfg)
		},
	}
	f.add(cmd.Flags(), a)
	f.logs.Add(cmd, "info")
	return cmd
}

func (f *workerFlags) add(set *pflag.FlagSet, a *app) {
	set.StringVar(&f.name, "name", "", "`name`, for people (default the host's)")
	set.IntVar(&f.slots, "slots", 0,
		"`number` of tasks at a time, at most 4096; 0 is one per CPU, or what a container's limit allows")
	set.StringVar(&f.memory, "memory", "", local.MemoryUsage)
	f.scratch.Add(set)
	set.StringVar(&a.flags.cert, "cert", "", "`file` of a worker's certificate to show; read again for each connection")
	set.StringVar(&a.flags.key, "key", "", "`file` of its key")
	set.StringVar(&f.kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	f.stores.Add(set, "that jobs may open")
	set.DurationVar(&f.drain, "drain-timeout", 25*time.Second, "`time` that running tasks get at SIGTERM")
	set.StringVar(&f.health, "health-file", "", "`file` that is touched with every heartbeat, for gram health --file")
	set.BoolVar(&f.whileStdin, "while-stdin", false, "drain when stdin ends")
	if err := set.MarkHidden("while-stdin"); err != nil {
		panic(err) // the flag is defined above
	}
}

// workerFlags describe a worker.
type workerFlags struct {
	name, kernels string
	memory        string
	health        string
	slots         int
	stores        local.StoreFlags
	scratch       local.ScratchFlags
	drain         time.Duration
	whileStdin    bool // a parent holds the other end
	logs          local.LogFlags
}

func workerConfig(a *app, f workerFlags) (worker.Config, error) {
	cfg := worker.Config{Name: f.name, Slots: f.slots, DrainTimeout: f.drain}
	err := local.CheckCount("slots", f.slots)
	if err != nil {
		return cfg, err
	}
	if cfg.Memory, err = local.MemoryBudget(f.memory, 1); err != nil {
		return cfg, err
	}
	if err = f.scratch.Set(&cfg); err != nil {
		return cfg, err
	}
	if cfg.Logger, err = f.logs.Logger(a.err); err != nil {
		return cfg, err
	}
	if cfg.Ops, err = local.ChooseKernels(f.kernels); err != nil {
		return cfg, err
	}
	if err = local.OpenWithin(f.stores, a.getenv, &cfg); err != nil {
		return cfg, err
	}
	httpClient, addr, options, err := a.options().Transport()
	if err != nil {
		return cfg, err
	}
	cfg.Build = buildText()
	cfg.Client = gramv1connect.NewWorkerServiceClient(httpClient, addr, options...)
	return cfg, nil
}
