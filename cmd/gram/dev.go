package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/spf13/cobra"
)

// devFlags describe a laptop cluster.
type devFlags struct {
	data    string
	listen  string
	store   string
	workers int
	slots   int
	memory  string
	timing  schedule.Config
	logs    local.LogFlags
}

func devCommand(a *app) *cobra.Command {
	f := devFlags{timing: schedule.DefaultConfig()}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a cluster on this machine, until Ctrl-C",
		Example: `  gram dev
  gram dev --workers 4 --data ./cluster`,
		Long: `A coordinator in this process, and workers in processes of their own: the code
of a big cluster, with its certificates, tokens and log on disk. Jobs are there
again at the next start. Other verbs find it without configuration; with
another --data run the line that dev prints on stdout first. The link that it
prints opens the pages in a browser: it logs in once, within ten minutes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			usual := clientconfig.DevDir(a.getenv)
			if f.data == "" {
				f.data = usual
			}
			if f.data == "" {
				return &exit.Failure{Code: exit.Usage, What: "no home directory to keep the cluster in",
					Hint: "Name one with --data."}
			}
			if !local.Loopback(f.listen) {
				return &exit.Failure{Code: exit.Usage, What: "--listen " + f.listen + " is not a loopback address",
					Hint: "For other machines run `gram coordinator` and `gram worker`."}
			}
			if err := errors.Join(local.CheckCount("workers", f.workers),
				local.CheckCount("slots", f.slots)); err != nil {
				return err
			}
			ctx, stop := local.UntilStopped(cmd.Context())
			defer stop()
			return dev(ctx, a, f, usual)
		},
	}
	set := cmd.Flags()
	set.StringVar(&f.data, "data", "", "`directory` to keep it in (default $XDG_STATE_HOME/gram/dev)")
	set.StringVar(&f.listen, "listen", "127.0.0.1:7480", "loopback `address` of the API")
	set.StringVar(&f.store, "store", "", "where job objects live: `URI` (default DIR/store)")
	set.IntVar(&f.workers, "workers", 2, "`number` of worker processes")
	set.IntVar(&f.slots, "slots", 0, "`number` of tasks at a time per worker; 0 shares out the CPUs")
	set.StringVar(&f.memory, "memory", "",
		"`size` of memory that each worker plans with (default a share of the machine's)")
	set.DurationVar(&f.timing.LeaseTTL, "lease-ttl", f.timing.LeaseTTL, leaseUsage)
	f.logs.Add(cmd, "error")
	return cmd
}

// dev runs the coordinator here and supervises the workers.
func dev(ctx context.Context, a *app, f devFlags, usual string) error {
	logger, err := f.logs.Logger(a.err)
	if err != nil {
		return err
	}
	data, err := filepath.Abs(f.data)
	if err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, to start workers: %w", err)
	}
	if f.slots == 0 {
		f.slots = max(1, runtime.GOMAXPROCS(0)/max(1, f.workers))
	}
	memory, err := local.MemoryBudget(f.memory, f.workers)
	if err != nil {
		return err
	}
	cfg := coordinator.Config{WorkerCertificates: true, DataDir: data, ListenAddr: f.listen, StoreURI: f.store,
		Schedule: f.timing, Logger: logger}
	stopCoordinator, stop := context.WithCancel(context.WithoutCancel(ctx)) // workers drain first
	defer stop()
	return serveCoordinator(stopCoordinator, a, cfg, local.StoreFlags{}, func(c *coordinator.Coordinator) error {
		client := filepath.Join(data, clientconfig.DevFile)
		err := clientconfig.WriteContext(client, "dev", clientconfig.Context{
			Addr: "https://" + c.Addr(), CACert: local.CAPath, TokenFile: coordinator.AdminTokenFile})
		if err != nil {
			return err
		}
		link, err := c.LoginLink()
		if err != nil {
			return err
		}
		announceDev(a, c.Addr(), data, client, usual)
		a.note("gram: pages to look at, for the next %d minutes and one browser: %s",
			int(coordinator.LoginLinkLife/time.Minute), link)
		own := filepath.Join(data, "worker")
		if err := pki.IssueWorker(filepath.Join(data, "pki"), own, "dev", a.now()); err != nil {
			return pkiFailure(err)
		}
		s := local.Supervisor{Stderr: a.err, Note: a.note, Binary: binary,
			Arguments: f.workerArguments(c.Addr(), data, own, memory)}
		failed := s.Run(ctx, f.workers, c.Failed())
		stop()
		a.note("gram: stopped")
		return failed
	})
}

// workerArguments are those of every worker process but its name.
func (f devFlags) workerArguments(addr, data, certificate string, memory int64) []string {
	return []string{"worker", "--addr", addr,
		"--cacert", filepath.Join(data, local.CAPath),
		"--token-file", filepath.Join(data, coordinator.WorkerTokenFile),
		"--cert", filepath.Join(certificate, "worker.pem"), "--key", filepath.Join(certificate, "worker-key.pem"),
		"--slots", fmt.Sprint(f.slots), "--memory", fmt.Sprint(memory), "--file-root", "/",
		"--log-level", f.logs.Level, "--log-format", f.logs.Format, "--while-stdin"}
}

func announceDev(a *app, addr, data, client, usual string) {
	a.note("gram: cluster on https://%s, kept in %s", addr, data)
	fmt.Fprintf(a.out, "export GRAM_CONFIG=%s\n", shellQuote(client))
	if above := aboveConfig(a); len(above) > 0 {
		fmt.Fprintf(a.out, "unset %s\n", strings.Join(above, " "))
		a.note("gram: %s in this environment would lead gram to another cluster: run both lines above where you use "+
			"this one; "+
			"Ctrl-C stops it", strings.Join(above, " and "))
		return
	}
	if data == usual {
		a.note("gram: other gram commands find it by themselves; Ctrl-C stops it")
		return
	}
	a.note("gram: run the line above where you use it; Ctrl-C stops it")
}

// aboveConfig lists the variables set here that rank above the configuration file of dev.
func aboveConfig(a *app) []string {
	names := []string{"GRAM_ADDR", "GRAM_CACERT", "GRAM_TOKEN", "GRAM_TOKEN_FILE", "GRAM_CONTEXT"}
	return slices.DeleteFunc(names, func(name string) bool { return a.getenv(name) == "" })
}
