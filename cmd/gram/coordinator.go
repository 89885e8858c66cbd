package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/spf13/cobra"
)

func (a *app) coordinatorCommand() *cobra.Command {
	cfg := coordinator.Config{Schedule: schedule.DefaultConfig()}
	var logs logFlags
	cmd := &cobra.Command{
		Use:   "coordinator --data DIR --store URI",
		Short: "Run a coordinator",
		Example: `  gram coordinator --data /var/lib/gram --store s3://gram-jobs
  gram coordinator --data /var/lib/gram --store s3://gram-jobs \
      --listen 10.0.0.5:7480 --raft 10.0.0.5:7481`,
		Long: `The first start makes the cluster's authority (DIR/pki/ca.pem) and two tokens:
DIR/admin.token for people, DIR/worker.token for workers. Every connection
is TLS and every call needs a token; there is no way to turn that off.
The certificate covers localhost, the addresses of --listen and --raft (for
0.0.0.0 this machine's host name and every address of its interfaces), and
each --tls-name: the names clients and workers reach it by.
SIGTERM stops it in order; what it decided is on disk before it is told.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if cfg.Logger, err = logs.logger(a.err); err != nil {
				return err
			}
			ctx, stop := untilStopped(cmd.Context())
			defer stop()
			return a.serve(ctx, cfg, func(c *coordinator.Coordinator) error {
				a.announce(cfg, c.Addr())
				return nil
			})
		},
	}
	set := cmd.Flags()
	set.StringVar(&cfg.DataDir, "data", "", "`directory` of the log, the certificates and the tokens")
	set.StringVar(&cfg.ListenAddr, "listen", "127.0.0.1:7480", "`address` of the API")
	set.StringVar(&cfg.RaftAddr, "raft", "127.0.0.1:7481", "`address` between coordinators")
	set.StringSliceVar(&cfg.Names, "tls-name", nil, "another DNS `name` or IP address for the certificate; may be repeated")
	set.StringVar(&cfg.NodeID, "node-id", "c1", "`name` of this member; stays the same for its data directory")
	set.StringVar(&cfg.StoreURI, "store", "", "where job objects live: `URI` of a bucket or directory (default DIR/store)")
	set.DurationVar(&cfg.Schedule.LeaseTTL, "lease-ttl", cfg.Schedule.LeaseTTL, leaseUsage)
	logs.add(cmd, "info")
	if err := cmd.MarkFlagRequired("data"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

const leaseUsage = "a task is given to another worker when its own was silent for this `time`"

// minLeaseTTL is still several heartbeats on an idle machine.
const minLeaseTTL = 100 * time.Millisecond

// serve runs a coordinator until ctx ends or it fails; ready is called once it leads.
func (a *app) serve(ctx context.Context, cfg coordinator.Config, ready func(*coordinator.Coordinator) error) error {
	if cfg.Schedule.LeaseTTL < minLeaseTTL {
		return &failure{code: exitUsage, what: fmt.Sprintf("--lease-ttl is at least %s", minLeaseTTL)}
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return err
	}
	cfg.DataDir = data
	if err := os.MkdirAll(data, 0o700); err != nil { // before the store makes it for all to read
		return fmt.Errorf("make data directory: %w", err)
	}
	if cfg.StoreURI == "" {
		cfg.StoreURI = filepath.Join(data, "store")
	}
	cfg.StoreURI = a.storeURI(cfg.StoreURI)
	if cfg.Store, err = openOwn(ctx, cfg.StoreURI); err != nil {
		return fmt.Errorf("job store: %w", err)
	}
	cfg.Validate = all.Validate
	cfg.Version, _ = build()
	c, err := coordinator.Start(ctx, cfg)
	if err != nil {
		return err
	}
	failed := ready(c)
	if failed == nil {
		select {
		case <-ctx.Done():
		case failed = <-c.Failed():
			// A log store that hangs would hang Shutdown too: say why, and go.
			return &failure{code: exitFailed, what: "the coordinator stopped itself", why: failed}
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return errors.Join(failed, c.Shutdown(ctx))
}

// announce says how to reach the coordinator.
func (a *app) announce(cfg coordinator.Config, addr string) {
	a.note("gram: coordinator on https://%s, coordinators among themselves on %s\n"+
		"  TLS, authority  %s\n  token, people   %s\n  token, workers  %s",
		addr, cfg.RaftAddr, filepath.Join(cfg.DataDir, caPath), filepath.Join(cfg.DataDir, coordinator.AdminTokenFile),
		filepath.Join(cfg.DataDir, coordinator.WorkerTokenFile))
	if !loopback(addr) {
		a.note("  other machines can reach it; they need the authority's file and a token")
	}
}

// caPath is the authority's certificate, in the data directory.
var caPath = filepath.Join("pki", coordinator.CAFile)
